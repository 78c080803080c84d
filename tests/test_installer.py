"""`requirements/install` on a small checkout with packages of its own: what each part brings, and what a failure leaves."""

import hashlib
import os
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
# Installs a program in place of agentd's.
BACKEND = """
import pathlib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    info = "agentd_workflows-1.dist-info"
    with zipfile.ZipFile(pathlib.Path(folder) / "agentd_workflows-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("agentd.py", "def main(): print('this is agentd')")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: agentd-workflows\\nVersion: 1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nagentd = agentd:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return "agentd_workflows-1-py3-none-any.whl"
"""


@dataclass(frozen=True)
class Checkout:
    """A checkout and the folder of packages that stands for an index."""

    root: Path
    packages: Path

    def lock(self, part: str, *names: str) -> None:
        """Lock packages for a part, each with its hash."""
        lines = []
        for name in names:
            wheel = self.packages / f"{name}-1-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as made:
                made.writestr(f"{name}.py", "")
                made.writestr(f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
                made.writestr(
                    f"{name}-1.dist-info/WHEEL",
                    "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                )
                made.writestr(f"{name}-1.dist-info/RECORD", "")
            lines.append(
                f"{name.replace('_', '-')}==1 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
            )
        elsewhere = f"only_there==1 ; sys_platform == 'win32' --hash=sha256:{'0' * 64}\n"
        (self.root / "requirements" / f"{part}.txt").write_text("".join(lines) + elsewhere)

    def install(self, *parts: str) -> tuple[int, str]:
        folder = str(self.packages)
        index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder, "UV_NO_INDEX": "1", "UV_FIND_LINKS": folder}
        command = (str(self.root / "requirements/install"), *parts)
        done = subprocess.run(command, env={**os.environ, **index}, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def has(self, module: str) -> bool:
        python = self.root / ".venv/bin/python"
        return not subprocess.run((python, "-I", "-c", f"import {module}"), capture_output=True, check=False).returncode

    @property
    def stamps(self) -> list[str]:
        found = sorted((self.root / ".venv").glob("ready*"))
        assert all(path.read_text() == f"{self.root.resolve()}\n" for path in found)
        return [path.name for path in found]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "checkout", tmp_path / "packages")
    made.packages.mkdir()
    (made.root / "requirements").mkdir(parents=True)
    shutil.copy(ROOT / "requirements/install", made.root / "requirements")
    (made.root / "pyproject.toml").write_text(PYPROJECT + '[project]\nname = "agentd-workflows"\nversion = "1"\n')
    (made.root / "backend.py").write_text(BACKEND)
    made.lock("runtime", "needed", "also_needed")
    made.lock("build", "builder")
    made.lock("dev", "needed", "also_needed", "tool")
    return made


def test_each_part_brings_its_own_and_a_failure_leaves_what_was_there(checkout: Checkout) -> None:
    """It begins with the environment of another checkout, which is made anew like one that has no stamp."""
    (checkout.root / ".venv").mkdir()
    (checkout.root / ".venv/ready").write_text("/elsewhere\n")
    (checkout.root / ".venv/half").touch()
    code, told = checkout.install("runtime")
    assert (code, checkout.stamps) == (0, ["ready"]), told
    assert not (checkout.root / ".venv/half").exists()
    assert "installing 3 packages and agentd into .venv" in told
    assert subprocess.check_output((checkout.root / ".venv/bin/agentd",), text=True) == "this is agentd\n"
    assert (checkout.has("needed"), checkout.has("builder"), checkout.has("tool")) == (True, True, False)

    wheel = checkout.packages / "tool-1-py3-none-any.whl"
    hidden = wheel.rename(wheel.with_suffix(".away"))
    code, _ = checkout.install("dev")
    assert code != 0
    assert checkout.stamps == ["ready"]
    assert subprocess.check_output((checkout.root / ".venv/bin/agentd",), text=True) == "this is agentd\n"

    hidden.write_bytes(hidden.read_bytes()[::-1])
    hidden.rename(wheel)
    code, _ = checkout.install("dev")
    assert code != 0  # not the file whose hash is locked
    assert not checkout.has("tool")

    checkout.lock("dev", "needed", "also_needed", "tool")
    code, told = checkout.install("dev")
    assert (code, checkout.stamps) == (0, ["ready", "ready-dev"]), told
    assert "installing 1 package for development into .venv" in told
    assert checkout.has("tool")

    code, told = checkout.install()
    assert (code, checkout.stamps) == (0, ["ready", "ready-dev"]), told
    assert "installing 0 packages and agentd" in told


def test_a_part_that_does_not_exist_is_a_usage_error(checkout: Checkout) -> None:
    code, told = checkout.install("tools")
    assert (code, "no part is called tools" in told) == (2, True)
    assert not (checkout.root / ".venv").exists()
