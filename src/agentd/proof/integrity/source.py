"""Source text without its comments, and without the content of its strings; knows brackets, not grammar."""

import bisect
import re
from functools import cached_property

from agentd.patterns import regex

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
    name: regex(f"(?P<comment>{comment})|(?P<string>{string})", re.S) for name, (comment, string) in _TOKENS.items()
}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BRACKET = regex(r"[()\[\]{}]")
_NOT_NEWLINE = regex(r"[^\n]")


class Source:
    """`code` has blanks for comments, `bare` also for the content of strings; both are as long as the text."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        tokens = _PATTERNS[language]
        self.comments = [(token.start(), token[0]) for token in tokens.finditer(text) if token["comment"] is not None]
        self.code = tokens.sub(lambda token: token[0] if token["comment"] is None else _blank(token[0]), text)
        self.bare = tokens.sub(_without_content, text)

    @cached_property
    def _starts(self) -> list[int]:
        found = [0]
        for line in self.lines:
            found.append(found[-1] + len(line) + 1)
        return found

    @cached_property
    def brackets(self) -> dict[int, int]:
        """Where each bracket opens and closes; one that is not closed by its own kind has no entry."""
        found, stack = {}, []
        for match in _BRACKET.finditer(self.bare):
            sign = match[0]
            if sign in _PAIRS:
                stack.append((sign, match.start()))
            elif stack and _PAIRS[stack[-1][0]] == sign:
                found[stack.pop()[1]] = match.start()
        return found

    def depth(self, start: int, at: int) -> int:
        """How many braces that open after `start` are open at a position."""
        return self.bare.count("{", start, at) - self.bare.count("}", start, at)

    def line(self, at: int) -> int:
        """The line number of a position."""
        return bisect.bisect_right(self._starts, at)

    def quote(self, at: int) -> str:
        """The line of a position, without its indentation."""
        return self.lines[min(self.line(at), len(self.lines)) - 1].strip()

    def closing(self, at: int) -> int:
        """Where the bracket at a position closes; the end of the text if it does not."""
        return self.brackets.get(at, len(self.text))

    def parts(self, start: int, end: int) -> list[str]:
        """The comma-separated parts between two positions, normalized."""
        cuts, depth = [start - 1], 0
        for at in range(start, end):
            sign = self.bare[at]
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 0:
                cuts.append(at)
        found = [normalized(self.code[a + 1 : b]) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]
        return [each for each in found if each]

    def comment_lines(self) -> tuple[tuple[int, str], ...]:
        """The lines of all comments."""
        return tuple(
            (self.line(at) + more, line.strip())
            for at, text in self.comments
            for more, line in enumerate(text.split("\n"))
        )


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub(" ", text)


def _without_content(token: re.Match[str]) -> str:
    blank = _blank(token[0])
    return blank if token["comment"] is not None or len(blank) < 2 else f"{token[0][0]}{blank[1:-1]}{token[0][-1]}"


def normalized(code: str) -> str:
    """Code without what a formatter may change: quotes, blanks, semicolons and trailing commas."""
    code = re.sub(r"['`]", '"', code)
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"(?<=\W) | (?=\W)", "", code)
    return re.sub(r",(?=[)\]}])|;", "", code)
