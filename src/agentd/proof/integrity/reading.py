"""What a test file says, in values that are the same for every language; reads nothing itself."""

from dataclasses import dataclass

MANY = 50  # how often something is taken to happen that happens an unknown number of times


@dataclass(frozen=True)
class Claim:
    """One assertion. `rank`: 3 names the exact answer, 2 a property of it, 1 only that there is one.

    `least` and `most` are how often it is made; `slack` the tolerances it grants, a larger number being looser.
    """

    line: int
    quote: str
    subject: str
    expected: str
    rank: float = 3
    form: str = ""
    slack: tuple[tuple[str, float], ...] = ()
    always: bool = False
    swallowed: bool = False
    called: bool = False
    least: int = 1
    most: int = 1

    @property
    def text(self) -> str:
        """The same for two claims that say the same, however they are spelled."""
        return f"{self.subject} → {self.expected}"


@dataclass(frozen=True)
class Mark:
    """Something that keeps tests from running or from counting; `sure` where it does so always."""

    rule: str
    what: str
    line: int
    quote: str
    owner: str = ""
    sure: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same mark wherever it stands."""
        return self.rule, self.what


@dataclass(frozen=True)
class Row:
    """One set of values a test is run with."""

    line: int
    values: tuple[str, ...]
    quote: str = ""


@dataclass(frozen=True)
class Test:
    """A test, or a function that serves tests; `rows` is None where nothing is known of its sets of values.

    A `smoke` test may assert nothing: that it comes to its end is what it proves.
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
        """The name as a person says it."""
        return self.name.rpartition(" > ")[2]

    @property
    def real(self) -> tuple[Claim, ...]:
        """The claims that can fail."""
        return tuple(claim for claim in self.claims if not claim.always and not claim.swallowed)

    @property
    def times(self) -> tuple[int, int]:
        """How often at least and at most the test is run."""
        if self.rows is not None:
            return len(self.rows), MANY if self.many else len(self.rows)
        return 1, MANY if self.many else 1


@dataclass(frozen=True)
class Reading:
    """Everything a test file says; `hidden` hides failures, `hooks` choose tests or change what they came to."""

    tests: tuple[Test, ...] = ()
    others: tuple[Test, ...] = ()
    marks: tuple[Mark, ...] = ()
    hidden: tuple[Mark, ...] = ()
    hooks: tuple[Test, ...] = ()
    comments: tuple[tuple[int, str], ...] = ()


def line_of(lines: list[str], number: int) -> str:
    """A line as it is quoted: without its indentation."""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
