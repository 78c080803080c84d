"""The local disk that a folder is on. Nothing is written."""

import os
from pathlib import Path

# Here a write through a mapping changes the times of the file, at the latest when the page had been written to the disk.
DISKS = frozenset(b"ext2 ext3 ext4 xfs btrfs f2fs".split())


KERNEL = Path("/proc/sys/vm")
LATEST = 40 * 100  # hundredths of a second


def local_disk(folder: bytes) -> int:
    """Return the device of a folder, links resolved, if it is a local disk, and -1 if not or if nobody can tell.

    It is none either if changed pages are not written to it within 40 seconds.
    """
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
        device = os.stat(folder).st_dev
        age, often = (int((KERNEL / f"dirty_{name}_centisecs").read_text()) for name in ("expire", "writeback"))
    except OSError:
        return -1
    if not often or age + often > LATEST:
        return -1
    found, kind = b"", b""
    for line in lines:
        mount, _, about = line.partition(b" - ")
        place = mount.split(b" ")[4].decode("unicode_escape").encode("latin-1").rstrip(b"/")
        if (folder + b"/").startswith(place + b"/") and len(place) >= len(found):
            found, kind = place, about.split(b" ")[0]
    return device if kind in DISKS else -1
