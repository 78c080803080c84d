"""The model as a program: `python -m tests.contract.model --scenes FILE --port 0 [--log FILE]` prints its address."""

import argparse
import contextlib
from pathlib import Path

from tests.contract.model import FakeModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.contract.model")
    parser.add_argument("--scenes", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    words = parser.parse_args()
    with FakeModel(words.scenes, words.port, words.log) as model, contextlib.suppress(KeyboardInterrupt):
        print(model.url, flush=True)
        model.join()


if __name__ == "__main__":
    main()
