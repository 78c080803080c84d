"""Files that no agent may change: agentd's records of a run, and what a person decided. What an agent did to them is put
back when its call ends, and told."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentd import files
from agentd.patterns import regex
from agentd.runs.checksums import counted
from agentd.runs.work import Work
from agentd.state import durable

SETTINGS = ("config.toml", "prompts/", "workflows/")
_ASIDE = regex(r"\A\.|\.changed-\d+\Z")


class Safeguard:
    """The guarded files of a run as they are when this is made.

    records   names below the documents that are agentd's own
    shared    names below the documents that may be a person's work: what they were made is kept beside them
    settings  whether agentd's settings, prompts and workflows are guarded too, in the same way
    shapes    names that stay a file, or a folder if they end with a slash, whatever is in them
    """

    def __init__(
        self,
        work: Work,
        records: Sequence[str],
        shared: Sequence[str] = (),
        settings: bool = False,
        shapes: Sequence[str] = (),
    ) -> None:
        self.work, self.records, self.shared, self.settings = work, records, shared, settings
        self.shapes = dict.fromkeys((*records, *shared, *shapes))
        self.files = {path: files.read(path) for path in self._guarded()}

    def put_back(self, written: Sequence[str]) -> str:
        """Everything as it was, but for what the step itself writes. Why the call does not count: it touched what may be a
        person's."""
        work, home = self.work, self.work.home
        touched = [home / name for name in self.shapes if _clear(home / name, name.endswith("/"))]
        spared = {home / name for name in written}
        now = set(self._guarded())
        aside = []
        for path, data in self.files.items():
            if path not in spared and not self._same(path, data, now):
                aside += self._copy_aside(path)
                durable.make_folder(path.parent)
                durable.replace(path, data, "document")
                touched.append(path)
        for path in sorted(now - self.files.keys() - spared):
            aside += self._copy_aside(path)
            durable.remove(path, "document")
            touched.append(path)
        if not touched:
            return ""
        kept = f" (what it was made is in {self._named(aside)})" if aside else ""
        said = f"{self._named(sorted({*touched}))} was changed while the agent worked and has been put back{kept}"
        work.say(f"⚠ {said}")
        return said if any(map(self._is_shared, touched)) else ""

    def _guarded(self) -> Iterator[Path]:
        """Every file that is guarded and there."""
        for name in (*self.records, *self.shared):
            yield from (path for path in self.work.files(name) if not _ASIDE.search(path.name))
        home = self.work.project.root / "agentd"
        for name in SETTINGS if self.settings else ():
            found = (home / name).rglob("*") if name.endswith("/") else [home / name]
            yield from (path for path in sorted(found) if path.is_file() and not _ASIDE.search(path.name))

    def _same(self, path: Path, data: bytes, now: set[Path]) -> bool:
        """Whether a file is what it was; of a document only the part counts that answers are bound to."""
        if path not in now:
            return False
        there = files.read(path)
        if there == data or not path.is_relative_to(self.work.home):
            return there == data
        inner = path.relative_to(self.work.home).as_posix()
        return counted(self.work, inner, there) == counted(self.work, inner, data)

    def _is_shared(self, path: Path) -> bool:
        """Whether a file may be a person's work: nobody can tell who changed it."""
        records = {self.work.home / name.removesuffix("/") for name in self.records}
        return not records & {path, *path.parents}

    def _copy_aside(self, path: Path) -> list[Path]:
        """What a file was made, kept beside it; of a document, at the top of the run's folder."""
        if not path.is_file() or not self._is_shared(path):
            return []
        home = self.work.home
        return [durable.copy_aside(path, home if path.is_relative_to(home) else None)]

    def _named(self, paths: Sequence[Path]) -> str:
        return ", ".join(map(self.work.project.relative, paths))


def _clear(path: Path, folder: bool) -> bool:
    """Take away what stands in the place of a file or of a folder and is none; whether anything did."""
    if folder and (path.is_symlink() or path.is_file()):
        path.unlink()
    elif not folder and path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        return False
    return True
