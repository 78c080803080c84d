"""How Go, Rust, Java and its kin, and C# write tests: one row of patterns for each."""

import re

from agentd.patterns import regex
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
        regex(r"^func\s+(?:\([^()\n]*\)\s*)?([A-Za-z_]\w*)\s*(?:\[[^\]\n]*\]\s*)?(?=\()", re.M),
        regex(NEVER),
        regex(NEVER),
        regex(r"^func\s+(?:\([^()\n]*\)\s*)?(Test|Fuzz|Example)(?![a-z])(?!Main\b)"),
        regex(NEVER),
        regex(NEVER),
        regex(r"\b[tbf]\.(Skip|Skipf|SkipNow)\s*\(|\.T\(\)\.Skip\w*\("),
        regex(r"\bos\.Exit\(\s*0\s*\)"),
    ),
    "rust": Language(
        regex(r"^[ \t]*(?:#\[[^\]\n]*\][ \t]*)*(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*fn\s+([A-Za-z_]\w*)\s*(?:<[^>\n]*>)?\s*(?=\()", re.M),
        regex(r"^[ \t]*(?:pub\s+)?mod\s+(\w+)\s*(?=\{)", re.M),
        regex(r"^\s*#\["),
        regex(r"#\[(?:\w+::)*(test|rstest|test_case|quickcheck|proptest|tokio_test)\b"),
        regex(r"#\[ignore\b"),
        regex(r"#\[cfg(?:_attr)?\((?!test\))[^\]]*\]"),
        regex(NEVER),
        regex(r"\bprocess::exit\(\s*0\s*\)|macro_rules!\s*(?:assert|assert_eq|assert_ne)\b"),
    ),
    "java": Language(
        regex(_JAVA_HEAD, re.M),
        regex(r"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?\s+)*(?:(?:public|abstract|final|static|internal|open|data)\s+)*(?:class|object|interface)\s+(\w+)", re.M),
        regex(r"^\s*@"),
        regex(r"@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bvoid\s+test\w*"),
        regex(r"@(Disabled|Ignore|Ignored)\b(?![\w])|enabled\s*=\s*false"),
        regex(r"@(Disabled\w+|Enabled\w+|IgnoreIf|Requires)\b"),
        regex(r"\b(assumeTrue|assumeFalse|assumeThat|assumingThat|abort)\s*\(|throw\s+new\s+\w*(Skip|Assumption|Aborted)\w*"),
        regex(r"\bSystem\.exit\(\s*0\s*\)|\bexitProcess\(\s*0\s*\)"),
    ),
    "csharp": Language(
        regex(_JAVA_HEAD.replace("(?:@[\\w.]+(?:\\([^()\\n]*\\))?[ \\t]+)*", r"(?:\[[^\]\n]*\][ \t]*)*"), re.M),
        regex(r"^[ \t]*(?:(?:public|abstract|sealed|static|internal|partial)\s+)*class\s+(\w+)", re.M),
        regex(r"^\s*\["),
        regex(r"\[(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod|Property|SkippableFact)\b"),
        regex(r"\[(Ignore|Explicit)\b|\bSkip\s*="),
        regex(NEVER),
        regex(r"\b(Assert\.Ignore|Assert\.Inconclusive|Skip\.If)\s*\("),
        regex(r"\bEnvironment\.Exit\(\s*0\s*\)"),
    ),
}  # fmt: skip
