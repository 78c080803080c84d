"""What this machine has left for this process: memory, processors, and how much others already wait for them.

A control group may have less than the machine, as in a container; what is less counts. It writes nothing.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentd.values import dataclass


@dataclass(frozen=True)
class Machine:
    """Memory in bytes; the pressures are the share of the last ten seconds in which something waited for it."""

    free_memory: int
    total_memory: int
    cpu_pressure: float
    memory_pressure: float
    cores: int


def read(root: Path = Path("/")) -> Machine:
    """Read the gauges below a folder, which has `proc` and what is mounted."""
    memory = (*_groups(root, ""), *_groups(root, "memory"))
    rooms = [_meminfo(root), *filter(None, map(_room, memory))]
    cores = _cores(root)
    return Machine(
        min(free for free, _ in rooms),
        min(total for _, total in rooms),
        _pressure(root, "cpu", _load(root, cores)),
        _pressure(root, "memory", 0.0),
        cores,
    )


def _meminfo(root: Path) -> tuple[int, int]:
    found = dict(line.split(":", 1) for line in _text(root / "proc/meminfo").splitlines() if ":" in line)
    if {"MemAvailable", "MemTotal"} <= found.keys():
        return int(found["MemAvailable"].split()[0]) << 10, int(found["MemTotal"].split()[0]) << 10
    import psutil

    memory = psutil.virtual_memory()
    return memory.available, memory.total


def _room(group: Path) -> tuple[int, int] | None:
    """What a group may still take and what it may have; None without a limit. Files that were read can be dropped."""
    limits = [_number(group / name) for name in ("memory.max", "memory.high", "memory.limit_in_bytes")]
    limit = min((each for each in limits if each is not None), default=None)
    uses = [_number(group / name) for name in ("memory.current", "memory.usage_in_bytes")]
    used = next((each for each in uses if each is not None), None)
    if limit is None or used is None:
        return None
    kinds = dict(line.split(" ", 1) for line in _text(group / "memory.stat").splitlines() if " " in line)
    files = int(kinds.get("total_inactive_file") or kinds.get("inactive_file") or 0)
    return max(0, limit - max(0, used - files)), limit


def _cores(root: Path) -> int:
    try:
        most = len(os.sched_getaffinity(0)) if root == Path("/") else os.cpu_count() or 1
    except AttributeError:  # not on macOS
        most = os.cpu_count() or 1
    for group in (*_groups(root, ""), *_groups(root, "cpu")):
        quota, _, period = _text(group / "cpu.max").strip().partition(" ")
        quota = quota or str(_number(group / "cpu.cfs_quota_us"))
        period = period or str(_number(group / "cpu.cfs_period_us"))
        if quota.isdigit() and period.isdigit() and int(quota) and int(period):
            most = min(most, max(1, round(int(quota) / int(period))))
    return most


def _load(root: Path, cores: int) -> float:
    """About the pressure that a load average means, for kernels that do not tell it."""
    with suppress(OSError, ValueError, IndexError):
        load = _text(root / "proc/loadavg")
        return min(1.0, max(0.0, (float(load.split()[0]) if load else os.getloadavg()[0]) / cores - 1))
    return 0.0


def _pressure(root: Path, what: str, otherwise: float) -> float:
    """The higher one of the machine's and that of this process's own group."""
    own = next(iter(_groups(root, "")), None)
    places = (root / "proc/pressure" / what, *([own / f"{what}.pressure"] if own else []))
    found = []
    for line in (_text(place).partition("\n")[0] for place in places):
        with suppress(ValueError, IndexError):
            found.append(float(line.partition("avg10=")[2].split()[0]) / 100)
    return max(found, default=otherwise)


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the control group that this process is in and of those around it, the innermost first.

    Without a controller it is the one hierarchy of version 2.
    """
    paths = (line.split(":", 2) for line in _text(root / "proc/self/cgroup").splitlines() if line.count(":") > 1)
    mine = next((path for _, names, path in paths if controller in names.split(",")), None)
    for line in _text(root / "proc/self/mountinfo").splitlines() if mine else ():
        mount, _, about = line.partition(" - ")
        kind, *rest = about.split(" ")
        fits = kind == "cgroup2" if not controller else kind == "cgroup" and controller in rest[-1].split(",")
        if not fits or mine is None:
            continue
        top, place = mount.split(" ")[3:5]
        home = root / place.lstrip("/")
        inner = mine.removeprefix(top) if top != "/" else mine
        group = home / inner.strip("/") if ".." not in inner else home  # it may be outside of what a container sees
        yield from (each for each in (group, *group.parents) if each.is_relative_to(home))
        return


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
