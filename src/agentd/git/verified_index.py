"""Indexes in the memory of this process, whose stat data tells which tracked files have the content that was read before.

The user's index is only listed: its stat data and flags are never believed, and nothing that another program can write
is. Stat data counts if it must change with the file: on a local disk, a minute after the last change. Before that a
process that has the file mapped can change it with no trace, until the kernel has written the pages to the disk, and
clocks are coarse or off by a little.
"""

import hashlib
import marshal
import os
import sys
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from agentd.errors import AgentdError
from agentd.git import index_entries
from agentd.git.checkout import UNCHANGED, Checkout
from agentd.git.index_entries import EXTENDED, SHA1_LENGTH, STAT
from agentd.git.local_disk import local_disk
from agentd.git.program import TIMEOUT, quoted, run
from agentd.process.plain import run_plain
from agentd.values import dataclass

SETTLES = 60
_SECOND = 1_000_000_000
PARALLEL = 4000  # entries from which several programs read the files
PROGRAMS = 4  # more than processors: most of the time goes into waiting for a cold disk
MOST_KEPT = 8
_HEADER = 12
_MODE = slice(24, 28)
_FUTURE = 4_102_444_800  # later than any file: git must not compare contents itself, with filters, because of the time


@dataclass(frozen=True)
class Verified:
    """An index without its header, checksum and the entries below the paths `away`, and what else counts of the user's.

    source, listing  hashes of the user's index file and of the list of its entries
    ends             where each entry ends in `body`; `more` follows the last: trees that git has computed
    stepped          the difference between the clock and the time since the start of the machine
    """

    source: str
    listing: str
    body: bytes
    ends: Sequence[int]
    id_length: int
    submodules: tuple[bytes, ...]
    absent: tuple[bytes, ...]
    present: tuple[bytes, ...]
    conflicts: bool
    stepped: int
    more: bytes = b""

    def write(self, path: Path) -> None:
        """Write the index; none if it has no entries."""
        if not self.ends:
            return
        version = 3 if self.absent else 2
        header = b"DIRC" + version.to_bytes(4, "big") + len(self.ends).to_bytes(4, "big")
        made = hashlib.sha1 if self.id_length == SHA1_LENGTH else hashlib.sha256
        check = made(header, usedforsecurity=False)
        for part in (self.body, self.more):
            check.update(part)
        with open(path, "wb") as file:
            file.writelines((header, self.body, self.more, check.digest()))
        os.utime(path, (_FUTURE, _FUTURE))


class Entries(NamedTuple):
    """Entries of an index in its order.

    body        their bytes, and `lengths` how many each has
    doubted     paths of those that git has to look at: the content or the kind of file is not that of the entry
    unsettled   numbers of the entries whose stat data may stay the same when the file changes
    conflicts   whether there is a file in conflict, which has several entries
    submodules  paths of the submodules
    absent      paths that a sparse checkout leaves out, and `present` those that it would leave out and that exist
    """

    body: bytes
    lengths: bytes
    doubted: list[bytes]
    unsettled: list[int]
    conflicts: bool
    submodules: list[bytes]
    absent: list[bytes]
    present: list[bytes]

    def stat_data(self) -> Iterator[bytes]:
        """Yield the stat data of each entry."""
        start = 0
        for length in array("I", self.lengths):
            yield self.body[start : start + STAT.size]
            start += length


_kept: dict[Checkout, Verified] = {}


def look(checkout: Checkout, at: Path) -> tuple[Verified, list[bytes]]:
    """Write to `at` the index of the tracked files in which an entry has stat data only if the file has its content.

    Return it, and the paths that git has to look at. Files are read if their stat data is not that of the last time.
    """
    last, listing = _kept.get(checkout), None
    source = _source(checkout)
    if last is None or last.source != source:
        listing = _listing(checkout)
        if source != _source(checkout):
            source = "changed"
        last = replace(last, source=source) if last and last.listing == _hash(listing) else None
    if last and _still_counts(checkout, last):
        return _again(checkout, last, at)
    return _first(checkout, source, _listing(checkout) if listing is None else listing, at)


