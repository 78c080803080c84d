"""A program of agentd's own that helps for as long as it is wanted, told what to do in lines over a pipe.

It ends when the pipe does, so that it is gone however the process that started it ends.
"""

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

PATIENCE = 10.0
LEAVE = 2.0  # seconds to end in
TAIL = 2000  # bytes


class Helper:
    """A started helper. The last word of its command line is the number of its end of the pipe."""

    def __init__(self, words: Sequence[str], pass_fds: Sequence[int] = ()) -> None:
        self.pipe, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the helper
        try:
            self._popen = subprocess.Popen(
                [*words, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,  # ^C is for agentd, which ends its helpers
                pass_fds=(*pass_fds, theirs.fileno()),
            )
        except BaseException:
            self.pipe.close()
            self._errors.close()
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def alive(self) -> bool:
        return self._popen.poll() is None

    def ask(self, **order: Any) -> bool:
        """Give an order and wait until it was carried out; False if the helper is gone. One that hangs is ended."""
        with suppress(OSError):
            self.pipe.settimeout(PATIENCE)
            self.pipe.sendall(json.dumps(order).encode() + b"\n")
            if self.pipe.recv(64):
                return True
        self._popen.kill()  # its pipe closes a moment before it is seen to have ended
        self._popen.wait()
        return False

    def complaint(self) -> str:
        """The last line that it printed on standard error."""
        size = os.fstat(self._errors.fileno()).st_size
        lines = os.pread(self._errors.fileno(), TAIL, max(0, size - TAIL)).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """End the helper; twice does no harm."""
        self.pipe.close()
        try:
            self._popen.wait(LEAVE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._errors.close()
