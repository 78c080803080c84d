"""What an answer or an approval is bound to: checksums of documents, without what may change on the way."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentd import files
from agentd.model.workflow import Step, is_check
from agentd.runs.project import Project
from agentd.runs.work import Work


def documents(work: Work, step: Step) -> dict[str, str]:
    """The checksums of exactly what a question is about: every file its step needs."""
    files = work.layout.documents
    names = [files.get(need, need) for need in step.needs]
    return checksums(work, [name for name in names if not is_check(name)])


def checksums(work: Work, names: Iterable[str]) -> dict[str, str]:
    """Each file behind these names with the checksum of the part that counts."""
    found = {}
    for name in names:
        for path in work.files(name):
            inner = path.relative_to(work.home).as_posix()
            found[inner] = digest(counted(work, inner, files.read(path)))
    return found


def counted(work: Work, name: str, data: bytes) -> bytes:
    """The part of a document that an answer is bound to; all of it, unless the family says otherwise."""
    place = work.layout.bound.get(name)
    if place is None:
        return data
    text: str = work.layout.find(place)(data.decode(errors="surrogateescape"))
    return text.encode(errors="surrogateescape")


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The files that are not what they were."""
    return sorted(name for name in {*then, *now} if then.get(name) != now.get(name))


def whole(paths: Iterable[Path], project: Project) -> dict[str, str]:
    """Files by their path from the root, with the checksum of every byte."""
    return {project.relative(path): digest(files.read(path)) for path in paths}


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
