"""Where the project's Python finds compiled files: those of Python's own library that agentd runs on, and none of the project.

Python trusts compiled files beside the sources, and in a work tree they may have been compiled from other sources. Without those of
its own library, every start of the tests would compile it again.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LIBRARY = os.path.dirname(os.__file__)
# What tests load besides that, by files below the library.
MORE = (
    "argparse",
    "decimal",
    "difflib",
    "gettext",
    "pprint",
    *(f"unittest/{name}" for name in ("__init__", "__main__", "case", "loader", "main")),
)
MORE += tuple(f"unittest/{name}" for name in ("mock", "result", "runner", "signals", "suite", "util"))


def lay_out(folder: Path, place: Path) -> None:
    """Make an empty folder the PYTHONPYCACHEPREFIX of a command in a place. Python replaces a link, and never writes through it."""
    if Path(os.path.realpath(LIBRARY)).is_relative_to(os.path.realpath(place)):
        return
    with suppress(OSError):  # it is compiled again where no link can be made
        for home, name in sorted({*_loaded(), *_more()}):
            inside = f"{folder}{home}"
            os.makedirs(inside, exist_ok=True)
            os.symlink(f"{home}/__pycache__/{name}", f"{inside}/{name}")


def _loaded() -> Iterator[tuple[str, str]]:
    """The compiled files of the library that this process uses itself: the folder of the source, and the name."""
    for module in [*sys.modules.values()]:
        home, _, name = (getattr(module, "__cached__", None) or "").partition("/__pycache__/")
        if home.startswith(LIBRARY) and "site-packages" not in home:
            yield home, name


def _more() -> Iterator[tuple[str, str]]:
    for path in MORE:
        home, name = os.path.split(f"{LIBRARY}/{path}.{sys.implementation.cache_tag}.pyc")
        if os.path.exists(f"{home}/__pycache__/{name}"):
            yield home, name
