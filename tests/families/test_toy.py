"""A family in a room of its own: `tests/families/toy` has its layout, its code and its tables, and nothing in `src` knows it."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from agentd.git.repository import begin_repository
from agentd.workflows.check import Known, prove
from agentd.workflows.limits import with_limits
from agentd.workflows.load import parse
from tests import forked
from tests.families.toy import LAYOUT
from tests.sandbox import Ran

CARD = "Wish you were here\n- ada\n- bob\n"
WRITE = {"documents": {"card.md": CARD}, "usage": {"tokens_in": 10, "tokens_out": 5, "cost": 0.01}}
NAME = {"documents": {"name.md": "{{item}}\n"}, "outcome": "done"}
SCRIPT = {"write": WRITE, "name": NAME}
COMMANDS = (("run", "toy", "a card", "--name", "c1"), ("answer", "c1", "UD-1", "yes"), ("resume", "c1"))
CODES = (4, 0, 0)


class Desk:
    """A repository in which the toy family's program runs."""

    def __init__(self, root: Path, **script: object) -> None:
        self.root = root
        if not root.exists():
            (root / "agentd").mkdir(parents=True)
            roles = '[roles]\nimplementer = "scripted"\n[scripted]\nscript = "agentd/script.yaml"\n'
            (root / "agentd" / "config.toml").write_text(roles)
            (root / "agentd" / "script.yaml").write_text(yaml.safe_dump({**SCRIPT, **script}))
            begin_repository(root, "A desk")

    def run(self, *words: str, **env: str) -> Ran:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AGENTD_")}
        clean |= {"PYTHONDONTWRITEBYTECODE": "1", "XDG_CONFIG_HOME": str(self.root / "none"), **env}
        done = forked.run(words, self.root, clean, timeout=120, module="tests.families.toy")
        return Ran(done.returncode, done.stdout, done.stderr)

    def card(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.root / "postcards" / "c1" / "card.json").read_text())
        return found


def test_its_tables_are_sound_with_what_it_can_perform() -> None:
    tables = {name: parse(LAYOUT.table(name).read_text(), name) for name in LAYOUT.workflows}
    known = Known(LAYOUT.checks, {name: words for name, (_, words) in LAYOUT.actions.items()}, LAYOUT.items)
    for table in tables.values():
        prove(with_limits(table, {"signatures": 1}), tables, known)


def test_a_run_has_its_own_file_its_question_its_action_and_its_children(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "repo")
    asked = desk.run(*COMMANDS[0], "--json")
    assert asked.code == 4, asked.out + asked.err
    (decision,) = asked.data["decisions"]
    assert (decision["question"], decision["header"], decision["shown"]) == (
        "Send it to 2 friends?",
        "Post",
        ["card.md"],
    )
    assert asked.data["children"] == {"sign/ada": "signed", "sign/bob": "signed"}
    card = desk.card()
    assert (card["card"], card["stage"], card["stamps"]) == ("c1", "sending", 8)
    assert card["signed"] == ["ada", "bob"]
    assert not (desk.root / "postcards" / "c1" / "STATE.yaml").exists()
    assert desk.run(*COMMANDS[1]).code == 0
    done = desk.run(*COMMANDS[2], "--json")
    assert (done.code, done.data["phase"], done.data["verdict"]) == (0, "over", "SENT")


def test_a_child_that_has_to_wait_says_why_once_and_is_then_driven(tmp_path: Path) -> None:
    slow = {**NAME, "run": ["sleep", "1.5"]}
    desk = Desk(tmp_path / "repo", write={"documents": {"card.md": "Hello\n- ada\n- shy\n"}}, **{"name@ada": slow})
    told = desk.run(*COMMANDS[0]).out
    assert desk.card()["signed"] == ["ada", "shy"]
    assert told.count("[shy] waits for the pen: ") == 1


