"""What the targets of the Makefile install: the demo what agentd needs to run, the others the development tools as well."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
RUNTIME, DEV = "requirements/install runtime", "requirements/install dev"
LOCKS = ("build", "runtime", "dev")
TARGETS = ("test", "contract", "check", "conformance", "crash", "bench", "docs")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile with everything installed, as the stamps say; every file is older than they are."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    for path in (*tmp_path.iterdir(), *(tmp_path / "requirements").iterdir()):
        os.utime(path, (1000, 1000))
    for second, stamp in enumerate(("ready", "ready-dev")):
        (tmp_path / ".venv" / stamp).write_text(f"{tmp_path.resolve()}\n")
        os.utime(tmp_path / ".venv" / stamp, (2000 + second, 2000 + second))
    return tmp_path


def installs(checkout: Path, *targets: str) -> list[str]:
    """What make would install for targets."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ("make", "--no-print-directory", "-n", *targets)
    told = subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if line.startswith("requirements/install")]


def locked(name: str) -> dict[str, str]:
    return dict(LOCKED.findall((ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")))


def test_the_demo_installs_no_development_tools(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    assert installs(checkout, "demo") == [RUNTIME]


@pytest.mark.parametrize("target", TARGETS)
def test_other_targets_install_the_tools_after_what_the_demo_needs(checkout: Path, target: str) -> None:
    shutil.rmtree(checkout / ".venv")
    assert installs(checkout, target) == [RUNTIME, DEV]


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    assert installs(checkout, "demo", *TARGETS) == []


def test_after_the_demo_only_the_tools_are_added(checkout: Path) -> None:
    (checkout / ".venv/ready-dev").unlink()
    assert installs(checkout, "demo") == []
    assert installs(checkout, "check") == [DEV]


@pytest.mark.parametrize(
    ("file", "demo", "check"),
    [
        ("requirements/runtime.txt", [RUNTIME], [RUNTIME, DEV]),
        ("requirements/build.txt", [RUNTIME], [RUNTIME, DEV]),
        ("requirements/install", [RUNTIME], [RUNTIME, DEV]),
        ("pyproject.toml", [RUNTIME], [RUNTIME, DEV]),
        ("requirements/dev.txt", [], [DEV]),
    ],
)
def test_a_changed_file_installs_what_depends_on_it(
    checkout: Path, file: str, demo: list[str], check: list[str]
) -> None:
    (checkout / file).touch()
    assert (installs(checkout, "demo"), installs(checkout, "check")) == (demo, check)


def test_a_moved_checkout_installs_everything_again(checkout: Path) -> None:
    moved = checkout.rename(checkout.with_name("moved"))
    assert installs(moved, "demo") == [RUNTIME]
    assert installs(moved, "check") == [RUNTIME, DEV]


def test_what_runs_agentd_is_locked_apart_from_the_tools() -> None:
    """Each lock file has every hash and says nothing of where the packages come from."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tools = {re.split(r"[^\w-]", wanted)[0].lower() for wanted in project["project"]["optional-dependencies"]["dev"]}
    assert tools <= locked("dev").keys()
    assert not tools & (locked("runtime").keys() | locked("build").keys())
    assert locked("runtime").items() <= locked("dev").items()
    assert project["dependency-groups"]["build"] == project["build-system"]["requires"]
    assert locked("build").keys() == {"uv-build"}
    for name in LOCKS:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        assert "://" not in text
        assert all("--hash=sha256:" in part for part in re.split(LOCKED, text)[3::3])
