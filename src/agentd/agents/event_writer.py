"""Prints events of `protocol.py`, one per line. It imports little, because agentd's own programs start often."""

import json
import sys


def emit(**event: object) -> None:
    """Print an event, readable whatever the locale."""
    put(json.dumps(event).encode() + b"\n")


def put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
