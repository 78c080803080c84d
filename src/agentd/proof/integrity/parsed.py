"""The contents of a test file as values that are the same for every language."""

from agentd.values import dataclass

MANY = 50  # stands for an unknown number of times


@dataclass(frozen=True)
class Claim:
    """What one assertion states. `rank`: 3 names the exact answer, 2 a property of it, 1 only that there is one.

    always      it cannot fail
    swallowed   its failure is caught and dropped
    called      a helper makes it, so its text says little
    least, most how often it is made
    tolerances  by name; a larger number is looser
    """

    line: int
    quote: str
    subject: str
    expected: str
    rank: float = 3
    form: str = ""
    tolerances: tuple[tuple[str, float], ...] = ()
    always: bool = False
    swallowed: bool = False
    called: bool = False
    least: int = 1
    most: int = 1

    @property
    def text(self) -> str:
        """Equal for two claims that state the same, however they are spelled."""
        return f"{self.subject} → {self.expected}"


@dataclass(frozen=True)
class Mark:
    """Something that keeps tests from running or from counting; `sure` if it always does."""

    rule: str
    what: str
    line: int
    quote: str
    owner: str = ""
    sure: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """Equal for the same mark on another line."""
        return self.rule, self.what


@dataclass(frozen=True)
class Row:
    """One set of parameters of a test."""

    line: int
    values: tuple[str, ...]
    quote: str = ""


@dataclass(frozen=True)
class Test:
    """A test, or a function that helps tests; `rows` is None if its parameters are unknown, `many` if there are more.

    A `smoke` test may assert nothing: it proves that nothing is raised.
    """

    name: str
    line: int
    start: int
    end: int
    quote: str
    body: str
    claims: tuple[Claim, ...] = ()
    marks: tuple[Mark, ...] = ()
    rows: tuple[Row, ...] | None = None
    many: bool = False
    names: frozenset[str] = frozenset()
    smoke: bool = False

    @property
    def short(self) -> str:
        """The name without its class or group."""
        return self.name.rpartition(" > ")[2]

    @property
    def real(self) -> tuple[Claim, ...]:
        """The claims that can fail."""
        return tuple(claim for claim in self.claims if not claim.always and not claim.swallowed)

    @property
    def times(self) -> tuple[int, int]:
        """How often the test runs, at least and at most."""
        known = 1 if self.rows is None else len(self.rows)
        return known, MANY if self.many else known


@dataclass(frozen=True)
class ParsedFile:
    """A test file: `others` are its helpers, `hidden` hides failures, `hooks` select tests or change their results."""

    tests: tuple[Test, ...] = ()
    others: tuple[Test, ...] = ()
    marks: tuple[Mark, ...] = ()
    hidden: tuple[Mark, ...] = ()
    hooks: tuple[Test, ...] = ()
    comments: tuple[tuple[int, str], ...] = ()


def line_of(lines: list[str], number: int) -> str:
    """A line as it is quoted: without its indentation."""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def mark(lines: list[str], line: int, rule: str, what: str, owner: str = "", sure: bool = True) -> Mark:
    """A mark that quotes its line."""
    return Mark(rule, what, line, line_of(lines, line), owner, sure)
