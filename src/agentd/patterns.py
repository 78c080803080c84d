"""The regular expressions of this project: those of the standard library, compiled when they are first used.

A command uses few of the patterns that it loads, and compiling them all would take a tenth of its start.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    regex = re.compile
else:

    class regex:  # noqa: N801
        """Like `re.compile`. What was asked for once is an attribute like any other, so that a loop pays nothing."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self.pattern, self._flags = pattern, flags

        _compiled = cached_property(lambda self: re.compile(self.pattern, self._flags))
        match = cached_property(lambda self: self._compiled.match)
        fullmatch = cached_property(lambda self: self._compiled.fullmatch)
        search = cached_property(lambda self: self._compiled.search)
        findall = cached_property(lambda self: self._compiled.findall)
        finditer = cached_property(lambda self: self._compiled.finditer)
        split = cached_property(lambda self: self._compiled.split)
        sub = cached_property(lambda self: self._compiled.sub)
