"""What agentd keeps of an implementation: the files it began with, what was seen, what a person waived, what was approved.

All of it stands below one key of the state file, which no agent's edit reaches; the files beside it count by their checksum.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, field, fields
from hashlib import sha256
from typing import Any, TypeVar

from agentd.errors import AgentdError, Corrupt
from agentd.git import trees
from agentd.model.decision import Decision
from agentd.model.evidence import Evidence
from agentd.proof import evidence_file
from agentd.runs.work import Work
from agentd.state import reading
from agentd.values import dataclass

KEY = "implementation"
BASELINE, EVIDENCE = "baseline.json", "evidence.json"
T = TypeVar("T")


@dataclass(frozen=True)
class Seen:
    """What one look at the project came to: the tree it was about, and the checksum of the file that tells."""

    tree: str = ""
    sha256: str = ""
    status: str = ""


@dataclass(frozen=True)
class Reviewed:
    """The last review: the call that wrote it, what it says, and the checksum of its words."""

    call: str = ""
    verdict: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Waiver:
    """Something that a person decided to do without."""

    id: str = ""
    what: str = ""
    by: str = ""
    why: str = ""
    decision: str = ""
    at: str = ""


@dataclass(frozen=True)
class Approved:
    """What was approved: the hash of each changed file, empty if it was deleted. `override` is the decision of a person who took it without an approval."""

    at: str = ""
    by: str = ""
    call: str = ""
    why: str = ""
    override: str = ""
    tree: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """Everything that is kept.

    base          the tree that the implementation began with
    unseen        the code that git did not show then, and `git_settings` how git was set up
    commands      the kind, folder and words of each command that evidence is gathered with
    doubts        for each round of review why each of its issues does not count
    only          the tasks that a person wants done and no others
    tried         what was last tried on the old code
    """

    base: str = ""
    begun_at: str = ""
    unseen: Mapping[str, str] | None = None
    git_settings: Mapping[str, str] | None = None
    commands: tuple[tuple[str, ...], ...] | None = None
    baseline: Seen | None = None
    evidence: Seen | None = None
    review: Reviewed | None = None
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    tried: str = ""
    waivers: tuple[Waiver, ...] = ()
    approved: Approved | None = None


def record(work: Work) -> Record:
    """What is kept of a run's implementation; nothing where it has not begun. What cannot be read is not there."""
    data = _data(work)
    commands = data.get("commands")
    return Record(
        base=str(data.get("base") or ""),
        begun_at=str(data.get("begun_at") or ""),
        unseen=_mapping(data, "unseen"),
        git_settings=_mapping(data, "git_settings"),
        commands=tuple(map(_texts, commands)) if isinstance(commands, list) else None,
        baseline=_one(Seen, data.get("baseline")),
        evidence=_one(Seen, data.get("evidence")),
        review=_one(Reviewed, data.get("review")),
        doubts={name: _texts(each) for name, each in (_mapping(data, "doubts") or {}).items()},
        only=_texts(data.get("only")),
        tried=str(data.get("tried") or ""),
        waivers=tuple(filter(None, (_one(Waiver, each) for each in _list(data.get("waivers"))))),
        approved=_one(Approved, data.get("approved")),
    )


def keep(work: Work, **values: Any) -> None:
    """Change parts of what is kept, durable with the next save."""
    unknown = values.keys() - {each.name for each in fields(Record)}
    assert not unknown, unknown
    at = _holder(work)
    with at.guard:
        at.note(KEY, {**_data(work), **{name: _plain(value) for name, value in values.items()}})


def base(work: Work) -> str:
    """The tree that the implementation began with; nothing before it began."""
    return str(_data(work).get("base") or "")


def tree(work: Work) -> str:
    """The files of the project as they are now, agentd's own apart."""
    return trees.snapshot(work.cwd, work.project.own_folders())


def hold_base(work: Work) -> None:
    """Keep holding the files the implementation began with, also if somebody let them go."""
    if trees.kept(work.cwd, ref(work)) == base(work):
        return
    try:
        trees.keep(work.cwd, ref(work), base(work))
    except AgentdError:
        raise AgentdError(
            f"The files that '{work.top.state.run.name}' began with are gone from git (refs/agentd/{ref(work)}), so "
            "nobody can tell any more what was changed. Nothing is approved.",
            f"edit {work.project.relative(work.home)}/{work.top.store.codec.file}   # delete `{KEY}:` to begin from the files as they are",
        ) from None
    work.say(f"⚠ refs/agentd/{ref(work)} was taken away and has been put back")


def let_go(work: Work) -> None:
    """A run that is over needs the files it began with no longer; again does no harm."""
    if base(work):
        with suppress(AgentdError):
            trees.forget(work.project.root, ref(work))


def ref(work: Work) -> str:
    return f"{work.top.state.run.name}/base"


def keep_evidence(work: Work, name: str, seen: Evidence, status: str) -> None:
    """Write down what was seen, and beside the run what it says and its checksum."""
    text = evidence_file.render(seen)
    work.write(name, text)
    digest = sha256(text.encode()).hexdigest()
    keep(work, **{name.removesuffix(".json"): Seen(seen.tree, digest, status)})


def evidence(work: Work, name: str = EVIDENCE) -> tuple[Evidence | None, str]:
    """What was seen, and why it does not count: it is missing, or it is not what agentd wrote."""
    try:
        data = reading.own(work.home / name)
    except OSError:
        return None, f"{name} is missing"
    known = record(work).baseline if name == BASELINE else record(work).evidence
    if known is None or not known.sha256 or sha256(data).hexdigest() != known.sha256:
        return None, f"{name} is not what agentd wrote"
    try:
        return evidence_file.read(data.decode(), name), ""
    except (Corrupt, UnicodeDecodeError):
        return None, f"{name} cannot be read"


def waived(work: Work) -> tuple[str, ...]:
    """The ids of what a person decided to do without."""
    return tuple(one.id for one in record(work).waivers)


def waive(work: Work, said: Decision, ids: Mapping[str, str]) -> None:
    """Keep that a person did without these, with who and why."""
    fresh = [
        Waiver(name, text, said.by, said.note, said.id, str(said.resolved_at or ""))
        for name, text in ids.items()
        if name not in waived(work)
    ]
    for one in fresh:
        work.say(f"⚠ {said.by} waives: {one.what}" + (f" ({said.note})" if said.note else ""))
    keep(work, waivers=(*record(work).waivers, *fresh))


def _holder(work: Work) -> Work:
    """The run that keeps the record: the one whose documents it is about."""
    return work.top if work.layout.children_share else work


def _data(work: Work) -> Mapping[str, Any]:
    found = _holder(work).state.fields.get(KEY)
    return found if isinstance(found, Mapping) else {}


def _mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    found = data.get(key)
    return found if isinstance(found, Mapping) else None


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(map(str, _list(found)))


def _one(kind: type[T], found: Any) -> T | None:
    """A part of the record as a value; what it does not know is left out, and a part that is none is not there."""
    if not isinstance(found, Mapping):
        return None
    known: Iterable[str] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    given = {name: found[name] for name in known if found.get(name) is not None}
    return kind(**{name: value if isinstance(value, Mapping) else str(value) for name, value in given.items()})


def _plain(value: Any) -> Any:
    """A value as the state file has it; a part of a record leaves out what is empty, but for what always stands there."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Approved):
        always = ("at", "tree", "files")
        return {name: each for name, each in asdict(value).items() if each or name in always}
    return asdict(value) if isinstance(value, Seen | Reviewed | Waiver) else value
