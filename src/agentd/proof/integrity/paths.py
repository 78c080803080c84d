"""Which files are tests, which serve them and which say how they are run, by their names alone."""

import re

from agentd.patterns import regex

LANGUAGES = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"), "javascript"),
    **dict.fromkeys(("java", "kt", "kts", "groovy", "scala"), "java"),
    "cs": "csharp",
    "go": "go",
    "rs": "rust",
}

# Folders whose files are tests, or serve nothing but tests, in every ecosystem.
_FOLDER = regex(r"(^|/)(tests?|__tests__|__mocks__|__snapshots__|specs?|testdata|test-data|e2e|cypress)/", re.I)
_JAVA_SOURCES = regex(r"(^|/)src/(test|androidTest|integrationTest|testFixtures|commonTest|jvmTest)/")
_SPEC_FOLDER = regex(r"(^|/)specs?/", re.I)
_PROGRAM = regex(r"\.(py|[jt]sx?|[mc][jt]s|rb|go|rs|java|kt|scala|groovy|cs|php|ex|exs|swift|c|cc|cpp|dart|lua|sh)$")
_NAMES = regex(
    r"""(^|/)(
      test_[^/]*\.py | [^/]*_tests?\.py | tests?\.py | conftest\.py
    | [^/]+[._-](test|tests|spec|specs|cy|e2e)\.([cm]?[jt]sx?|vue|dart|ex|exs|rb|php|lua)
    | [^/]+_test\.(go|rs|c|cc|cpp|exs|rb|dart|sh|py)
    | tests?\.rs
    | (Test[A-Z][^/]*|[^/]*(Test|Tests|TestCase|IT|Spec))\.(java|kt|groovy|scala|cs|swift|php)
    | [^/]*\.bats | [^/]*\.snap | [^/]*_spec\.(rb|lua|js)
    )$""",
    re.X,
)
_COLLECTED_PYTHON = regex(r"(^|/)(test[^/]*|[^/]*_tests?)\.py$")

_SETTINGS = regex(
    r"""(^|/)(
      \.?pytest\.(ini|toml) | tox\.ini | tox\.toml | setup\.cfg | pyproject\.toml | \.coveragerc | noxfile\.py | conftest\.py
    | package\.json | (jest|vitest|vite|ava|karma|playwright|cypress|wdio|web-test-runner|nyc|mocha)[\w.-]*\.(conf|config)[\w.-]*
    | (jest|vitest)[\w.-]*\.(setup|workspace)\.[\w.]+ | \.mocharc[\w.]* | \.nycrc[\w.]* | \.c8rc[\w.]* | \.taprc | cypress\.json
    | (GNU)?[Mm]akefile | [\w.-]+\.mk | \.?[Jj]ustfile | Taskfile\.ya?ml | Rakefile
    | Cargo\.toml | \.cargo/config(\.toml)? | \.config/nextest\.toml | pom\.xml | build\.gradle(\.kts)? | testng\.xml
    | junit-platform\.properties | phpunit\.xml[\w.]* | \.rspec
    | \.gitlab-ci\.ya?ml | \.travis\.ya?ml | azure-pipelines[\w.-]*\.ya?ml | bitbucket-pipelines\.ya?ml | Jenkinsfile
    | \.pre-commit-config\.ya?ml | appveyor\.ya?ml
    )$
    | (^|/)\.github/(workflows|actions)/.*\.ya?ml$ | (^|/)\.circleci/.*\.ya?ml$ | (^|/)\.buildkite/
    | (^|/)agentd/config\.toml$
    | (^|/)(run[_-]?tests?|tests?|check|ci)\.(sh|bash|bat|ps1)$""",
    re.X,
)


def tidy(path: str) -> str:
    """A path with `/` and without a leading `./`."""
    return path.replace("\\", "/").removeprefix("./")


def is_test(path: str) -> bool:
    """Whether a file is a test or serves nothing but tests, by the customs of its ecosystem."""
    path = tidy(path)
    if _NAMES.search(path) or _JAVA_SOURCES.search(path):
        return True
    # A folder of specifications holds documents; only programs in it are tests.
    return bool(_FOLDER.search(path)) and (not _SPEC_FOLDER.search(path) or bool(_PROGRAM.search(path)))


def is_test_config(path: str) -> bool:
    """Whether a file may say how tests are chosen, run or judged."""
    return bool(_SETTINGS.search(tidy(path)))


def language(path: str) -> str:
    """The language of a program, or nothing."""
    return LANGUAGES.get(tidy(path).rpartition("/")[2].rpartition(".")[2].lower(), "")


def is_program(path: str) -> bool:
    """Whether a file is written in a language for programs."""
    return bool(_PROGRAM.search(tidy(path)))


def is_collected(path: str) -> bool:
    """Whether a runner looks for tests in the file without being told to."""
    path = tidy(path)
    if language(path) == "python":
        return bool(_COLLECTED_PYTHON.search(path))
    if language(path) == "go":
        return path.endswith("_test.go")
    return language(path) == "rust" or is_test(path)
