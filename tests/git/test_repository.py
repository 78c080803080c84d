"""The git program, with whatever settings a person has or has not."""

from pathlib import Path

import pytest

from agentd.errors import AgentdError
from agentd.git.repository import begin_repository, git


def test_a_repository_begins_with_everything_committed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    begin_repository(tmp_path, "The beginning")
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "log", "--format=%s") == "The beginning"
    assert git(tmp_path, "branch", "--show-current") == "main"


def test_what_git_says_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(AgentdError, match="not a git repository"):
        git(tmp_path, "log")
