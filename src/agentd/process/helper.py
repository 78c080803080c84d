"""A program of agentd's own that helps for as long as it is wanted, told what to do in lines over a pipe.

It ends when the pipe does, so that it is gone however the process that started it ends.
"""

import json
import socket
import subprocess
from collections.abc import Sequence
from typing import Any

PATIENCE = 30.0


class Helper:
    """A started helper; the number of its end of the pipe is its last word."""

    def __init__(self, words: Sequence[str], pass_fds: Sequence[int] = ()) -> None:
        self.pipe, theirs = socket.socketpair()
        try:
            self._popen = subprocess.Popen(
                [*words, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # ^C is for agentd, which ends its helpers
                pass_fds=(*pass_fds, theirs.fileno()),
            )
        except BaseException:
            self.pipe.close()
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
        try:
            self.pipe.settimeout(PATIENCE)
            self.pipe.sendall(json.dumps(order).encode() + b"\n")
            return bool(self.pipe.recv(64))
        except TimeoutError:
            self._popen.kill()
        except OSError:
            pass
        return False

    def close(self) -> None:
        """End the helper; twice does no harm."""
        self.pipe.close()
        try:
            self._popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
