"""What a workspace needs to build and test besides the files that git checks out: copied files, what is installed, and
whatever the project's setup makes.

The setup runs in the first workspace for the same lock files; what it made is kept as a template for the next ones. Nothing
is linked from the person's own checkout.
"""

import filecmp
import os
import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from agentd import process
from agentd.calling import sandbox
from agentd.errors import AgentdError
from agentd.evidence.installation import INSTALLED
from agentd.git.checkout import LEFT_BEHIND
from agentd.git.program import fields, quoted, run
from agentd.landing import local_files, recipe, template, variables
from agentd.landing.local_files import SECTION, few
from agentd.landing.template import Contents, Template
from agentd.landing.tool_files import Recipe
from agentd.redaction import redact, secret_values
from agentd.runs.project import Project
from agentd.state import durable

MOST_COPIED = 256 << 20  # bytes that a setup made and that are copied into each workspace
MOST_LOGGED = 16 << 20
TAIL = 5
WIDEST = 200


class SetupFailed(AgentdError):
    """The setup of a workspace failed."""


def provide(project: Project, place: Path, log: Path, env: Mapping[str, str | None] = {}) -> str:
    """Add to a fresh work tree what its task needs; return the name of the template it uses, if any.

    `log` gets what the setup prints; `env` are its variables.
    """
    inner = variables.inner(project.root, place)
    wanted = recipe.find(project)
    made = local_files.copy_named(project.root, inner, project.config, wanted.patterns.encode())
    if made:
        project.say(f"copied into the workspace: {few(made)}")
    linked = _linked(project, wanted)
    name = _key(project, inner, wanted, linked)
    if not name:
        return ""
    known = Template(project, name)
    contents = known.contents()
    if contents is None:
        with known.held():
            contents = known.contents() or _make(known, wanted, linked, place, log, env)
    known.give(contents, inner)
    return name


def _key(project: Project, inner: Path, wanted: Recipe, linked: list[str]) -> str:
    if not linked and not wanted.setup:
        return ""
    return template.key(inner, wanted.setup, str(project.root), *linked, *template.age(project.root, linked))


def clean_up(project: Project, place: Path, log: Path, env: Mapping[str, str | None] = {}) -> None:
    """Run the cleanup in a workspace that is about to be removed. If it fails, that is said, and no more."""
    wanted = recipe.find(project)
    inner = variables.inner(project.root, place)
    if wanted.cleanup and inner.is_dir():
        try:
            _run(project, "cleanup", wanted.source, wanted.cleanup, inner, log, env)
        except SetupFailed as error:
            project.say(f"⚠ {error.message}")


def _linked(project: Project, wanted: Recipe) -> list[str]:
    """The paths of the checkout that workspaces share; what is installed there only if no setup installs it."""
    config, root = project.config, project.root
    named = local_files.named(config, "link") if wanted.setup else local_files.shared(root, config)
    return [path for path in named if (root / path).exists()]


def _make(
    known: Template, wanted: Recipe, linked: list[str], place: Path, log: Path, env: Mapping[str, str | None]
) -> Contents:
    project = known.project
    mine = {path: project.root / path for path in linked}
    if not wanted.setup:
        project.say(f"copying once what is installed: {few(linked)}")
        return known.make({}, mine, {})
    inner = variables.inner(project.root, place)
    before = {*_ignored(place), *_loose(place)}
    project.say(f"setting up the workspace as {wanted.source} says: {few(wanted.setup)}")
    _run(project, "setup", wanted.source, wanted.setup, inner, log, env)
    _put_back(project, place, before)
    new = [path for path in _ignored(place) if path not in before and (place / path).is_relative_to(inner)]
    paths = {os.path.relpath(place / path, inner): place / path for path in new}
    mine |= _untie(project.root, paths)
    moved = {path: source for path, source in paths.items() if path not in mine and _is_shared(inner, path)}
    rest = {path: source for path, source in paths.items() if path not in mine and path not in moved}
    fresh = [path for path, source in rest.items() if _is_same(project.root / path, source)]
    return known.make(moved, mine, _small(project, {path: rest[path] for path in rest.keys() - {*fresh}}, inner), fresh)


def _untie(root: Path, paths: Mapping[str, Path]) -> dict[str, Path]:
    """Replace links that a setup made into the checkout: a file by a copy; return the folders, which have to be copied."""
    found = {}
    for path, link in paths.items():
        target = Path(os.path.realpath(link))
        if link.is_symlink() and target.is_relative_to(root):
            link.unlink()
            if target.is_dir():
                found[path] = target
            else:
                local_files.copy(target, link)
    return found


def _is_same(one: Path, other: Path) -> bool:
    """Whether two files are regular and alike."""
    plain = all(each.is_file() and not each.is_symlink() for each in (one, other))
    return plain and filecmp.cmp(one, other, shallow=False)


