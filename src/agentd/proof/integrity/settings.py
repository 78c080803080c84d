"""Settings that say which tests are run and how they are judged; versions and dependencies are none of its business."""

import configparser
import re
import tomllib
from collections.abc import Callable, Iterator

from agentd.model.evidence import Harm
from agentd.proof.integrity.paths import tidy
from agentd.proof.integrity.shell_commands import COMMAND, HIDDEN, audit_lines
from agentd.proof.integrity.source import Source, normalized
from agentd.proof.integrity.targets import SETTINGS, audit_make, audit_package

Auditor = Callable[[str, str | None, str | None], Iterator[Harm]]
_FREE = {
    "markers",
    "minversion",
    "required_plugins",
    "cache_dir",
    "console_output_style",
    "deps",
    "description",
    "requires",
}
_FREE |= {"show_missing", "precision", "directory", "title", "output", "package", "wheel_build_env", "basepython"}
_NARROWS = re.compile(
    r"--ignore\b|--ignore-glob|--deselect|(?<![\w-])-k[ =]|(?<![\w-])-m[ =]|norecursedirs|collect_ignore|testPathIgnorePatterns"
    r"|passWithNoTests|--maxfail|xfail|ignore_errors|ignore_outcome|-p no:|fail_under|allowOnly|dangerouslyIgnoreUnhandledErrors"
)
_TOML = ("pytest", "coverage", "tox", "nox")
_TASKS = (("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks"), ("hatch", "envs"), ("rye", "scripts"))
_SUREFIRE = re.compile(
    r"<plugin>(?:(?!</plugin>).)*maven-(?:surefire|failsafe)-plugin(?:(?!</plugin>).)*</plugin>", re.S
)
_MAVEN = re.compile(
    r"<((?:\w+\.)*(?:skipTests|skipITs|skip|testFailureIgnore|ignore|excludes|excludedGroups|groups))>\s*([^<]*?)\s*</\1>"
)
_GRADLE = re.compile(
    r"ignoreFailures|\benabled\s*=\s*false|excludeTestsMatching|includeTestsMatching|excludeTags|includeTags|onlyIf"
    r"|failOnNoDiscoveredTests|filter\s*\{|exclude\s*[(\s'\"]|maxRetries"
)
_GRADLE_TEST = re.compile(
    r"(?:^|\s)(?:tasks\.)?(?:named\(.test.[^)]*\)|withType[<(]\s*Test\b[^{]*|test|tasks\.test)\s*\{"
)


