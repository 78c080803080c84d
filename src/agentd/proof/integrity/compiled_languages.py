"""How Go, Rust, Java and its kin, and C# write tests: one row of patterns for each."""

import re

from agentd.values import dataclass


@dataclass(frozen=True)
class Language:
    """How a language writes functions and groups of them, what makes one a test, and what keeps it from running."""

    function: re.Pattern[str]
    group: re.Pattern[str]
    above: re.Pattern[str]  # a line that belongs to what stands below it
    test: re.Pattern[str]  # in what stands above, or in the head itself
    skip: re.Pattern[str]  # above
    unsure: re.Pattern[str]  # above
    inner: re.Pattern[str]  # in the body
    hides: re.Pattern[str]


NEVER = r"(?!)"
_JAVA_HEAD = r"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?[ \t]+)*(?:(?:public|protected|private|internal|static|final|async|suspend|override|virtual)\s+)*(?:fun|void|def|[\w.<>\[\]]+)\s+(`[^`\n]+`|[A-Za-z_]\w*)\s*(?=\()"
LANGUAGES = {
    "go": Language(
        re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?([A-Za-z_]\w*)\s*(?:\[[^\]\n]*\]\s*)?(?=\()", re.M),
        re.compile(NEVER),
        re.compile(NEVER),
        re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?(Test|Fuzz|Example)(?![a-z])(?!Main\b)"),
        re.compile(NEVER),
        re.compile(NEVER),
        re.compile(r"\b[tbf]\.(Skip|Skipf|SkipNow)\s*\(|\.T\(\)\.Skip\w*\("),
        re.compile(r"\bos\.Exit\(\s*0\s*\)"),
    ),
    "rust": Language(
        re.compile(r"^[ \t]*(?:#\[[^\]\n]*\][ \t]*)*(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*fn\s+([A-Za-z_]\w*)\s*(?:<[^>\n]*>)?\s*(?=\()", re.M),
        re.compile(r"^[ \t]*(?:pub\s+)?mod\s+(\w+)\s*(?=\{)", re.M),
        re.compile(r"^\s*#\["),
        re.compile(r"#\[(?:\w+::)*(test|rstest|test_case|quickcheck|proptest|tokio_test)\b"),
        re.compile(r"#\[ignore\b"),
        re.compile(r"#\[cfg(?:_attr)?\((?!test\))[^\]]*\]"),
        re.compile(NEVER),
        re.compile(r"\bprocess::exit\(\s*0\s*\)|macro_rules!\s*(?:assert|assert_eq|assert_ne)\b"),
    ),
    "java": Language(
        re.compile(_JAVA_HEAD, re.M),
        re.compile(r"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?\s+)*(?:(?:public|abstract|final|static|internal|open|data)\s+)*(?:class|object|interface)\s+(\w+)", re.M),
        re.compile(r"^\s*@"),
        re.compile(r"@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bvoid\s+test\w*"),
        re.compile(r"@(Disabled|Ignore|Ignored)\b(?![\w])|enabled\s*=\s*false"),
        re.compile(r"@(Disabled\w+|Enabled\w+|IgnoreIf|Requires)\b"),
        re.compile(r"\b(assumeTrue|assumeFalse|assumeThat|assumingThat|abort)\s*\(|throw\s+new\s+\w*(Skip|Assumption|Aborted)\w*"),
        re.compile(r"\bSystem\.exit\(\s*0\s*\)|\bexitProcess\(\s*0\s*\)"),
    ),
    "csharp": Language(
        re.compile(_JAVA_HEAD.replace("(?:@[\\w.]+(?:\\([^()\\n]*\\))?[ \\t]+)*", r"(?:\[[^\]\n]*\][ \t]*)*"), re.M),
        re.compile(r"^[ \t]*(?:(?:public|abstract|sealed|static|internal|partial)\s+)*class\s+(\w+)", re.M),
        re.compile(r"^\s*\["),
        re.compile(r"\[(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod|Property|SkippableFact)\b"),
        re.compile(r"\[(Ignore|Explicit)\b|\bSkip\s*="),
        re.compile(NEVER),
        re.compile(r"\b(Assert\.Ignore|Assert\.Inconclusive|Skip\.If)\s*\("),
        re.compile(r"\bEnvironment\.Exit\(\s*0\s*\)"),
    ),
}  # fmt: skip
