"""What an answer or an approval is bound to: checksums of documents, without what may change on the way.

Of a proposal the reviews do not count, of the tasks their status; of everything else each byte does.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.model.workflow import Step, is_check

if TYPE_CHECKING:
    from agentd.runs.work import Work

SPECS = "every_affected_spec_is_there"
PLAN = ("proposal.md", "specs/", "tasks.md")


def documents(work: "Work", step: Step) -> dict[str, str]:
    """The checksums of exactly what a question is about: every file its step needs."""
    names = ["specs/" if need == SPECS else need for need in step.needs if need == SPECS or not is_check(need)]
    return checksums(work, names)


def checksums(work: "Work", names: Iterable[str]) -> dict[str, str]:
    """Each file behind these names with its checksum."""
    found = {}
    for name in names:
        for path in work.files(name):
            inner = path.relative_to(work.home).as_posix()
            found[inner] = "sha256:" + hashlib.sha256(_counted(inner, path)).hexdigest()
    return found


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The files that are not what they were."""
    return sorted(name for name in {*then, *now} if then.get(name) != now.get(name))


def _counted(name: str, path: Path) -> bytes:
    found = part(name)
    return found(path.read_bytes()) if found else path.read_bytes()


def part(name: str) -> Callable[[bytes], bytes] | None:
    """What gives the part of a document that counts; None where all of it does."""
    found = _PARTS.get(name)
    if found is None:
        return None
    return lambda data: found(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _body(text: str) -> str:
    from agentd.families.change.documents import proposal

    return proposal.body(text)


def _work(text: str) -> str:
    from agentd.families.change.documents import tasks

    return tasks.without_status(text)


_PARTS: Mapping[str, Callable[[str], str]] = {"proposal.md": _body, "tasks.md": _work}
