"""What a repository may have in the place of a file, and commands run beside it: `python -m tests.hostile_files` prints
what each came to, in a process of its own with little memory and little time."""

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

MEMORY = 1 << 30
SECONDS = 60
LONG = "7" * 5000
DEEP = 100_000


def _written(path: Path, before: bytes, values: dict[str, str], front: str = "---\n{}\n---\n\n# A page\n") -> None:
    """One value, in the form of the file that it is written to."""
    kind = path.suffix if path.suffix in (".json", ".toml", ".md", ".jsonl") else ".yaml"
    text = values.get(kind, values[".yaml"])
    path.write_text(front.format(text) if kind == ".md" else f"{text}\n", encoding="utf-8")


def elf(path: Path, before: bytes) -> None:
    path.write_bytes(b"\x7fELF\x02\x01\x01\0\n/bin/a\0b sh x\0.sh\n" + bytes(range(256)) * 40)


def utf_16(path: Path, before: bytes) -> None:
    path.write_bytes((before.decode(errors="replace") or "a = 1\n").encode("utf-16"))


def fifo(path: Path, before: bytes) -> None:
    os.mkfifo(path)


def endless(path: Path, before: bytes) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path, before: bytes) -> None:
    with path.open("wb") as file:
        file.write(before)
        file.truncate(3 << 30)


def folder(path: Path, before: bytes) -> None:
    path.mkdir()


def loop(path: Path, before: bytes) -> None:
    path.symlink_to(path.name)


def long_number(path: Path, before: bytes) -> None:
    json_text = f'{{"n": 1, "pid": {LONG}, "scripts": {{"test": {LONG}}}}}'
    _written(path, before, {".json": json_text, ".jsonl": json_text, ".toml": f"a = {LONG}", ".yaml": f"phase: {LONG}"})


def deep_list(path: Path, before: bytes) -> None:
    inner = "[" * DEEP + "]" * DEEP
    _written(
        path,
        before,
        {".json": f'{{"a": {inner}}}', ".jsonl": f'{{"a": {inner}}}', ".toml": f"a = {inner}", ".yaml": f"a: {inner}"},
    )


def deep_table(path: Path, before: bytes) -> None:
    """Not too deep for a parser, and too deep for whoever walks through it."""
    inner = '{"a": ' * 900 + "1" + "}" * 900
    dotted = "tool." + "a." * 2000 + "a = 1\n[evidence]\n" + "a." * 2000 + "a = 1"
    _written(path, before, {".json": inner, ".jsonl": inner, ".toml": dotted, ".yaml": f"a: {inner}"})


KINDS: tuple[Callable[[Path, bytes], None], ...] = (
    *(elf, utf_16, fifo, endless, huge, folder, loop),
    *(long_number, deep_list, deep_table),
)


def put(kind: Callable[[Path, bytes], None], path: Path) -> bytes | None:
    """Put it in the place of a file; what was there."""
    before = path.read_bytes() if path.is_file() else None
    clear(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind(path, before or b"")
    return before


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    with suppress(FileNotFoundError):
        path.unlink()


def child(run: Callable[[], int], seconds: int = SECONDS) -> tuple[int, str]:
    """What a function came to in a process of its own, and what it said; -N if a signal ended it."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.dup2(write, 1)
        os.dup2(write, 2)
        room = MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        signal.alarm(seconds)
        code = 99
        try:
            code = run()
            sys.stdout.flush()
            sys.stderr.flush()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            import traceback

            os.write(2, traceback.format_exc()[-2000:].encode())
        os._exit(code)
    os.close(write)
    said = b""
    while part := os.read(read, 1 << 16):
        said = (said + part)[-6000:]
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode(errors="replace")


def main(root: Path, name: str, commands: list[list[str]]) -> None:
    """Run commands beside each hostile thing; one line of JSON for each."""
    from agentd.cli.ending import end
    from agentd.cli.group import cli

    os.chdir(root)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        for words in commands:  # so that no child has to import anything
            end(cli, words)
    for kind in KINDS:
        before = put(kind, root / name)
        for words in commands:
            code, said = child(lambda words=words: end(cli, words))  # type: ignore[misc]
            print(
                json.dumps({"kind": kind.__name__, "command": " ".join(words), "code": code, "said": said}), flush=True
            )
        clear(root / name)
        if before is not None:
            (root / name).write_bytes(before)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
