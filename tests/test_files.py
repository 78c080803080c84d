"""Files of a repository are read up to a size, however that size is told."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd import files


class Grown(io.FileIO):
    """A file that is longer than it was when its size was asked for."""

    def __init__(self, path: Path, before: io.FileIO) -> None:
        super().__init__(path)
        self.before = before

    def fileno(self) -> int:
        return self.before.fileno()


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000))
def test_a_file_is_read_whole_or_refused_even_if_it_grows_meanwhile(size: int, told: int, largest: int) -> None:
    with TemporaryDirectory() as folder:
        whole, before = Path(folder, "whole"), Path(folder, "before")
        content = bytes(number % 251 for number in range(max(size, told)))
        whole.write_bytes(content)
        before.write_bytes(content[:told])
        with io.FileIO(before) as small, io.BufferedReader(Grown(whole, small)) as file:
            if len(content) > largest:
                with pytest.raises(files.Unreadable, match="larger than"):
                    files.bounded(file, "whole", largest)
            else:
                assert files.bounded(file, "whole", largest) == content
