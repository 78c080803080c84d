"""What a plan sends over the wire: the same plan by each agent with its plain defaults, and with what agentd adds.

Counted are the bytes of every request to the model, as a scripted model receives them: a plan of three specs, with a
self-review of each document and a challenge; then a small change from its description to its review, by `agentd quick`, by
the shortest other way, and by `claude -p` alone, which has neither plan nor review. Everything runs in a network of its own,
so it costs nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import _plain, _small_scenes
from benchmarks._plan_scenes import scenes
from tests.contract import clis
from tests.contract.lab import Lab
from tests.contract.loopback import alone
from tests.contract.model import FakeModel, Scenes

MODELS = {"claude": "sonnet", "codex": "gpt-5.2-codex", "gemini": "gemini-3-flash-preview"}
RATIO_LIMIT = 0.5
# What planning by hand with these programs was said to take, without reviews, in tokens of four bytes.
TOKEN_LIMIT = 214_000
# Of the bytes of the shortest other way.
QUICK_LIMIT = 0.6
SMALL = ("quick plan", "plan", "proposal review", "challenge", "implement", "review", "other")
STEPS = ("proposal", "proposal review", "spec", "spec review", "tasks", "tasks review", "challenge")


def main() -> int:
    """Print the figures; exit 1 if one is over its limit."""
    clis.install()
    if not alone():
        words = [sys.executable, "-m", "tests.contract.loopback", sys.executable, __file__]
        os.chdir(Path(__file__).parents[1])
        os.execvp("unshare", ["unshare", "-rn", "--", *words, *sys.argv[1:]])
    failed = False
    for agent in sys.argv[1:] or MODELS:
        plain, lean = measure(f"plain-{agent}"), measure(agent)
        print(f"{agent:<18}{'plain':>12}{'agentd':>12}{'ratio':>8}")
        for step in STEPS:
            print(f"  {step:<16}{plain[step]:>12,}{lean[step]:>12,}{lean[step] / plain[step]:>8.2f}")
        ratio, tokens = lean.total() / plain.total(), lean.total() // 4
        print(f"  {'the whole plan':<16}{plain.total():>12,}{lean.total():>12,}{ratio:>8.2f}")
        print(f"  {tokens:,} tokens of four bytes (at most {TOKEN_LIMIT:,}); ratio at most {RATIO_LIMIT}\n")
        failed |= ratio > RATIO_LIMIT or tokens > TOKEN_LIMIT
        failed |= tell_small(agent)
    return int(failed)


def tell_small(agent: str) -> bool:
    """Print the figures of a small change; whether the quick way is over its limit."""
    shortest = measure_small(
        agent, ("plan", "comment", _small_scenes.WORDS, "--skip-clarify", "--one-shot"), ("impl", "comment")
    )
    quick = measure_small(agent, ("quick", _small_scenes.WORDS, "--yes"))
    ratio = quick.total() / shortest.total()
    print(f"{agent:<18}{'shortest':>12}{'quick':>12}{'ratio':>8}")
    for step in SMALL:
        if shortest[step] or quick[step]:
            print(f"  {step:<16}{shortest[step]:>12,}{quick[step]:>12,}")
    print(f"  {'a small change':<16}{shortest.total():>12,}{quick.total():>12,}{ratio:>8.2f}  (at most {QUICK_LIMIT})")
    if agent == "claude":
        print(f"  {'claude -p alone':<16}{'':>12}{measure_alone().total():>12,}")
    print()
    return ratio > QUICK_LIMIT


def measure_small(agent: str, *commands: tuple[str, ...]) -> Counter[str]:
    """The bytes of the requests of these commands, by step."""
    folder = Path(tempfile.mkdtemp(prefix="agentd-bench-"))
    try:
        with FakeModel(Scenes.load(_small_scenes.scenes())) as model:
            lab = Lab(folder, clis.install(), model)
            lab.play(agent)
            lab.set(agent, models=[{"id": "only", "model": MODELS[agent], "complexity": "critical"}])
            for words in commands:
                done = lab.run(*words)
                assert done.code == 0, done.out + done.err
            return sizes(model)
    finally:
        shutil.rmtree(folder)


def measure_alone() -> Counter[str]:
    """The bytes of the requests of `claude -p`, which is asked for the same and edits the file."""
    folder = Path(tempfile.mkdtemp(prefix="agentd-bench-"))
    try:
        with FakeModel(Scenes.load(_small_scenes.scenes())) as model:
            lab = Lab(folder, clis.install(), model)
            asked = f"{_small_scenes.WORDS} in {lab.root}"
            words = ["claude", "-p", asked, "--model", MODELS["claude"], "--permission-mode", "acceptEdits"]
            done = subprocess.run(
                words, cwd=lab.root, env=lab.env, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert "how often" in (lab.root / "tally" / "words.py").read_text(), done.stdout
            return sizes(model)
    finally:
        shutil.rmtree(folder)


def sizes(model: FakeModel) -> Counter[str]:
    found: Counter[str] = Counter()
    for request in model.requests:
        found[request.scene or "other"] += request.size
    return found


def measure(agent: str) -> Counter[str]:
    """The bytes of the requests of one plan, by step; what no step asked for counts as well."""
    folder = Path(tempfile.mkdtemp(prefix="agentd-bench-"))
    try:
        with FakeModel(Scenes.load(scenes())) as model:
            lab = Lab(folder, clis.install(), model)
            make_plain(lab, folder / "site")
            lab.play(agent)
            lab.set(
                agent, models=[{"id": "only", "model": MODELS[agent.removeprefix("plain-")], "complexity": "critical"}]
            )
            done = lab.plan()
            assert done.code == 0, done.out + done.err
            return sizes(model)
    finally:
        shutil.rmtree(folder)


def make_plain(lab: Lab, site: Path) -> None:
    """Have the plain adapters found as those of an installed package."""
    info = site / "plain-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(_plain.__file__, site)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_plain.ENTRY_POINTS)
    lab.env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(site), lab.env.get("PYTHONPATH", ""))))


if __name__ == "__main__":
    sys.exit(main())