def test_it_is_listed_shown_and_counted_like_every_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "repo")
    assert "stamped: 8 words" in desk.run(*COMMANDS[0]).out
    (row,) = desk.run("list", "--json").data["runs"]
    assert (row["run"], row["phase"], row["doing"]) == ("toy/c1", "sending", "waiting")
    assert desk.run("status", "--json").data["next"] == "agentd answer toy/c1 UD-1 yes"
    assert desk.run("status", "toy/c1", "--json").data["folder"] == "postcards/c1"
    events = [(one["event"], one.get("step")) for one in desk.run("log", "c1", "--json").data["events"]]
    assert ("end", "stamp") in events
    assert desk.run("cost", "c1", "--json").data["total"] == {
        **desk.run("cost", "--json").data["total"],
        "calls": 3,
        "cost": 0.01,
        "unknown": 2,
    }
    assert "write a postcard" in desk.run("workflow", "list").out
    assert "rewrite (entry)" in desk.run("workflow", "show", "toy", "--diagram").out


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("printf forged > stamp.txt", "postcards/c1/stamp.txt was changed"),
        ('sed -i \'s/"stamps": 8/"stamps": 9/\' card.json', "stamps in card.json changed"),
        ('sed -i \'s/"stage": "signing"/"stage": "over"/\' card.json', "stage in card.json changed"),
        ("printf '[budget]\\nper_call = 9.0\\n' >> ../../agentd/config.toml", "agentd/config.toml was changed"),
    ],
    ids=["record", "key", "phase", "settings"],
)
def test_what_its_agents_may_not_change_is_put_back(tmp_path: Path, harm: str, told: str) -> None:
    """No family has to ask for it: agentd's own steps, a person's decisions and settings are safe in every one."""
    bad = {"documents": {"name.md": "x\n"}, "outcome": "done", "run": ["sh", "-c", f'cd "$AGENTD_RUN" && {harm}']}
    desk = Desk(tmp_path / "repo", **{"name@ada": [bad, NAME]})
    config = desk.root / "agentd" / "config.toml"
    config.write_text(config.read_text() + "[toy]\nmax_parallel = 1\n")
    before = config.read_text()
    stopped = desk.run(*COMMANDS[0])
    assert told in stopped.out, stopped.out + stopped.err
    assert config.read_text() == before
    assert (desk.root / "postcards" / "c1" / "stamp.txt").read_text() == "8 words\n"
    assert (desk.card()["stamps"], desk.card()["stage"] == "over") == (8, False)
    done = stopped if stopped.code == 4 else desk.run("resume", "c1")
    assert done.code == 4, done.out + done.err


def test_a_child_works_in_a_folder_of_its_own_or_in_that_of_its_run(tmp_path: Path) -> None:
    """Where agents work is a field of each run's state: of the child, else of the run it belongs to, else the root."""
    where = {**NAME, "run": ["sh", "-c", 'pwd > "$AGENTD_DESK/where.md"']}
    desk = Desk(tmp_path / "repo", name=[{"fail": "error"}, where, where])
    assert desk.run(*COMMANDS[0]).code == 1
    run = desk.root / "postcards" / "c1"
    for folder in ("ada", "desk"):
        (tmp_path / folder).mkdir()
    with (run / "children/sign/ada/STATE.yaml").open("a") as file:
        file.write("git: {worktree: ../ada}\n")
    (run / "card.json").write_text(json.dumps({**desk.card(), "git": {"worktree": "../desk"}}))
    resumed = desk.run("resume", "c1")
    assert resumed.code == 4, resumed.out + resumed.err
    found = {path.parent.name: path.read_text().strip() for path in run.rglob("where.md")}
    assert found == {"ada": str(tmp_path / "ada"), "bob": str(tmp_path / "desk")}


def image(desk: Desk) -> dict[str, str]:
    """What a run comes to: its documents, and each call once."""
    folder = desk.root / "postcards" / "c1"
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.md")}
    calls = desk.card()["llm_calls"]
    assert isinstance(calls, list)
    names = sorted(str(call["call"]).rpartition(".")[0] for call in calls)
    return found | {"calls": " ".join(dict.fromkeys(names)), "stage": str(desk.card()["stage"])}


def points(log: Path) -> Iterator[str]:
    for line in log.read_text().splitlines() if log.exists() else ():
        role, number = line.split()
        yield from (
            f"{role}:{number}:{when}" for when in (("before",) if role == "step" else ("before", "torn", "after"))
        )


@pytest.mark.crash
@pytest.mark.parametrize("at", range(len(COMMANDS)))
def test_killed_at_any_durable_write_it_goes_on(tmp_path: Path, at: int, request: pytest.FixtureRequest) -> None:
    whole = Desk(tmp_path / "whole")
    for words in COMMANDS[:at]:
        whole.run(*words)
    shutil.copytree(whole.root, tmp_path / "prepared", symlinks=True)
    log = tmp_path / "log"
    assert whole.run(*COMMANDS[at], AGENTD_CRASH_LOG=str(log)).code == CODES[at]
    for words in COMMANDS[at + 1 :]:
        whole.run(*words)
    expected = image(whole)
    found = list(points(log))
    assert found
    last = tuple({point.split(":")[0]: point.rpartition(":")[0] for point in found}.values())
    for number, point in enumerate(found):
        if request.config.getoption("crash") != "all" and number % 12:
            continue
        desk = Desk(Path(shutil.copytree(tmp_path / "prepared", tmp_path / f"at-{number}", symlinks=True)))
        died = desk.run(*COMMANDS[at], AGENTD_CRASH=point).code
        if died == CODES[at] and point.startswith(last):  # children side by side: one save may keep the calls of both
            continue
        assert died == -9, point
        again = desk.run(*COMMANDS[at])
        if again.code != CODES[at] and at == 1:  # the answer was recorded before the kill
            again = Ran(0, again.out, again.err)
        assert again.code == CODES[at], f"{point}: {again.out}{again.err}"
        for words in COMMANDS[at + 1 :]:
            desk.run(*words)
        assert image(desk) == expected, point
        shutil.rmtree(desk.root)
