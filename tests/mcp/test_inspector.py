"""The inspector of the protocol's own authors finds nothing wrong with the tools, over stdio."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentd.model.tools import TOOLS
from tests.mcp.bench import Bench

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def inspector() -> Path:
    """Its program, installed once below this folder, at the versions package-lock.json names."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the MCP inspector cannot be either")
    files = [HERE / "package.json", HERE / "package-lock.json", HERE.parents[1] / ".npmrc"]
    known = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    folder = HERE / "node_modules" / f"inspector-{known}"
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, folder)
        words = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("way", ["alone", "served"])
def test_the_inspector_finds_nothing_wrong_with_any_tool(
    inspector: Path, bench: Bench, tmp_path: Path, way: str
) -> None:
    with bench.host() as host:
        alone = [*bench.argv(), "--run", str(bench.folder), "--call", bench.call]
        inspect(inspector, bench, tmp_path, alone if way == "alone" else bench.forwarder(host))


def inspect(inspector: Path, bench: Bench, tmp_path: Path, server: list[str]) -> None:
    node = shutil.which("node") or "node"
    path = [f"-ePYTHONPATH={os.environ['PYTHONPATH']}"] if "PYTHONPATH" in os.environ else []
    words = [node, str(inspector), "--cli", "--strict", *path, "--method", "tools/list", "--", *server]
    done = subprocess.run(
        words,
        cwd=bench.root,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == list(TOOLS)
    assert "error" not in done.stderr.lower(), done.stderr
