"""What git is told by the configuration of a repository does not start a program or change an answer."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from agentd.errors import AgentdError
from agentd.git import changes, ignoring, program, repository, trees, unseen
from agentd.git.repository import begin_repository, git

HOOKS = ("post-index-change", "reference-transaction", "post-checkout", "pre-commit", "post-commit", "pre-auto-gc")
PROGRAMS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "pager.diff", "pager.branch"),
    *("diff.external", "diff.evil.command", "diff.evil.textconv", "alias.rev-parse", "core.alternateRefsCommand"),
)
FILTERS = ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process")
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# Each call, and what it gives in the repository that `hostile` makes.
ANSWERS: dict[str, tuple[Callable[[Path], object], object]] = {
    "is_repository": (repository.is_repository, True),
    "top": (lambda folder: repository.top(folder / "src").name, "project"),
    "is_committed": (lambda folder: repository.is_committed(folder / "src"), True),
    "head": (lambda folder: len(repository.head(folder)), 40),
    "branch_commit": (lambda folder: repository.branch_commit(folder, "main") == repository.head(folder), True),
    "current_branch": (repository.current_branch, "main"),
    "private_folder": (lambda folder: repository.private_folder(folder) == folder.resolve() / ".git", True),
    "exclude_file": (lambda folder: ignoring.exclude_file(folder) == folder / ".git/info/exclude", True),
    "is_ignored": (lambda folder: ignoring.is_ignored(folder, folder / "x.log"), True),
    "pattern": (lambda folder: ignoring.pattern(folder, folder.resolve() / "src/a.py"), "/src/a.py"),
    "unseen": (lambda folder: list(unseen.unseen(folder)), ["x.log"]),
    "settings": (lambda folder: "core.worktree" in unseen.settings(folder), True),
    "paths": (lambda folder: trees.paths(folder, "HEAD^{tree}"), (".gitattributes", ".gitignore", "src/a.py")),
    "changes": (lambda folder: len(trees.changes(folder, EMPTY, "HEAD^{tree}")), 3),
    "patch": (lambda folder: "+one\n" in trees.patch(folder, EMPTY, "HEAD^{tree}"), True),
    "keep": (lambda folder: trees.keep(folder, "x", EMPTY), None),
    "kept": (lambda folder: trees.kept(folder, "x"), ""),
    "overlaid": (lambda folder: trees.overlaid(folder, EMPTY, "HEAD^{tree}", ["src/b.py"]), EMPTY),
}
# These compare or write files of a work tree, for which git needs the filters; changed ones are told by `settings`.
FILTERED: dict[str, tuple[Callable[[Path], object], object]] = {
    "changed_files": (lambda folder: [one.path for one in changes.changed_files(folder, "main")], ["src/a.py"]),
    "snapshot": (lambda folder: len(trees.hashes(folder, trees.snapshot(folder))), 3),
    "lay_out": (lambda folder: trees.lay_out(folder, "HEAD^{tree}", folder.parent / "laid"), None),
}


def begin(project: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content)
    begin_repository(project, "The beginning")


def hostile(project: Path, settings: tuple[str, ...]) -> None:
    """A repository with a changed file, whose configuration names a program wherever git would start one."""
    begin(project, {"src/a.py": "one\n", ".gitignore": "*.log\n", ".gitattributes": "*.py diff=evil filter=evil\n"})
    (project / "src/a.py").write_text("two\n")
    (project / "x.log").write_text("x\n")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    for name in HOOKS:
        hook = project.parent / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{project.parent}/ran-{name}'\n")
        hook.chmod(0o755)
    configure(project, settings, {"core.hooksPath": project.parent / "hooks", "core.worktree": elsewhere})


def configure(project: Path, programs: Iterable[str], others: dict[str, Path]) -> None:
    """Write settings: a program that leaves a mark for each of the first, and values."""
    values = {name: f"touch '{project.parent}/ran-{name}'; cat; false" for name in programs}
    place = Path(program.text(project, "rev-parse", "--absolute-git-dir"), "config")
    with place.open("a") as file:
        for name, value in {**values, **others}.items():
            section, *inner, key = name.split(".")
            file.write("".join((f"[{section}", *(f' "{part}"' for part in inner), f']\n\t{key} = "{value}"\n')))


def started(project: Path) -> list[str]:
    return sorted(path.name for path in project.parent.glob("ran-*"))


@pytest.mark.parametrize("name", [*ANSWERS, *FILTERED])
def test_a_hostile_configuration_starts_nothing_and_changes_no_answer(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    hostile(project, PROGRAMS if name in FILTERED else (*PROGRAMS, *FILTERS))
    index = (project / ".git/index").read_bytes()
    call, expected = (ANSWERS | FILTERED)[name]
    assert call(project) == expected
    assert started(project) == []
    assert (project / ".git/index").read_bytes() == index
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_user_s_own_commands_follow_the_user_s_settings(tmp_path: Path) -> None:
    project = tmp_path / "project"
    hostile(project, PROGRAMS)
    configure(project, (), {"core.worktree": project})
    with pytest.raises(AgentdError, match="external diff died"):
        git(project, "diff")
    repository.new_branch(project, "other")
    assert {"ran-core.fsmonitor", "ran-diff.evil.command", "ran-post-checkout"} <= set(started(project))


@pytest.mark.parametrize("name", [*FILTERED, "unseen"])
def test_the_configuration_of_a_submodule_starts_nothing(tmp_path: Path, name: str) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project, other):
        begin(folder, {"src/a.py": "one\n", ".gitattributes": "* filter=evil\n"})
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    settings = ("core.fsmonitor", "filter.evil.clean")
    configure(project / "sub", settings, {})
    (project / "sub/src/a.py").write_text("two\n")
    (ANSWERS | FILTERED)[name][0](project)
    assert trees.hashes(project, trees.snapshot(project))["sub"] == repository.head(other)
    assert started(project / "sub") == []
    git(project / "sub", "status")
    assert started(project / "sub") == [f"ran-{setting}" for setting in settings]


def test_an_error_names_the_command_and_not_its_settings(tmp_path: Path) -> None:
    with pytest.raises(AgentdError, match=r"git log failed in .*: fatal: not a git repository"):
        program.run(tmp_path, "-c", "user.name=x", "log")


def test_long_output_and_odd_bytes_are_whole(tmp_path: Path) -> None:
    begin(tmp_path / "project", {f"{number}\r\n\n": "x" for number in range(1500)})
    found = program.fields(tmp_path / "project", "ls-files", "-z")
    assert sorted(found) == sorted(b"%d\r\n\n" % number for number in range(1500))