def _is_shared(inner: Path, path: str) -> bool:
    """Whether what a setup made is an installed folder; uv keeps one in step with each work tree by itself."""
    name, folder = os.path.basename(path), inner / os.path.dirname(path)
    synced = "venv" in name and any((each / "uv.lock").exists() for each in (folder, inner))
    return name in INSTALLED and not synced and (inner / path).is_dir() and not (inner / path).is_symlink()


def _small(project: Project, paths: Mapping[str, Path], inner: Path) -> dict[str, Path]:
    """What is copied into each workspace, the smallest first; of what is too much, a person is told."""
    kept, room = {}, MOST_COPIED
    sizes = {path: _size(inner, path) for path in paths if os.path.basename(path) not in INSTALLED}
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        room -= sizes[path]
        if room >= 0:
            kept[path] = paths[path]
    left = sizes.keys() - kept.keys()
    if left:
        project.say(f"⚠ too large to copy into each workspace, so the next ones lack it: {few(left)}")
    return kept


def _size(inner: Path, path: str) -> int:
    return sum((inner / each).lstat().st_size for each in local_files.below(inner, [path]))


def _ignored(place: Path) -> list[str]:
    """What git ignores in a work tree, and what tools leave in it; a folder of such stands for all that is in it."""
    listed = fields(place, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    others = fields(place, "ls-files", "-z", "--others", "--exclude-standard", "--directory")
    left = [path for path in others if not LEFT_BEHIND.isdisjoint(path.split(b"/"))]
    return list(dict.fromkeys(map(_outermost, (*listed, *left))))


def _outermost(path: bytes) -> str:
    """The first folder of a path that a tool made: one that ignores itself, as .venv may, is listed file by file."""
    parts = path.rstrip(b"/").split(b"/")
    length = next((number for number, part in enumerate(parts, 1) if part in LEFT_BEHIND), len(parts))
    return os.fsdecode(b"/".join(parts[:length]))


def _loose(place: Path) -> list[str]:
    """The files in a work tree that git would take for work."""
    found = fields(place, "ls-files", "-z", "--others", "--exclude-standard")
    return [os.fsdecode(path) for path in found if LEFT_BEHIND.isdisjoint(path.split(b"/"))]


def _put_back(project: Project, place: Path, before: Collection[str]) -> None:
    """Undo what a setup did to the project's own files: it would land as if the task had done it."""
    changed = [os.fsdecode(path) for path in fields(place, "diff", "--name-only", "-z")]
    if changed:
        run(place, "checkout", "--quiet", "--force", "--", ":/")
        project.say(f"⚠ the setup changed files of the project, which were put back: {few(changed)}")
    loose = [path for path in _loose(place) if path not in before]
    for path in loose:
        _discard(place / path)
    if loose:
        hint = "name them in .gitignore to keep them"
        project.say(f"⚠ the setup made files that git would take for work; they were removed ({hint}): {few(loose)}")


def _discard(path: Path) -> None:
    durable.refuse_links(path.parent, "removed")
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _run(
    project: Project,
    what: str,
    source: str,
    commands: tuple[str, ...],
    inner: Path,
    log: Path,
    env: Mapping[str, str | None],
) -> None:
    """Run commands one after the other, each in a shell of its own; SetupFailed at the first that fails."""
    seconds = int(project.config.get(SECTION, "setup_secs"))
    end = time.monotonic() + seconds
    around = sandbox.around_tests(project, inner)
    shell = shutil.which("bash") or "sh"
    secrets = secret_values(os.environ)
    durable.refuse_links(log)
    durable.make_folder(log.parent)
    with log.open("a", encoding="utf-8", errors="replace") as file:

        def keep(line: str) -> None:
            if file.tell() < MOST_LOGGED:
                file.write(redact(line, secrets) + "\n")
                file.flush()

        for command in commands:
            keep(f"$ {command}")
            done = process.run(
                around([shell, "-c", f"exec 2>&1\n{command}"]),
                cwd=inner,
                env={**env, **variables.paths(project.root, inner)},
                timeout=max(0.1, end - time.monotonic()),
                on_line=keep,
                stop=project.interrupted,
            )
            template.stop_if_told(project)
            if done.ended != "exit" or done.code:
                how = f"exited {done.code}" if done.ended == "exit" else f"did not end within {seconds} s"
                lines = [redact(line.strip(), secrets)[:WIDEST] for line in done.output if line.strip()][-TAIL:]
                said = f": {' / '.join(lines)}" if lines else "."
                first = redact(command.strip().splitlines()[0], secrets)[:WIDEST]
                fix = f"less {quoted(log)}   # correct the {what} in {source}, then run the same command again"
                raise SetupFailed(f"The {what} of the workspace ({source}): {first!r} {how}{said}", fix)
