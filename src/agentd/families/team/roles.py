"""The roles of a session as data: who each is, what it reads, writes and may reply. A project can word a role differently."""

from functools import cache
from pathlib import Path

from agentd.errors import BadConfig
from agentd.state import reading
from agentd.text import frontmatter
from agentd.values import dataclass

BUILT_IN = Path(__file__).parent / "roles"
# Roles that are dispatched at least once in a full session.
CORE = ("SpecAgent", "Architect", "Planner", "Coder", "Reviewer", "QA", "Security", "Integrator", "Docs")


@dataclass(frozen=True)
class Role:
    """One role.

    statuses  what its reply may say
    context   the documents it is given; a folder ends with a slash
    writes    the documents that are its own
    text      its identity and its rules
    """

    name: str
    statuses: tuple[str, ...]
    context: tuple[str, ...]
    writes: tuple[str, ...]
    text: str


@cache
def built_in(role: str) -> Role:
    """A role as it ships, by the name that the tables use."""
    return _read((BUILT_IN / f"{role}.md").read_text(encoding="utf-8"))


def find(root: Path, role: str) -> Role:
    """A role; its text is that of `agentd/roles/ROLE.md` where the project has one. What it may write and reply stays."""
    ours = built_in(role)
    path = root / "agentd" / "roles" / f"{role}.md"
    try:
        text = reading.own(path).decode()
    except FileNotFoundError:
        return ours
    except UnicodeDecodeError:
        raise BadConfig(f"{path}: not UTF-8 text.", f"iconv -f latin1 -t utf-8 -o {path} {path}") from None
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}.", f"ls -l {path}") from None
    body = "\n".join(frontmatter.read(text).lines).strip()
    if not body:
        raise BadConfig(f"{path}: it says nothing about the role.", f"edit {path}, or: rm {path}")
    return Role(ours.name, ours.statuses, ours.context, ours.writes, body)


def _read(text: str) -> Role:
    page = frontmatter.read(text)
    lists = {key: tuple(map(str, page.data[key])) for key in ("statuses", "context", "writes")}
    return Role(str(page.data["name"]), text="\n".join(page.lines).strip(), **lists)
