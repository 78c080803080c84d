"""A source text seen without its comments, and without what its strings say; knows brackets, not grammar."""

import bisect
import re
from collections.abc import Iterator
from functools import cached_property

_DOUBLE = r'"(?:[^"\\\n]|\\.)*"'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'"
_TICKS = r"`(?:[^`\\]|\\.)*`"
_BLOCK = r"/\*.*?(?:\*/|\Z)"
_SLASHES = r"//[^\n]*"
_REGEX = r"(?<=[(,=:\[!&|?{};])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_THREE = r'"""(?:[^\\]|\\.)*?"""'
_TOKENS = {
    "javascript": (rf"{_SLASHES}|{_BLOCK}", rf"{_DOUBLE}|{_SINGLE}|{_TICKS}|{_REGEX}"),
    "go": (rf"{_SLASHES}|{_BLOCK}", rf"{_DOUBLE}|`[^`]*`|{_CHARACTER}"),
    "rust": (rf"{_SLASHES}|{_BLOCK}", rf'\br(?P<hash>#*)".*?"(?P=hash)|"(?:[^"\\]|\\.)*"|{_CHARACTER}'),
    "java": (rf"{_SLASHES}|{_BLOCK}", rf"{_THREE}|{_DOUBLE}|{_CHARACTER}"),
    "csharp": (rf"{_SLASHES}|{_BLOCK}", rf'@"(?:[^"]|"")*"|{_THREE}|{_DOUBLE}|{_CHARACTER}'),
    "python": (r"#[^\n]*", rf"{_THREE}|'''(?:[^\\]|\\.)*?'''|{_DOUBLE}|{_SINGLE}"),
}
_PATTERNS = {
    name: re.compile(f"(?P<comment>{comment})|(?P<string>{string})", re.S)
    for name, (comment, string) in _TOKENS.items()
}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BRACKET = re.compile(r"[()\[\]{}]")
_NOT_NEWLINE = re.compile(r"[^\n]")


class Source:
    """`code` has blanks for comments, `bare` also for what stands between quotes; both are as long as the text."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        code, bare, at = [], [], 0
        self.comments: list[tuple[int, str]] = []
        for token in _PATTERNS[language].finditer(text):
            start, end = token.span()
            code.append(text[at:start])
            bare.append(text[at:start])
            blank = _NOT_NEWLINE.sub(" ", token[0])
            if token["comment"] is not None:
                self.comments.append((start, token[0]))
                code.append(blank)
                bare.append(blank)
            else:
                code.append(token[0])
                bare.append(f"{token[0][0]}{blank[1:-1]}{token[0][-1]}" if len(blank) > 1 else blank)
            at = end
        self.code = "".join((*code, text[at:]))
        self.bare = "".join((*bare, text[at:]))

    @cached_property
    def _starts(self) -> list[int]:
        found = [0]
        for line in self.lines:
            found.append(found[-1] + len(line) + 1)
        return found

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Where each bracket closes; one that never does, or is closed by another kind, has no entry."""
        found, stack = {}, []
        for match in _BRACKET.finditer(self.bare):
            sign = match[0]
            if sign in _PAIRS:
                stack.append((sign, match.start()))
            elif stack and _PAIRS[stack[-1][0]] == sign:
                found[stack.pop()[1]] = match.start()
        return found

    def brackets(self) -> Iterator[tuple[int, int]]:
        """Where each bracket opens and closes."""
        yield from self._partners.items()

    def line(self, at: int) -> int:
        """The number of the line at a position."""
        return bisect.bisect_right(self._starts, at)

    def quote(self, at: int) -> str:
        """The line at a position, without its indentation."""
        return self.lines[min(self.line(at), len(self.lines)) - 1].strip()

    def closing(self, at: int) -> int:
        """Where the bracket at a position closes; the end of the text if it never does."""
        return self._partners.get(at, len(self.text))

    def parts(self, start: int, end: int) -> list[str]:
        """What commas separate between two positions, brackets kept whole, in one spelling."""
        cuts, depth = [start - 1], 0
        for at in range(start, end):
            sign = self.bare[at]
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 0:
                cuts.append(at)
        found = [one_spelling(self.code[a + 1 : b]) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]
        return [each for each in found if each]

    def comment_lines(self) -> tuple[tuple[int, str], ...]:
        """The lines of all comments."""
        return tuple(
            (self.line(at) + more, line.strip())
            for at, text in self.comments
            for more, line in enumerate(text.split("\n"))
        )


def one_spelling(code: str) -> str:
    """Code as a formatter leaves its meaning: no matter which quotes, blanks, semicolons and last commas."""
    code = re.sub(r"['`]", '"', code)
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"(?<=\W) | (?=\W)", "", code)
    return re.sub(r",(?=[)\]}])|;", "", code)
