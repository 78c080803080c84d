"""Which files of a project a command runs: the scripts that it names, and those that targets and scripts name in turn."""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator

from agentd.patterns import regex
from agentd.proof.integrity.makefile import targets
from agentd.proof.integrity.package_json import scripts
from agentd.proof.integrity.paths import is_collected, is_test_config, tidy
from agentd.proof.integrity.shell_commands import closure

Read = Callable[[str], str | None]
_DEEP = 4
_INTERPRETER = regex(
    r"^(ba|da|z|k|fi)?sh$|^(python|pypy|node|ruby|perl|php|lua)[\d.]*$|^(deno|bun|tsx|ts-node|source|\.|Rscript)$"
)
_MAKE = regex(r"^(g?make|just)$")
_PACKAGE = regex(r"^(npm|yarn|pnpm|bun)$")
_WRAPPER = regex(
    r"^(env|exec|time|timeout|nice|nohup|sudo|command|xvfb-run|uvx?|poetry|pipenv|pdm|hatch|rye|run|npx|\d+\w?|\w+=.*)$"
)
_SEPARATOR = regex(r"^(&&|\|\||;|\||&|\(|\)|\{|\}|!|then|do|else)$")
_SCRIPT = regex(r"\.(ba|z|k)?sh$|^[^.]*$|(^|/)[^./]+$")
_RUNNABLE = regex(r"\.(sh|bash|bat|ps1|py|rb|pl|[cm]?[jt]s)$")


def files_run(command: str, folder: str, read: Read) -> frozenset[str]:
    """The paths that a command in a folder may run; `read` gives a file's text, or None.

    Arguments of a program do not count, nor do settings, which are audited by their content.
    """
    found: set[str] = set()
    _follow(command, folder, read, found, _DEEP)
    return frozenset(found)


def _follow(command: str, folder: str, read: Read, found: set[str], deep: int) -> None:
    for words in _simple(command):
        for path in _paths(words, folder):
            text = read(path) if path not in found else None
            if text is None:
                continue
            found.add(path)
            if deep and (_SCRIPT.search(path) or re.match(r"#!.*\bsh\b", text)):
                for line in text.split("\n")[:400]:
                    _follow(line, folder, read, found, deep - 1)
        if deep:
            for line in _named_commands(words, folder, read):
                _follow(line, folder, read, found, deep - 1)


def _simple(command: str) -> Iterator[list[str]]:
    """The simple commands of a line, as words, without their variables."""
    try:
        lexer = shlex.shlex(command.lstrip("\t @-+"), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = [*lexer, ";"]
    except ValueError:  # a quote that never ends
        words = [*command.split(), ";"]
    held: list[str] = []
    for word in words:
        if not _SEPARATOR.match(word):
            held += [word] if held or not re.match(r"^\w+=", word) else []
            continue
        if held:
            yield held
        held = []


def _paths(words: list[str], folder: str) -> Iterator[str]:
    """The file that a simple command runs: its first word, or the first after an interpreter or a wrapper such as `env`."""
    for at, word in enumerate(words):
        before = words[:at]
        by = next((place for place, each in enumerate(before) if _INTERPRETER.match(posixpath.basename(each))), None)
        first = before if by is None else before[by + 1 :]
        if by is not None and any(re.fullmatch(r"-[a-zA-Z]*[mc]", each) for each in first):
            return
        values = [each for place, each in enumerate(first) if place == 0 or not first[place - 1].startswith("-")]
        if not all(each.startswith("-") or (by is None and _WRAPPER.match(each)) for each in values):
            return
        path = posixpath.normpath(posixpath.join(folder, tidy(word)))
        settings = is_test_config(path) and not _RUNNABLE.search(path)
        outside = path.startswith("..") or re.match(r"[-/~$<>]", word)
        if not outside and not settings and not _is_collected_test(path):
            yield path


def _is_collected_test(path: str) -> bool:
    """Whether a file is a test for a runner, and not a script that runs tests."""
    return is_collected(path) and not re.search(r"\.(sh|bash|bat|ps1)$|(^|/)[^./]+$", path)


def _named_commands(words: list[str], folder: str, read: Read) -> Iterator[str]:
    """The commands of a make or just target, or of a script of package.json."""
    program = posixpath.basename(words[0])
    if _MAKE.match(program):
        names = ("Makefile", "makefile", "GNUmakefile") if "make" in program else ("justfile", "Justfile", ".justfile")
        text = next((text for name in names if (text := read(posixpath.join(folder, name))) is not None), "")
        rules = targets(text)
        wanted = [word for word in words[1:] if word in rules] or list(rules)[:1]
        for name in sorted(closure(wanted, {name: set(target.needs) for name, target in rules.items()})):
            yield from rules[name].recipe
    elif _PACKAGE.match(program):
        known = scripts(read(posixpath.join(folder, "package.json")) or "")
        for word in ["test" if word == "t" else word for word in words[1:]]:
            yield from (known[name] for name in (f"pre{word}", word, f"post{word}") if name in known)
