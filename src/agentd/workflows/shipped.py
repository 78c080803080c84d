"""The tables that ship with agentd, each compiled once: looking at a run parses no YAML."""

import os
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from agentd.model import workflow
from agentd.model.workflow import Workflow

_MAKERS = (workflow.__file__, str(Path(__file__).with_name("load.py")))


def shipped(path: Path) -> Workflow:
    """The table in a file of this package."""
    module = ModuleType(path.stem)
    _Table(path.stem, str(path)).exec_module(module)
    table: Workflow = module.TABLE
    return table


def parse(text: str, source: str) -> Workflow:
    """The table in a text, as `load.parse` reads it; no compiled table needs that, and the YAML parser it imports."""
    from agentd.workflows import load

    return load.parse(text, source)


class _Table(SourceFileLoader):
    """Python keeps what this compiles in `__pycache__`, and makes it again when the table or what reads it has changed."""

    def path_stats(self, path: str) -> Mapping[str, Any]:
        newest = max(os.stat(each).st_mtime for each in (path, *_MAKERS))
        return {**super().path_stats(path), "mtime": newest}

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        table = parse(bytes(data).decode(), Path(os.fsdecode(path)).name)
        text = f"from agentd.model.workflow import Edge, Step, Workflow\nTABLE = {table!r}"
        return compile(text, path, "exec", dont_inherit=True, optimize=_optimize)
