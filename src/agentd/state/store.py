"""A run's state on disk: loaded, kept in memory while its lock is held, and saved so that a kill loses nothing."""

import itertools
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import Corrupt
from agentd.model.run import Run
from agentd.state import durable, journal, reading
from agentd.state.codecs import Codec, Malformed, State, decode, encode
from agentd.text import lossless_yaml


class Store:
    """One state file. `save` writes the diary first and the state second; a number ties the two together."""

    def __init__(self, folder: Path, codec: Codec, role: str = "state") -> None:
        self.folder = folder
        self.codec = codec
        self.role = role
        self._document: lossless_yaml.Document | None = None
        self._known: Mapping[str, Any] = {}
        self._phase = ""
        self._text = b""
        self.noted: list[dict[str, Any]] = []

    @cached_property
    def path(self) -> Path:
        return self.folder / self.codec.file

    def exists(self) -> bool:
        """Whether there is anything under the file's name; what is no file there is for `load` to refuse."""
        return os.path.lexists(self.path)

    def load(self) -> State:
        """What the file says; a file that cannot be believed is an error that leaves it untouched."""
        try:
            text = reading.own(self.path)
        except OSError as error:
            raise Corrupt(f"{error.filename or self.path}: {error.strerror}.", f"ls -l {self.path}") from None
        data = self._parse(text)
        try:
            state = decode(self.codec, data)
        except Malformed as error:
            raise self.corrupt(str(error), *error.keys) from None
        self._known, self._phase, self._text = data, state.run.phase, text
        return state

    def peek(self) -> State:
        """What the file says, for looking at it only; much quicker than `load`, which tells of any trouble with it."""
        return self.glance() or self.load()

    def glance(self, largest: int = files.LARGE) -> State | None:
        """The same; None if there is any trouble with the file, or it is too large."""
        try:
            text = reading.own(f"{self.folder}/{self.codec.file}", largest)
            yaml_file = self.codec.file.endswith(".yaml")
            return decode(self.codec, lossless_yaml.load(text.decode()) if yaml_file else self._parse(text))
        except (OSError, UnicodeDecodeError, Corrupt, Malformed):
            return None

    def save(self, state: State, at: str, event: str, **details: Any) -> State:
        """The state as saved. A person's edit of the file meanwhile is kept; an edited phase stops the work."""
        state = replace(state, saves=state.saves + 1)
        return self._write(state, at, [*self.noted, _told(state, at, event, details)])

    def note(self, state: State, at: str, event: str, **details: Any) -> State:
        """The state to save next: that save, or else `flush`, writes the line of this one too."""
        state = replace(state, saves=state.saves + 1)
        self.noted.append(_told(state, at, event, details))
        return state

    def flush(self, state: State, at: str) -> State:
        """The state as saved, with what was noted."""
        return self._write(state, at, self.noted)

    def _write(self, state: State, at: str, lines: list[dict[str, Any]]) -> State:
        edited, gone = self._edits()
        ours = {key: value for key, value in state.fields.items() if key not in gone} if gone else state.fields
        fields = {self.codec.created_key: at, **ours, **edited, self.codec.updated_key: at}
        state = replace(state, fields=_ordered(fields, self.codec))
        with durable.folder_of(self.path) as folder:
            journal.append(self.folder, *lines, known=folder)
            data = encode(self.codec, state)
            text = self._render(data)
            durable.replace(self.path, text, self.role, folder=folder)
        self._known, self._phase, self._text, self.noted = data, state.run.phase, text, []
        return state

    def put_back(self, *keys: str) -> list[str]:
        """Undo what somebody else did to these keys of the file since the last save; gives the keys it was done to."""
        if self.is_as_saved():
            return []
        known = self._known
        theirs = self._parse(reading.own(self.path))
        changed = [key for key in keys if theirs.get(key) != known.get(key)]
        if changed:
            kept = {key: value for key, value in theirs.items() if key not in changed}
            ours = {key: known[key] for key in changed if key in known}
            durable.replace(self.path, self._render({**kept, **ours}), self.role)
        return changed

    def mend(self) -> str:
        """Put the file back as it last could be read if it cannot be read now: what was done to it in words, or
        nothing. What is there instead is kept beside it."""
        if self.is_as_saved():
            return ""
        if self.path.is_file():
            with suppress(Corrupt):
                self.peek()
                return ""
        aside = self._set_aside()
        durable.replace(self.path, self._text, self.role)
        if self.codec.file.endswith(".yaml"):
            self._parse(self._text)
        return f"left unreadable (it is now {aside})" if aside else "taken away"

    def note_as_saved(self) -> None:
        """Take the file as it is for what was last saved, without looking into it."""
        with suppress(OSError):
            self._text = reading.own(self.path)

    def restore(self) -> None:
        """Put the file back as it was last loaded or saved; what is there instead is kept beside it."""
        self._set_aside()
        durable.replace(self.path, self._text, self.role)

    def _set_aside(self) -> str:
        """The new name of whatever is in the file's place; a link is never written through to where it leads."""
        names = (f"{self.codec.file}.unreadable-{number}" for number in itertools.count(1))
        aside = self.folder / next(name for name in names if not os.path.lexists(self.folder / name))
        if not self.exists():
            return ""
        if self.path.is_file() and not self.path.is_symlink() and os.access(self.path, os.R_OK):
            durable.create(aside, self.path.read_bytes(), self.role)  # so that there is a state at every moment
        else:
            durable.move(self.path, aside, self.role)
        return aside.name

    def move(self, folder: Path) -> None:
        """The run's folder has moved; go on there."""
        self.folder = folder
        self.__dict__.pop("path", None)

    def corrupt(self, what: str, *keys: str) -> Corrupt:
        """The error for a value in the file that cannot be, with its line."""
        return Corrupt(f"{self.path}:{self._line(keys)}: {what}.", f"edit {self.path}, then: agentd status")

    def _parse(self, text: bytes) -> Mapping[str, Any]:
        if self.codec.file.endswith(".yaml"):
            self._document = lossless_yaml.parse_bytes(text, str(self.path))
            return self._document.data
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise Corrupt(
                f"{self.path}:{error.lineno}: {error.msg}.", f"edit {self.path}, then: agentd status"
            ) from None
        except (ValueError, RecursionError) as error:
            what = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "a value is too long or too deep"
            raise Corrupt(f"{self.path}:1: {what}.", f"edit {self.path}, then: agentd status") from None
        if not isinstance(data, dict):
            raise Corrupt(f"{self.path}:1: must hold an object.", f"edit {self.path}, then: agentd status")
        return data

    def _render(self, data: dict[str, Any]) -> bytes:
        if not self.codec.file.endswith(".yaml"):
            return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
        if self._document is None:
            self._document = lossless_yaml.parse(lossless_yaml.dump(data), str(self.path))
        else:
            self._document = self._document.updated(data)
        return self._document.text.encode()

    def _edits(self) -> tuple[Mapping[str, Any], set[str]]:
        """What somebody else changed in the file and took out of it while we held the lock; their phase is never
        overruled."""
        if self.is_as_saved():
            return {}, set()
        known, phase = self._known, self._phase
        theirs = self.load()
        if theirs.run.phase != phase:
            raise Corrupt(
                f"{self.path}: the phase was set to '{theirs.run.phase}' while agentd was working in '{phase}'; "
                "nothing was overwritten.",
                f"agentd resume {theirs.run.name}",
            )
        edited = {key: value for key, value in theirs.fields.items() if key not in known or known[key] != value}
        return edited, known.keys() - theirs.fields.keys()

    def is_as_saved(self) -> bool:
        """Whether the file is what it was when it was last loaded or saved; a new one is."""
        try:
            return not self._text or reading.own(self.path) == self._text
        except OSError:
            return False

    def _line(self, keys: tuple[str, ...]) -> int:
        """Where the value under `keys` stands; the first line if that cannot be told."""
        import yaml

        try:
            node = yaml.compose(files.read(self.path).decode(), Loader=yaml.SafeLoader)
        except (OSError, ValueError, RecursionError, yaml.YAMLError):
            return 1
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                node = next((value for name, value in node.value if name.value == key), None)
            elif isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
                node = node.value[int(key)]
            if node is None:
                return 1
        return node.start_mark.line + 1 if node else 1


def new_state(run: Run, **fields: Any) -> State:
    """The state of a run that has not been saved yet."""
    return State(run, fields={key: value for key, value in fields.items() if value})


def _told(state: State, at: str, event: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the diary."""
    return {"n": state.saves, "at": at, "event": event, "phase": state.run.phase, **details}


def _ordered(fields: Mapping[str, Any], codec: Codec) -> dict[str, Any]:
    """A new file's keys in the order people read them; an existing file keeps its own order."""
    first = (codec.name_key, codec.phase_key, codec.version_key, codec.created_key, codec.updated_key)
    return {key: fields[key] for key in first if key in fields} | dict(fields)