def keep_trees(checkout: Checkout, verified: Verified, at: Path) -> None:
    """Keep the trees that git has added to the index at `at`, which a look at the checkout has returned and written."""
    last = _kept.get(checkout)
    data = at.read_bytes() if verified.ends else b""
    end = _HEADER + len(verified.body)
    if last and last.listing == verified.listing and data[_HEADER:end] == verified.body:
        _kept[checkout] = replace(last, more=data[end : -verified.id_length // 2])


def _first(checkout: Checkout, source: str, listing: bytes, at: Path) -> tuple[Verified, list[bytes]]:
    settled, stepped = time.time_ns() - checkout.settles * _SECOND, _stepped()
    _kept.pop(checkout, None)
    device = local_disk(os.fsencode(checkout.top))
    found = _read(os.fsencode(checkout.top), listing, settled, device)
    lengths = array("I", found.lengths)
    start = listing.find(b" ", listing.find(b" ") + 1) + 1
    verified = Verified(
        source,
        _hash(listing),
        found.body,
        array("Q", accumulate(lengths)),
        listing.find(b" ", start) - start if listing else SHA1_LENGTH,
        tuple(found.submodules),
        tuple(found.absent),
        tuple(found.present),
        found.conflicts,
        stepped,
    )
    verified.write(at)
    if len(found.unsettled) < len(lengths):
        _keep(checkout, _without_stat(verified, found.unsettled))
    return verified, found.doubted


def _again(checkout: Checkout, last: Verified, at: Path) -> tuple[Verified, list[bytes]]:
    settled = time.time_ns() - checkout.settles * _SECOND
    last.write(at)
    words = ("diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all")
    listed = run(checkout.folder, *UNCHANGED, *words, env={"GIT_INDEX_FILE": str(at)}).split(b"\0")
    numbers = [_number(last, path) for path in dict.fromkeys(listed[:-1])]
    if not numbers:
        return last, []
    top = os.fsencode(checkout.top)
    found = _read(top, b"".join(_line(last, number) + b"\0" for number in numbers), settled, local_disk(top))
    now, kept = bytearray(last.body), bytearray(last.body)
    unsettled = set(found.unsettled)
    for count, (number, seen) in enumerate(zip(numbers, found.stat_data(), strict=True)):
        place = slice(start := _start(last, number), start + STAT.size)
        now[place] = seen
        if count not in unsettled:
            kept[place] = seen
    _keep(checkout, replace(last, body=bytes(kept)))
    verified = replace(last, body=bytes(now))
    verified.write(at)
    return verified, found.doubted


def _still_counts(checkout: Checkout, last: Verified) -> bool:
    """Return whether the clock was not set, and a sparse checkout leaves out what it left out."""
    known = abs(last.stepped - _stepped()) < SETTLES * _SECOND // 2
    return known and not any(map(checkout.has, last.absent)) and all(map(checkout.has, last.present))


def _keep(checkout: Checkout, verified: Verified) -> None:
    _kept.pop(checkout, None)
    _kept[checkout] = verified
    for oldest in list(_kept)[:-MOST_KEPT]:
        _kept.pop(oldest, None)


def _source(checkout: Checkout) -> str:
    """Return the hash of the user's index file; "" stands for one that does not exist, and nothing was ever added."""
    try:
        return _hash(checkout.index.read_bytes())
    except FileNotFoundError:
        return ""
    except OSError as trouble:
        raise AgentdError(
            f"{checkout.index} cannot be read: {trouble.strerror}.", f"ls -l {quoted(checkout.index)}"
        ) from trouble


def _listing(checkout: Checkout) -> bytes:
    return run(checkout.folder, "ls-files", "-z", "-v", "--stage", "--full-name", *checkout.pathspec)


def _read(top: bytes, listing: bytes, settled: int, device: int) -> Entries:
    """Read all listed files, many of them with several programs."""
    if listing.count(b"\0") < PARALLEL:
        return Entries(*index_entries.read(top + b"/", listing.split(b"\0")[:-1], settled, device))
    cuts = [
        0,
        *(listing.index(b"\0", len(listing) * part // PROGRAMS) + 1 for part in range(1, PROGRAMS)),
        len(listing),
    ]
    argv = (sys.executable, "-I", "-S", index_entries.__file__, os.fsdecode(top), str(settled), str(device))

    def part(number: int) -> Entries:
        done = run_plain(argv, cwd="/", env={}, stdin=listing[cuts[number] : cuts[number + 1]], timeout=TIMEOUT)
        if done.code:
            said = done.errors.decode(errors="replace").splitlines()[-1:]
            raise AgentdError(f"The files below {os.fsdecode(top)} could not be read: {' '.join(said)}", "ulimit -a")
        return Entries(*marshal.loads(done.output))

    from concurrent.futures import ThreadPoolExecutor  # imports much that a small work tree does not need

    with ThreadPoolExecutor(PROGRAMS) as pool:
        parts = list(pool.map(part, range(PROGRAMS)))
    unsettled, before = [], 0
    for each in parts:
        unsettled += [before + number for number in each.unsettled]
        before += len(each.lengths) // array("I").itemsize
    return Entries(
        b"".join(each.body for each in parts),
        b"".join(each.lengths for each in parts),
        [path for each in parts for path in each.doubted],
        unsettled,
        any(each.conflicts for each in parts),
        [path for each in parts for path in each.submodules],
        [path for each in parts for path in each.absent],
        [path for each in parts for path in each.present],
    )


def _without_stat(verified: Verified, numbers: Sequence[int]) -> Verified:
    """Return the index without the stat data of these entries; their mode stays."""
    body = bytearray(verified.body)
    for number in numbers:
        start = _start(verified, number)
        body[start : start + _MODE.start] = bytes(_MODE.start)
        body[start + _MODE.stop : start + STAT.size] = bytes(STAT.size - _MODE.stop)
    return replace(verified, body=bytes(body))


def _start(verified: Verified, number: int) -> int:
    return verified.ends[number - 1] if number else 0


def _path(verified: Verified, number: int) -> bytes:
    """Return the path of an entry."""
    start, end = _start(verified, number) + STAT.size + verified.id_length // 2, verified.ends[number]
    more = 2 if verified.body[start] & EXTENDED >> 8 else 0
    return verified.body[start + 2 + more : end].rstrip(b"\0")


def _number(verified: Verified, path: bytes) -> int:
    """Return the number of the first entry with a path, which exists."""
    return bisect_left(range(len(verified.ends)), path, key=lambda number: _path(verified, number))


def _line(verified: Verified, number: int) -> bytes:
    """Return an entry as `ls-files -v --stage` prints it."""
    start = _start(verified, number)
    mode = int.from_bytes(verified.body[start : start + STAT.size][_MODE], "big")
    name = start + STAT.size
    end = name + verified.id_length // 2
    stage = verified.body[end] >> 4 & 3
    return b"H %06o %s %d\t%s" % (mode, verified.body[name:end].hex().encode(), stage, _path(verified, number))


def _stepped() -> int:
    running = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.time_ns() - time.clock_gettime_ns(running)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
