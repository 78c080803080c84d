"""The commands that a project declares for its tests, linters, type checkers and audits. Reads files, and runs nothing.

For each kind, a target of the Makefile or else of the justfile covers the whole folder. Without one, each ecosystem in
the folder has one command: a script of package.json, else the ecosystem's default; tox only if nothing else runs tests.
A sub-folder with its own manifest adds its commands, unless the root covers it by a workspace, or by a command that
names the folder.
"""

from collections.abc import Iterator
from pathlib import Path

from agentd.evidence.detection import compiled, node, python, targets, workspaces
from agentd.evidence.detection.folder import MANIFESTS, SKIPPED, Folder, entries
from agentd.model.command import KINDS, Command

DEEPEST = 3


def detect(root: Path, absent: frozenset[str] = frozenset()) -> tuple[Command, ...]:
    """The project's commands, the root's first, none of them by a launcher that is `absent`.

    A manifest that cannot be read is ignored.
    """
    top = Folder(root, "", absent)
    found = list(_commands(top, top))
    covers = workspaces.covered(top)
    for name in sorted(_manifest_folders(root)):
        for command in _commands(Folder(root, name, absent), top):
            if not covers(command):
                found.append(command)
    return tuple(sorted(found, key=lambda command: (KINDS.index(command.kind), command.folder)))


def _commands(folder: Folder, top: Folder) -> Iterator[Command]:
    runners = (run for name, run in (("just", targets.just), ("make", targets.make)) if name not in folder.absent)
    declared = {command.kind: command for run in runners for command in run(folder)}
    yield from declared.values()
    tested = "test" in declared
    for command in (
        *python.commands(folder, top),
        *node.commands(folder, top),
        *compiled.rust(folder),
        *compiled.go(folder),
        *compiled.java(folder),
    ):
        if command.kind not in declared:
            tested = tested or command.kind == "test"
            yield command
    if not tested and "tox" not in folder.absent:
        yield from targets.tox(folder)


def _manifest_folders(root: Path, name: str = "", depth: int = 1) -> Iterator[str]:
    """The sub-folders with a manifest, as paths from the root; installed, built and sample folders are left out."""
    if depth > DEEPEST:
        return
    for entry in entries(root / name):
        if not entry.is_dir(follow_symlinks=False) or entry.name in SKIPPED or entry.name.startswith("."):
            continue
        path = f"{name}/{entry.name}" if name else entry.name
        folder = Folder(root, path)
        if folder.has("pyvenv.cfg"):
            continue
        if folder.has(*MANIFESTS):
            yield path
        yield from _manifest_folders(root, path, depth + 1)
