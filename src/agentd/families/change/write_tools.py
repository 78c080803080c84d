"""The tools by which an agent writes documents of its change. An invalid document is never written."""

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from agentd.errors import NotFound, Refused
from agentd.families.change import task_references
from agentd.families.change.documents import clarifications, proposal, question_drafts, tasks
from agentd.library import snapshot, spec
from agentd.model.change import Clarifications, Draft, Proposal, Question, Spec, Task, Tasks
from agentd.model.finding import Finding
from agentd.patterns import regex
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written, listed, refuse_wrong, rendering
from agentd.state import reading

DOCUMENTS: dict[str, ModuleType] = {"clarifications.md": clarifications, "proposal.md": proposal, "tasks.md": tasks}
RENDERED = {
    "CHALLENGE.md": "append_review writes it",
    "REVIEW.md": "create_review writes it",
    "ARCHIVE_REVIEW.md": "its reviewer writes it",
    **dict.fromkeys(("GEMINI.md", "AGENTS.md", "CLAUDE.md"), "agentd writes it"),
}
_BLOCK = regex(r"^<review\b.*?^</review>|^</?review\b", re.DOTALL | re.MULTILINE)
RECORDS = ("calls", "answers", "children")


def write_questions(desk: Desk, drafts: tuple[Draft, ...]) -> Written:
    """Write the questions to ask; they are asked later."""
    path = desk.path("questions.yaml")
    with rendering():
        text = question_drafts.render(desk.change, drafts)
    desk.write(path, text)
    shown = desk.shown(path)
    return Written(f"Wrote {shown} with {len(drafts)} questions.", shown)


def write_clarifications(desk: Desk, asked: tuple[Question, ...]) -> Written:
    return _write(desk, "clarifications.md", Clarifications(desk.change, desk.project.now()[:10], asked))


def write_proposal(desk: Desk, new: Proposal) -> Written:
    """Write a new proposal, or a new body for an existing one, whose reviews stay byte for byte."""
    path, now = desk.path("proposal.md"), desk.project.now()
    new = replace(new, created_at=now, updated_at=now, author=_role(desk))
    if not path.exists():
        return _write(desk, "proposal.md", new)
    text = desk.read(path)
    old = proposal.read(text)[0]
    if old is not None:
        new = replace(new, created_at=old.created_at or now, author=old.author or new.author, iteration=old.iteration)
    with rendering():
        changed = proposal.replace_body(text, new)
    _refuse_other_reviews(text, changed)
    desk.write(path, changed)
    shown = desk.shown(path)
    reviews = len(proposal.reviews(changed))
    kept = f" Its {reviews} review{'s' if reviews > 1 else ''} stayed." if reviews else ""
    return listed(f"Wrote {shown}.{kept}", shown, proposal.read(changed, desk.project.config.rules())[1])


def write_spec(desk: Desk, new: Spec) -> Written:
    """Write a spec of the change; the creation time of an existing one, here or in the library, is kept."""
    name, now = f"specs/{new.id}.md", desk.project.now()
    known = reading.page(str(desk.project.root / snapshot.LIBRARY), f"{new.id}.md")
    old = spec.read(desk.read_if_there(name) or (known.text if known else ""))[0]
    created = old.created_at if old and old.created_at else now
    return _write(desk, name, replace(new, created_at=created, updated_at=now))


def write_tasks(desk: Desk, new: tuple[Task, ...]) -> Written:
    now = desk.project.now()
    ids = [task.id for task in new]
    for number, name in enumerate(ids):
        if name in ids[:number]:
            raise Refused(f"tasks[{number}].number: there are two tasks {name}.", "give each of a layer its own number")
    old = tasks.read(desk.read_if_there("tasks.md"))[0]
    created = old.created_at if old and old.created_at else now
    written = Tasks(desk.change, new, created, now)
    task_references.refuse_lost(desk, written)
    return _write(desk, "tasks.md", written)


def edit_file(desk: Desk, name: str, old_text: str, new_text: str) -> Written:
    """Replace one piece of text in a document; front matter that repeats the body is updated."""
    path = desk.path(name)
    inner = path.relative_to(desk.real).as_posix()
    _refuse_unless_document(inner, name)
    if not path.is_file():
        raise NotFound(f"file: there is no document {name!r} in the change.", "create it with the tool for it")
    text = desk.read(path)
    changed = _replaced(text, old_text, new_text, name)
    module = spec if inner.startswith("specs/") else DOCUMENTS.get(inner)
    if module is proposal:
        _refuse_other_reviews(text, changed)
    findings: tuple[Finding, ...] = ()
    if module is not None:
        changed = module.tidy(changed)
        findings = module.read(changed, desk.project.config.rules())[1]
    desk.write(path, changed)
    shown = desk.shown(path)
    return listed(f"Edited {shown}.", shown, findings)


def _write(desk: Desk, name: str, value: Clarifications | Proposal | Spec | Tasks) -> Written:
    """Render and write a document, unless it has a High finding."""
    path = desk.path(name)
    module = spec if name.startswith("specs/") else DOCUMENTS[name]
    with rendering():
        text = module.render(value)
    findings: tuple[Finding, ...] = module.read(text, desk.project.config.rules())[1]
    refuse_wrong(name, findings)
    desk.write(path, text)
    shown = desk.shown(path)
    return listed(f"Wrote {shown}.", shown, findings)


def _replaced(text: str, old: str, new: str, name: str) -> str:
    if "\r\n" in text:  # agents see and send LF
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    first = text.find(old)
    found = 0 if first < 0 else 1 if text.find(old, first + 1) < 0 else 2
    if found == 1:
        return text.replace(old, new)
    fix = "read_file shows what is there" if not found else "send more of the text around it, so that it is there once"
    raise Refused(
        f"old_text: {name} holds it {('not at all', '', 'more than once')[found]}; it must be there exactly once.", fix
    )


def _refuse_unless_document(inner: str, name: str) -> None:
    parts = Path(inner).parts
    why = RENDERED.get(inner, "")
    if not inner.endswith(".md") or parts[0] in RECORDS or any(part.startswith(".") for part in parts):
        why = "it is no document"
    if why:
        raise Refused(f"file: {name} is not edited: {why}.", "edit proposal.md, tasks.md, clarifications.md or a spec")


def _refuse_other_reviews(before: str, after: str) -> None:
    """Refuse an edit that changes reviews: only reviewers add them."""
    if proposal.reviews(before) != proposal.reviews(after) or _BLOCK.findall(before) != _BLOCK.findall(after):
        raise Refused(
            "The reviews in proposal.md would change; nothing was written.", "leave <review> blocks as they are"
        )


def _role(desk: Desk) -> str:
    """The role of the current step."""
    run = desk.store.peek().run
    step = desk.project.workflow(run.workflow or desk.layout.name).steps.get(run.step)
    return step.what if step else ""
