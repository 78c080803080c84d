"""A real terminal for tests: a program in a tmux of its own, the keys a person presses and the screen they see."""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

WIDTH, HEIGHT = 100, 30
SETTINGS = """
set -g status off
set -g escape-time 0
set -g history-limit 5000
set -g default-terminal screen-256color
"""
# What ended stays on the screen until the test has looked at it, also after a ^C, which goes to the shell as well.
RUN_AND_STAY = 'trap : INT QUIT; "$@"; echo $? > "$0"; while :; do sleep 3600; done'


class Terminal:
    """A program under way in a terminal of 100 columns and 30 lines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tmux(self, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self.folder / "socket"), "-f", str(self.folder / "tmux.conf"), *words],
            env=env,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        (self.folder / "tmux.conf").write_text(SETTINGS)
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        words = ["sh", "-c", RUN_AND_STAY, str(self.folder / "code"), *argv]
        clean = {name: value for name, value in env.items() if name not in ("TMUX", "TMUX_PANE", "COLUMNS", "LINES")}
        self.tmux("new-session", "-d", *size, "-c", str(cwd), shlex.join(words), env=clean, cwd=cwd)

    def send(self, *keys: str) -> None:
        """Press keys by their names (`Down`, `Enter`, `C-c`); any other word is typed letter by letter."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type exactly these letters."""
        self.tmux("send-keys", "-l", text)

    def screen(self) -> str:
        """What a person sees, without blank lines at the end."""
        return self.tmux("capture-pane", "-p").rstrip()

    def scrolled(self) -> str:
        """All that was ever written, also what has scrolled away."""
        return self.tmux("capture-pane", "-p", "-S", "-").rstrip()

    def cursor_is_shown(self) -> bool:
        return self.tmux("display-message", "-p", "#{cursor_flag}").strip() == "1"

    def wait_for(self, text: str, seconds: float = 30.0) -> str:
        """The screen as soon as it shows the text."""
        return self._wait(lambda screen: text in screen, f"{text!r} did not come", seconds)

    def wait_until_gone(self, text: str, seconds: float = 30.0) -> str:
        return self._wait(lambda screen: text not in screen, f"{text!r} did not go", seconds)

    def closed(self) -> bool:
        """Whether the program has ended."""
        code = self.folder / "code"
        return code.exists() and code.read_text().endswith("\n")

    def code(self, seconds: float = 30.0) -> int:
        """How the program ended, once it has."""
        self._wait(lambda _: self.closed(), "the program did not end", seconds)
        return int((self.folder / "code").read_text())

    def hang_up(self) -> None:
        """The terminal goes away, as when its window is closed."""
        self.tmux("kill-server")

    def _wait(self, true: Callable[[str], bool], trouble: str, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            hopeless = self.closed() or time.monotonic() > deadline
            screen = self.screen()
            if true(screen):
                return screen
            assert not hopeless, f"{trouble}; the screen:\n{screen}"
            time.sleep(0.02)


@contextmanager
def terminal(argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """Run a program in a terminal; at the end the terminal is closed and the program with it."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: nothing was tried on a real terminal")
    # A socket's name may have some 100 letters, which the folders of pytest often have.
    folder = Path(tempfile.mkdtemp(prefix="agentd-tmux-"))
    opened = Terminal(folder)
    try:
        opened.start(argv, cwd, {**os.environ, **(env or {})})
        yield opened
    finally:
        if (folder / "socket").exists():
            subprocess.run(["tmux", "-S", str(folder / "socket"), "kill-server"], capture_output=True, timeout=30)
        shutil.rmtree(folder, ignore_errors=True)
