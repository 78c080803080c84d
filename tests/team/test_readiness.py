"""A session pays for no call in a project in which no task could ever land."""

import shutil

from tests.landing.repositories import git
from tests.team.sessions import Session


def test_without_a_commit_no_role_is_dispatched(session: Session) -> None:
    shutil.rmtree(session.root / ".git")
    git(session.root, "init", "--quiet")
    done = session.start("--lean")
    assert done.code == 1
    assert "is not a git repository with a commit" in done.err
    assert "git init && git add --all && git commit -m start" in done.err
    assert not session.folder.exists()
