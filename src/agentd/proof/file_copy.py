"""A copy of the project's files for commands that must not touch the files themselves, with what is installed linked in."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentd import temporary
from agentd.evidence.installation import INSTALLED
from agentd.git import trees
from agentd.model.command import Command
from agentd.patterns import regex
from agentd.runs.work import Work

_ONLY_READS = regex(
    r"(uv run --frozen |poetry run |npx --no-install |pnpm exec |yarn run )?(\S*/)?"
    r"(ruff check --no-fix|mypy|pyright|eslint|tsc --noEmit|cargo clippy|go vet|golangci-lint run --fix=false"
    r"|pip-audit|govulncheck|(npm|pnpm|yarn|yarn npm|cargo) audit)\b(?!.*\s--?(fix|write|install)\b(?!=false))"
)


def needs_copy(command: Command) -> bool:
    """Whether a command that is no test may change files: any that is not known to read only."""
    return command.kind != "test" and not _ONLY_READS.match(command.run)


@contextmanager
def laid_out(work: Work, tree: str, listed: Iterable[Command]) -> Iterator[Path]:
    """The files of a tree in a folder of their own, for these commands."""
    with temporary.folder() as made:
        place = made / work.cwd.name
        trees.lay_out(work.cwd, tree, place)
        _link_installed(work.cwd, place, {"", *(one.folder for one in listed)})
        yield place


def _link_installed(cwd: Path, place: Path, folders: Iterable[str]) -> None:
    for folder in folders:
        for name in INSTALLED:
            theirs, ours = cwd / folder / name, place / folder / name
            if theirs.is_dir() and not ours.exists() and ours.parent.is_dir():
                ours.symlink_to(theirs.resolve(), target_is_directory=True)
