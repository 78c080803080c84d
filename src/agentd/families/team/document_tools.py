"""How roles read and write the documents of a session: each writes its own, and only what is valid."""

from fnmatch import fnmatchcase
from pathlib import Path

from agentd.errors import Refused
from agentd.families.team import LAYOUT, roles
from agentd.families.team.intake import DRAFT
from agentd.families.team.session_documents import TASKS, problem, tasks
from agentd.runs.call_scope import Desk
from agentd.runs.safe_paths import inside, read_text
from agentd.runs.tool_result import Text, Written


def _session(desk: Desk) -> Path:
    """The folder of the session that a call belongs to, whether it is a task's call or the session's own."""
    home = desk.project.root / LAYOUT.homes[0]
    return home / desk.store.folder.relative_to(home.resolve()).parts[0]


def _plain(desk: Desk, folder: Path, file: str) -> str:
    """A document's name in its session, however an agent wrote the path."""
    shown = f"{desk.project.relative(folder)}/"
    return file.removeprefix(f"{folder}/").removeprefix("./").removeprefix(shown)


def read_document(desk: Desk, file: str) -> Text:
    folder = _session(desk)
    name = _plain(desk, folder, file)
    own = inside(desk.store.folder, name, "file") if "/" not in name else None
    path = own if own is not None and own.is_file() else inside(folder, name, "file")
    return Text(read_text(path, name), name)


def write_document(desk: Desk, file: str, content: str) -> Written:
    folder, state = _session(desk), desk.store.peek()
    step = desk.project.workflow(state.run.workflow or LAYOUT.name).steps[state.run.step]
    role, name = roles.built_in(step.what), _plain(desk, folder, file)
    allowed = [each for each in role.writes if each != TASKS or not step.produces or TASKS in step.produces]
    if not any(name == each or (each.endswith("/") and fnmatchcase(name, f"{each}?*.md")) for each in allowed):
        listed = ", ".join(f"{each}NAME.md" if each.endswith("/") else each for each in allowed)
        raise Refused(f"{name} is not a document of {role.name}.", f"send one of: {listed}")
    lean = state.fields.get("mode") == "lean"
    wrong = problem(name, content, lean)
    if not wrong and name == TASKS:
        begun = [one.id for one in tasks(content) if one.status != "not-started"]
        wrong = f"{', '.join(begun)} must be not-started" if begun else ""
    if wrong:
        raise Refused(f"{name} was not written: {wrong}.", "correct it and call again")
    path = inside(folder, DRAFT if name == "status.json" else name, "file")
    desk.write(path, content if content.endswith("\n") else f"{content}\n")
    return Written(f"{name} is written.", name)
