"""How agentd's own programs print: one event of `protocol.py` a line. It imports next to nothing, as programs start often."""

import json
import sys


def emit(**event: object) -> None:
    """Print an event, readable whatever the locale."""
    put(json.dumps(event).encode() + b"\n")


def put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
