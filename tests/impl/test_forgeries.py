"""Agents that lie about an implementation: none of them is believed, all are named, nothing is lost.

The cases are data: one more entry in forgeries.yaml is one more test. What a case may say:

implement, resolve, review   what the liars do, over the honest agents' entries; null takes something away, `resolve` adds
                             to an agent that does nothing
settings                     settings of agentd/config.toml, section by section; `{{python}}` is the Python that runs agentd, `{{fake_audit}}` the audit of tests/evidence
files                        what is committed before the change is implemented
between                      a person's shell command after the first `agentd impl`, which is then given again
named                        what must stand in the output or in REVIEW.md, all of it
answers                      what people say to the liars' run, by the step that asks
mend                         a shell command that the honest agent runs first; false: nothing can be mended
by_person                    a person puts the files right, and not the agent, since the question leads back to no agent
defect                       why it is believed or not named, as long as it is
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.evidence import fake_audit
from tests.impl.coding import APPROVED, EXPORT, GOOD, HONEST, TESTS
from tests.sandbox import CHANGE, Ran, Sandbox

Case = Mapping[str, Any]
DATA = Path(__file__).with_name("forgeries.yaml")
CASES: Mapping[str, Case] = yaml.safe_load(DATA.read_text(encoding="utf-8"))["cases"]
AGENTS = {"implement", "resolve", "review"}
KEYS = AGENTS | {"settings", "files", "between", "named", "answers", "mend", "by_person", "defect"}
KNOWN = [name for name, case in CASES.items() if "defect" in case]
# Whom an honest person sends where, as often as they are asked.
FIX = {
    "begin_anyway": ["again"] * 3,
    "unfinished": ["again"] * 3,
    "unproven": ["again"] * 3,
    "harmed": ["fix"] * 3,
    "stuck": ["fix"] * 3,
}
KEPT = "! -name .git ! -name agentd"


def over(honest: Any, forged: Any) -> Any:
    """What is forged, over what is honest; null takes away, and of a list each is one visit."""
    if isinstance(honest, dict) and isinstance(forged, dict):
        merged = {**honest, **{key: over(honest.get(key), value) for key, value in forged.items()}}
        return {key: value for key, value in merged.items() if value is not None}
    if isinstance(honest, dict) and isinstance(forged, list):
        return [over(honest, one) for one in forged]
    return forged


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: filled(part) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part) for part in value]
    known = {"{{python}}": sys.executable, "{{fake_audit}}": str(Path(fake_audit.__file__))}
    for slot, words in known.items() if isinstance(value, str) else ():
        value = value.replace(slot, words)
    return value


def shell(sandbox: Sandbox, command: str) -> None:
    subprocess.run(["sh", "-ec", command], cwd=sandbox.root, env=sandbox.env, check=True, capture_output=True)


def honest_files(sandbox: Sandbox, folder: Path) -> None:
    """The project as an honest agent leaves it."""
    shell(
        sandbox,
        f"mkdir {folder}; cp -a . {folder}; rm -rf {folder}/.git {folder}/agentd/changes {folder}/agentd/demo.yaml",
    )
    words, init = folder / "tally" / "words.py", folder / "tally" / "__init__.py"
    words.write_text(words.read_text(encoding="utf-8") + GOOD, encoding="utf-8")
    text = init.read_text(encoding="utf-8")
    for old, new in EXPORT:
        text = text.replace(old, new)
    init.write_text(text, encoding="utf-8")
    (folder / "tests" / "test_top.py").write_text(TESTS, encoding="utf-8")


def prepare(sandbox: Sandbox, case: Case) -> None:
    """The repository with what the case puts into it, and its agents."""
    case = filled(case)
    sandbox.set("workflow", implementation_iterations=0)
    for section, values in case.get("settings", {}).items():
        sandbox.set(section, **values)
    for name, text in case.get("files", {}).items():
        path = sandbox.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    shell(sandbox, "git add -A . ':!agentd'; git -c user.name=a -c user.email=a@b.c commit -qm more --allow-empty")
    idle = {"say": "There is nothing to repair."}
    sandbox.script(
        implement=over(HONEST, case.get("implement", {})),
        resolve=over(idle, case.get("resolve", {})),
        review=over(APPROVED, case.get("review", {})),
    )


def implement(sandbox: Sandbox, answers: Mapping[str, Any]) -> Ran:
    path = sandbox.root.parent / "answers.yaml"
    path.write_text(yaml.safe_dump(answers), encoding="utf-8")
    return sandbox.run("impl", CHANGE, *(["--answers", str(path)] if answers else []))


def told(sandbox: Sandbox, *runs: Ran) -> str:
    """Everything that a person can read about it."""
    report = sandbox.folder() / "REVIEW.md"
    said = [part for ran in runs for part in (ran.out, ran.err)]
    return "\n".join([*said, report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""])


def refused(sandbox: Sandbox, case: Case, *runs: Ran) -> None:
    everything = told(sandbox, *runs)
    state = sandbox.state()
    assert state["phase"] in ("challenged", "implementing"), everything
    assert "approved" not in state.get("implementation", {}), everything
    assert "answers" in case or "waivers" not in state.get("implementation", {}), everything
    assert runs[-1].code in (1, 4), everything
    for text in [case["named"]] if isinstance(case["named"], str) else case["named"]:
        assert text in everything, f"{text!r} is not said in\n{everything}"
    archived = sandbox.run("archive", CHANGE)
    assert archived.code == 1, archived.out
    assert "not complete" in archived.err
    assert sandbox.folder().parent.name == "changes"


def mended(sandbox: Sandbox, case: Case, honest: Path) -> None:
    """The same command with honest agents makes it complete."""
    restore = f"find . -mindepth 1 -maxdepth 1 {KEPT} -exec rm -rf {{}} +; cp -a {honest}/. ."
    command = f"{case.get('mend', ':')}; {restore}"
    entry = {"say": "As it should be.", "run": ["sh", "-ec", command]}
    if case.get("by_person"):
        shell(sandbox, command)
    sandbox.script(implement=entry, resolve=entry, review=APPROVED)
    done = implement(sandbox, FIX)
    assert done.code == 0, done.out + done.err
    state = sandbox.state()
    assert state["phase"] == "complete"
    assert sorted(state["implementation"]["approved"]["files"]) == [
        "tally/__init__.py",
        "tally/words.py",
        "tests/test_top.py",
    ]
    assert state["implementation"]["approved"]["by"] == "reviewer"


@pytest.mark.parametrize("name", [name for name in CASES if name not in KNOWN])
def test_a_forgery_is_refused_and_named_and_the_honest_agent_goes_on(planned: Sandbox, name: str) -> None:
    case = CASES[name]
    assert case.keys() <= KEYS
    honest = planned.root.parent / "honest"
    prepare(planned, case)
    honest_files(planned, honest)
    runs = [implement(planned, case.get("answers", {}))]
    if "between" in case:
        shell(planned, case["between"])
        runs.append(implement(planned, case.get("answers", {})))
    refused(planned, case, *runs)
    if case.get("mend") is not False:
        mended(planned, case, honest)


def test_no_forgery_is_known_to_be_believed() -> None:
    assert KNOWN == []
    assert len(CASES) >= 30
