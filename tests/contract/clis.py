"""The real programs of the agents, installed once below this folder, at the versions package-lock.json names.

`python -m tests.contract.clis` installs them and prints where they are.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = ("claude", "codex", "copilot", "gemini", "opencode")
# The programs whose install script puts the right one of several binaries in place; no other script is run.
SCRIPTS = ("@anthropic-ai/claude-code", "opencode-ai")


class NoNpm(Exception):
    """npm is not installed, so the agents' programs cannot be either."""


def install() -> Path:
    """The folder of the programs. Several processes may ask at once: one installs, the others wait."""
    given = os.environ.get("AGENTD_CLIS")
    if given:
        return Path(given)
    files = [HERE / "package.json", HERE / "package-lock.json", HERE.parents[1] / ".npmrc"]
    known = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    folder = HERE / "node_modules" / f"clis-{known}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            _fetch(folder, files)
            (folder / "ready").touch()
    return folder / "node_modules" / ".bin"


def _fetch(folder: Path, files: list[Path]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NoNpm(NoNpm.__doc__)
    for file in files:
        shutil.copy(file, folder)
    _run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
    _run([npm, "rebuild", *SCRIPTS], folder)
    for program in PROGRAMS:
        assert (folder / "node_modules" / ".bin" / program).exists(), f"{program} was not installed"


def _run(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    try:
        print(install())
    except NoNpm as missing:
        sys.exit(str(missing))
