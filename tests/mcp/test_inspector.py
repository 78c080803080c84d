"""The inspector of the protocol's own authors finds nothing wrong with the tools, over stdio."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentd.app.desk import TOOLS
from tests.mcp.bench import Bench

HERE = Path(__file__).parent
FOLDER = HERE / "node_modules"


@pytest.fixture(scope="session")
def inspector() -> Path:
    """Its program, installed once beside this file, at the version package-lock.json names."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the MCP inspector cannot be either")
    program = FOLDER / ".bin" / "mcp-inspector"
    lock = HERE / "package-lock.json"
    stamp = FOLDER / ".agentd-installed"
    if not stamp.is_file() or stamp.read_bytes() != lock.read_bytes():
        done = subprocess.run(
            [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        stamp.write_bytes(lock.read_bytes())
    return program


@pytest.mark.xdist_group("inspector")
def test_the_inspector_finds_nothing_wrong_with_any_tool(inspector: Path, bench: Bench, tmp_path: Path) -> None:
    node = shutil.which("node") or "node"
    words = [node, str(inspector), "--cli", "--strict", "--method", "tools/list", "--", *bench.argv()]
    done = subprocess.run(
        words,
        cwd=bench.root,
        env={**bench.env(), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == list(TOOLS)
    assert "error" not in done.stderr.lower(), done.stderr
