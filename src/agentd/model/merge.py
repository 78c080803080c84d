"""Two people's changes to one spec: what becomes of it, where they disagree, and what differs between two versions."""

from typing import Literal

from agentd.values import dataclass

Prefer = Literal["", "ours", "theirs", "mark"]


@dataclass(frozen=True)
class Sides:
    """One spec three times: as it was when the change began, as the change has it, as the library has it; None where there
    is none."""

    name: str
    base: str | None
    ours: str | None
    theirs: str | None


@dataclass(frozen=True)
class Conflict:
    """A part that both sides changed, each in its own way. A text is None where that side does not have the part.

    `part` is `R1`, `R1 / Scenario: Login`, `front matter: title`, or "" for the whole file. Ours is the change that is
    archived, theirs the library.
    """

    part: str
    why: str
    base: str | None
    ours: str | None
    theirs: str | None


@dataclass(frozen=True)
class Merged:
    """A spec with both sides' changes in it; None where there is to be none. Conflicts that were settled are listed too."""

    text: str | None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class Delta:
    """What became of the requirements of a spec, by id; `renamed` has pairs of ids. `other`: anything else differs."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    other: bool = False
