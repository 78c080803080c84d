"""The spec library as it was when a change began, in `base.json`: what an archive merges against. Never the library itself."""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from agentd.errors import Corrupt
from agentd.state import durable, reading
from agentd.values import dataclass

NAME = "base.json"
LIBRARY = "agentd/specs"


@dataclass(frozen=True)
class Base:
    """Specs by their path in the library, None where there was none; `complete`: what is not listed was not there."""

    specs: Mapping[str, str | None] = field(default_factory=dict)
    complete: bool = False

    def knows(self, name: str) -> bool:
        """Whether it is known how a spec was, or that it was not."""
        return self.complete or name in self.specs

    def text(self, name: str) -> str | None:
        return self.specs.get(name)


def read(folder: Path) -> Base | None:
    """The base of a change; None for one that was begun without."""
    path = folder / NAME
    try:
        data = json.loads(reading.own(path))
        specs = {name: entry and _checked(entry) for name, entry in data["specs"].items()}
    except FileNotFoundError:
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        name = shlex.quote(str(path))
        raise Corrupt(f"{path}: it is not the base of a change.", f"git checkout {name}   # or: rm {name}") from None
    return Base(specs, data.get("complete") is True)


def begin(folder: Path, root: Path) -> None:
    """Keep the library as it is now."""
    _write(folder, Base(_library(root), complete=True))


def widen(folder: Path, root: Path) -> None:
    """A change that is planned once more may touch other specs: for those the library counts as it is now."""
    known = read(folder)
    if known is not None and not known.complete:
        _write(folder, Base({**_library(root), **known.specs}, complete=True))


def prune(folder: Path, removed: Callable[[], Iterable[str]]) -> None:
    """Let go of the specs that the change, now planned, neither has nor removes; again does no harm."""
    known = read(folder)
    if known is not None and known.complete:
        pages = reading.markdown(str(folder), "specs")
        touched = [page.name.removeprefix("specs/") for page in pages if page.name.endswith(".md")]
        _write(folder, Base({name: known.text(name) for name in (*touched, *(f"{name}.md" for name in removed()))}))


def follow(folder: Path, texts: Mapping[str, tuple[str | None, str | None]]) -> None:
    """What was undone in the library counts as never there, for a change that has nothing to do with it: each spec with the
    first of two texts gets the second."""
    known = read(folder)
    if known is not None:
        specs = dict(known.specs)
        for name, (old, new) in texts.items():
            if known.knows(name) and known.text(name) == old:
                specs[name] = new
        if specs != known.specs:
            _write(folder, Base(specs, known.complete))


def _library(root: Path) -> dict[str, str]:
    found = reading.markdown(str(root / LIBRARY))
    return {page.name: page.raw for page in found if page.name.endswith(".md")}


def _write(folder: Path, base: Base) -> None:
    specs = {name: text if text is None else _entry(text) for name, text in base.specs.items()}
    # Escapes keep the bytes of a spec that is no UTF-8 text.
    text = json.dumps({"complete": base.complete, "specs": specs}, indent=1)
    durable.replace(folder / NAME, text.encode() + b"\n", "base")


def _entry(text: str) -> dict[str, str]:
    return {"sha256": hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest(), "text": text}


def _checked(entry: Mapping[str, Any]) -> str:
    text: str = entry["text"]
    if _entry(text)["sha256"] != entry["sha256"]:
        raise ValueError
    return text
