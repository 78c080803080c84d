"""What tests begin with and look at, made once for all workers: the first that needs it makes it, the others wait for it."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")


class Shared:
    """The folder of what the workers of one run of pytest share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def once(self, name: str, make: Callable[[Path], Made]) -> Made:
        """What `make` made in a folder of its own, by this worker or another. Nobody may change it, but in a copy."""
        place, kept = self.folder / name, self.folder / f"{name}.pickle"
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if kept.exists():
                found: Made = pickle.loads(kept.read_bytes())
                return found
            place.mkdir()  # what failed once fails again: there is no second try in a folder that is half made
            made = make(place)
            kept.write_bytes(pickle.dumps(made))
            return made


def find(base: Path) -> Shared:
    """The shared folder beside the temporary folders of all workers, or in that of the only process."""
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return Shared(folder)
