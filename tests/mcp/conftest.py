"""The bench every test of the server works at."""

from pathlib import Path

import pytest

from tests.mcp.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "repo")
