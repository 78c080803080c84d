"""A command of the project uses the compiled files of Python's own library, and leaves them as they are."""

import os
import shlex
import sys
from pathlib import Path

from agentd.evidence import bytecode
from agentd.evidence.runner import run_command
from agentd.model.command import Command

LOOK = """
import json, os, unittest.case, words
for module in (json, unittest.case, words):
    print(module.__name__, os.path.islink(module.__cached__))
"""


def test_python_finds_what_is_compiled_of_its_own_library_and_nothing_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("WORDS = 3\n")
    (tmp_path / "go.py").write_text(LOOK)
    seen = run_command(Command("test", f"{shlex.quote(sys.executable)} go.py"), tmp_path, {}, 60, None)
    assert seen.output == ("json True", "unittest.case True", "words False")


def test_a_library_inside_the_place_is_compiled_again(tmp_path: Path) -> None:
    bytecode.lay_out(tmp_path, Path(bytecode.LIBRARY).parent)
    assert not os.listdir(tmp_path)


def test_what_a_command_compiles_does_not_get_into_the_library(tmp_path: Path) -> None:
    bytecode.lay_out(tmp_path, tmp_path)
    compiled = Path(f"{tmp_path}{bytecode.LIBRARY}/json/__init__.{sys.implementation.cache_tag}.pyc")
    before = Path(os.readlink(compiled)).read_bytes()
    code = f"import importlib._bootstrap_external as loading; loading._write_atomic({str(compiled)!r}, b'other')"
    seen = run_command(Command("test", f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"), tmp_path, {}, 60, None)
    assert seen.exit_code == 0
    assert compiled.read_bytes() == b"other"
    assert (Path(bytecode.LIBRARY) / "json" / "__pycache__" / compiled.name).read_bytes() == before
