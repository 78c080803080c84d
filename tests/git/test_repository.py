"""The git program, with whatever settings a person has or has not."""

from pathlib import Path

import pytest

from agentd.errors import AgentdError
from agentd.git.repository import begin_repository, branch_commit, git, head


def test_a_repository_begins_with_everything_committed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    begin_repository(tmp_path, "The beginning")
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "log", "--format=%s") == "The beginning"
    assert git(tmp_path, "branch", "--show-current") == "main"


def test_what_git_says_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(AgentdError, match="not a git repository"):
        git(tmp_path, "log")


def test_a_branch_is_not_taken_for_one_whose_name_begins_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    begin_repository(tmp_path, "The beginning")
    git(tmp_path, "branch", "agentd/first")
    assert branch_commit(tmp_path, "agentd") == ""
    assert branch_commit(tmp_path, "agentd/first") == head(tmp_path)
