"""Places where a process can be told to die, so that a suite can prove that nothing is lost there.

`AGENTD_CRASH=<role>:<n>:before|torn|after` kills it at its n-th write of a role (`*`: of any role);
`AGENTD_CRASH_LOG=<file>` lists the writes as lines `role n`. Without them nothing is counted. Programs that the process
starts do not get them.
"""

import os
import re
import signal
import threading
from collections import Counter

from agentd.errors import UsageError

_ORDER = os.environ.pop("AGENTD_CRASH", "")
_LOG = os.environ.pop("AGENTD_CRASH_LOG", "")
_ARMED = bool(_ORDER or _LOG)
_PLAN = re.fullmatch(r"([a-z]+|\*):([1-9][0-9]*):(before|torn|after)", _ORDER) if _ORDER else None
if _ORDER and not _PLAN:
    raise UsageError(f"AGENTD_CRASH={_ORDER} names no crash point.", "export AGENTD_CRASH=state:1:before")

_counts: Counter[str] = Counter()
_counting = threading.Lock()


def enter(role: str) -> str:
    """Count a write; the moment at which the process is to die in it, or nothing."""
    if not _ARMED:
        return ""
    with _counting:
        _counts[role] += 1
        _counts["*"] += 1
        if _LOG:
            _note(f"{role} {_counts[role]}\n")
        if not _PLAN or _PLAN[1] not in (role, "*") or _counts[_PLAN[1]] != int(_PLAN[2]):
            return ""
    if _PLAN[3] == "before":
        die()
    return _PLAN[3]


def leave(moment: str) -> None:
    """The write is done."""
    if moment == "after":
        die()


def point(role: str) -> None:
    """A place to die that writes nothing: the boundary of a step."""
    if enter(role):
        die()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _note(line: str) -> None:
    fd = os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)