def audit_settings(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """What changed in how tests are chosen, run or judged, for every kind of file that can say it."""
    path = tidy(file)
    for pattern, auditor in _AUDITORS:
        if pattern.search(path):
            yield from auditor(file, old, new)
            return


def _pyproject(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    before, now = _dict(_toml(old).get("tool")), _dict(_toml(new).get("tool"))
    for name in _TOML:
        yield from _tables(file, f"tool.{name}", _flat(before.get(name)), _flat(now.get(name)), new or "")
    for tool, key in _TASKS:
        one, two = (_about_tests(_flat(_dict(each.get(tool)).get(key))) for each in (before, now))
        yield from _tables(file, f"tool.{tool}.{key}", one, two, new or "", COMMAND)


def _agentd(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    one, two = (_flat(_toml(each).get("evidence")) for each in (old, new))
    for key in sorted({*one, *two}):
        if one.get(key) != two.get(key):
            message = f"[evidence] {key} was {one.get(key, 'not set')} and is {two.get(key, 'not set')}"
            yield Harm(COMMAND, message, file, _line(new or "", key), _quote(new or "", key) or f"{key} is gone")


def _cargo(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    before, now = _toml(old), _toml(new)
    for table in ("lib", "bin", "test", "example"):
        one, two = (_flags(data.get(table)) for data in (before, now))
        for name in sorted({*one, *two}):
            was, flags = one.get(name), two.get(name)
            if flags is None and table == "test":
                yield Harm(SETTINGS, f"[[test]] {name} is gone", file, _line(old or "", name), _quote(old or "", name))
            for key in ("test", "harness", "doctest", "required-features"):
                if flags is not None and flags.get(key) != (was or {}).get(key):
                    message = f"{key} of {table} {name} is now {flags.get(key)}".replace("  ", " ")
                    yield Harm(SETTINGS, message, file, _line(new or "", key), _quote(new or "", key))
    one_package, two_package = _dict(before.get("package")), _dict(now.get("package"))
    if one_package.get("autotests") != two_package.get("autotests") and new is not None:
        yield Harm(
            SETTINGS,
            "which tests cargo finds has changed (autotests)",
            file,
            _line(new, "autotests"),
            _quote(new, "autotests"),
        )
    for target, entry in _dict(now.get("target")).items():
        if (
            "runner" in _dict(entry)
            and _dict(_dict(before.get("target")).get(target)).get("runner") != _dict(entry)["runner"]
        ):
            yield Harm(
                SETTINGS,
                "tests are run through another program (runner)",
                file,
                _line(new or "", "runner"),
                _quote(new or "", "runner"),
            )


def _ini(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    before, now = _sections(old), _sections(new)
    tox = tidy(file).rpartition("/")[2] == "tox.ini"
    for section in sorted({*before, *now}):
        if not re.match(r"pytest|tool:pytest|coverage:|run$|report$|tox$|testenv", section):
            continue
        one, two = before.get(section, {}), now.get(section, {})
        if tox and section.startswith(("tox", "testenv")):
            one, two = (
                {k: v for k, v in each.items() if k.startswith(("commands", "ignore_", "envlist", "env_list"))}
                for each in (one, two)
            )
        yield from _tables(file, f"[{section}]", one, two, new or "")


def _tables(
    file: str, name: str, old: dict[str, str], new: dict[str, str], text: str, rule: str = SETTINGS
) -> Iterator[Harm]:
    """Two versions of a table; what was not there before harms only if it narrows what is run."""
    for key in sorted({*old, *new}):
        last = key.rpartition(".")[2]
        was, now = old.get(key), new.get(key)
        if was == now or last in _FREE:
            continue
        if not old and not _NARROWS.search(f"{last} = {now}"):
            continue
        if was is None and rule == COMMAND:
            continue
        said = f"was {was} and is {now}" if was and now else f"is gone (was {was})" if was else f"is now {now}"
        yield Harm(rule, f"{name} {last} {said}", file, _line(text, last), _quote(text, last) or f"{last} = {was}")


def _pom(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    plain = [re.sub(r"<!--.*?-->", "", text or "", flags=re.S) for text in (old, new)]
    one, two = ([f"{m[1]}={m[2]}" for m in _MAVEN.finditer(text)] for text in plain)
    blocks = [{re.sub(r"\s|<version>.*?</version>", "", block) for block in _SUREFIRE.findall(text)} for text in plain]
    about = [each for each in two if each not in one and not each.endswith("=false") and _tests_only(each, plain[1])]
    for each in about:
        tag, _, value = each.partition("=")
        rule = HIDDEN if "ailure" in tag else SETTINGS
        yield Harm(
            rule,
            f"{tag} is now {value or 'set'} in pom.xml",
            file,
            _line(new or "", f"<{tag}>"),
            _quote(new or "", f"<{tag}>"),
        )
    lost = [block for block in blocks[0] if block not in blocks[1]]
    fresh = [block for block in blocks[1] if block not in blocks[0]]
    narrowed = any(re.search("<(excludes?|includes?|groups|excludedGroups|test)>", block) for block in fresh)
    if not about and ((lost and any("<configuration>" in each for each in (*lost, *fresh))) or narrowed):
        yield Harm(
            SETTINGS,
            "the settings of the plugin that runs the tests have changed",
            file,
            _line(new or "", "maven-surefire"),
            _quote(new or "", "maven-surefire"),
        )


def _tests_only(said: str, text: str) -> bool:
    """Whether a setting is about tests: `skip` and `excludes` stand with other plugins too."""
    tag = said.partition("=")[0]
    return bool(re.search("(?i)test|ITs", tag)) or any(f"<{tag}>" in block for block in _SUREFIRE.findall(text))


def _gradle(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    before, now = (Source(text or "", "java") for text in (old, new))
    known = {line.strip() for line in before.code.split("\n")}
    within = set()
    for match in _GRADLE_TEST.finditer(now.bare):
        within |= set(range(now.line(match.start()), now.line(now.closing(match.end() - 1)) + 1))
    for number, line in enumerate(now.code.split("\n"), 1):
        found = _GRADLE.search(line)
        if found and line.strip() not in known and (number in within or re.search(r"\btest\b|ignoreFailures", line)):
            rule = HIDDEN if found[0] == "ignoreFailures" else SETTINGS
            yield Harm(
                rule, f"“{line.strip()}” changes which tests are run or how they are judged", file, number, line.strip()
            )
    if "useJUnitPlatform" in before.code and "useJUnitPlatform" not in now.code:
        yield Harm(
            SETTINGS, "useJUnitPlatform is gone: the tests are not found without it", file, 0, "useJUnitPlatform()"
        )


def _runner(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """The own settings file of a JavaScript runner, whatever it holds."""
    one, two = (normalized(Source(text or "", "javascript").code) for text in (old, new))
    if tidy(file).rpartition("/")[2].startswith("vite."):
        one, two = (text[text.find("test:{") :] if "test:{" in text else "" for text in (one, two))
    if one == two:
        return
    if old is None or not one:
        found = _NARROWS.search(new or "")
        if found:
            yield Harm(
                SETTINGS,
                f"new settings of the test runner hold “{found[0]}”",
                file,
                _line(new or "", found[0]),
                _quote(new or "", found[0]),
            )
        return
    lines = {line.strip() for line in old.split("\n")}
    number, line = next(
        ((n, each) for n, each in enumerate((new or "").split("\n"), 1) if each.strip() and each.strip() not in lines),
        (0, ""),
    )
    what = "are gone" if new is None else "have changed"
    yield Harm(SETTINGS, f"the settings of the test runner {what}", file, number, line.strip())


def _toml(text: str | None) -> dict[str, object]:
    try:
        return tomllib.loads(text or "")
    except (ValueError, RecursionError):
        return {}


def _sections(text: str | None) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text or "")
    except (configparser.Error, ValueError, AttributeError, TypeError):
        return {}
    return {name: {k: " ".join((v or "").split()) for k, v in parser.items(name)} for name in parser.sections()}


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix.rstrip("."): str(value)} if prefix and value is not None else {}
    return {k: v for name, each in value.items() for k, v in _flat(each, f"{prefix}{name}.").items()}


def _about_tests(tasks: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in tasks.items() if re.search(r"(^|[._-])(test|check|cov)", name)}


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _flags(value: object) -> dict[str, dict[str, object]]:
    entries = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return {str(_dict(entry).get("name", "")): _dict(entry) for entry in entries}


def _line(text: str, needle: str) -> int:
    return next((number for number, line in enumerate(text.split("\n"), 1) if needle in line), 0)


def _quote(text: str, needle: str) -> str:
    return next((line.strip() for line in text.split("\n") if needle in line), "")


_AUDITORS: tuple[tuple[re.Pattern[str], Auditor], ...] = (
    (re.compile(r"(^|/)pyproject\.toml$|(^|/)\.?pytest\.toml$"), _pyproject),
    (re.compile(r"(^|/)agentd/config\.toml$"), _agentd),
    (re.compile(r"(^|/)Cargo\.toml$|(^|/)\.cargo/config(\.toml)?$"), _cargo),
    (re.compile(r"(^|/)(\.?pytest\.ini|tox\.ini|setup\.cfg|\.coveragerc)$"), _ini),
    (re.compile(r"(^|/)package\.json$"), audit_package),
    (re.compile(r"(^|/)pom\.xml$"), _pom),
    (re.compile(r"(^|/)build\.gradle(\.kts)?$"), _gradle),
    (re.compile(r"(^|/)((GNU)?[Mm]akefile|[\w.-]+\.mk|\.?[Jj]ustfile)$"), audit_make),
    (
        re.compile(
            r"(^|/)((jest|vitest|vite|ava|karma|playwright|cypress|wdio|nyc|mocha)[\w.-]*\.(conf|config)[\w.-]*"
            r"|\.mocharc[\w.]*|\.nycrc[\w.]*|\.c8rc[\w.]*|cypress\.json|vitest\.workspace\.\w+)$"
        ),
        _runner,
    ),
    (
        re.compile(
            r"\.(sh|bash|zsh|bats|ps1|bat)$|(^|/)(Dockerfile|Jenkinsfile|noxfile\.py|Taskfile\.ya?ml|Rakefile)$"
            r"|(^|/)(\.github/(workflows|actions)|\.circleci|\.buildkite)/|(^|/)(\.gitlab-ci|\.travis|appveyor)\.ya?ml$"
            r"|(^|/)(azure|bitbucket)-pipelines[\w.-]*\.ya?ml$|(^|/)(bin|scripts?|ci|tools)/[\w-]+$|(^|/)(run-?_?tests?|test|check)$"
        ),
        audit_lines,
    ),
)
