"""Files of a repository are read up to a size, however that size is told."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd import files


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3000))
def test_a_file_is_read_whole_or_refused_even_if_it_grows_or_shrinks_meanwhile(
    size: int, told: int, largest: int
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "whole")
        content = bytes(number % 251 for number in range(size))
        path.write_bytes(content)
        fd = os.open(path, os.O_RDONLY)
        try:
            if max(size, told) > largest:
                with pytest.raises(files.Unreadable, match="larger than"):
                    files.whole(fd, told, "whole", largest)
            else:
                assert files.whole(fd, told, "whole", largest) == content
        finally:
            os.close(fd)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_file_that_does_not_tell_its_size_is_read_whole() -> None:
    assert files.read("/proc/self/status").startswith(b"Name:")
