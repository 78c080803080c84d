"""Settings that select tests, run them and judge them; versions and dependencies do not count."""

import configparser
import re
from collections.abc import Callable, Iterator

from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.makefile import audit_make
from agentd.proof.integrity.package_json import audit_package
from agentd.proof.integrity.paths import tidy
from agentd.proof.integrity.pipelines import audit_lines
from agentd.proof.integrity.rules import HIDDEN, SETTINGS, harm_at
from agentd.proof.integrity.source import Source, normalized
from agentd.proof.integrity.toml_settings import NARROWS, audit_agentd, audit_cargo, audit_pyproject, audit_table

_SECTIONS = regex(r"pytest|tool:pytest|coverage:|run$|report$|tox$|testenv")
_TOX_KEYS = ("commands", "ignore_", "envlist", "env_list")
_SUREFIRE = regex(r"<plugin>(?:(?!</plugin>).)*maven-(?:surefire|failsafe)-plugin(?:(?!</plugin>).)*</plugin>", re.S)
_MAVEN = regex(
    r"<((?:\w+\.)*(?:skipTests|skipITs|skip|testFailureIgnore|ignore|excludes|excludedGroups|groups))>\s*([^<]*?)\s*</\1>"
)
_GRADLE = regex(
    r"ignoreFailures|\benabled\s*=\s*false|excludeTestsMatching|includeTestsMatching|excludeTags|includeTags|onlyIf"
    r"|failOnNoDiscoveredTests|filter\s*\{|exclude\s*[(\s'\"]|maxRetries"
)
_GRADLE_TEST = regex(r"(?:^|\s)(?:tasks\.)?(?:named\(.test.[^)]*\)|withType[<(]\s*Test\b[^{]*|test|tasks\.test)\s*\{")


def audit_settings(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """What changed in how tests are selected, run or judged, for every kind of file that can say it."""
    path = tidy(file)
    for pattern, auditor in _AUDITORS:
        if pattern.search(path):
            yield from auditor(file, old or "", new or "")
            return


def _ini(file: str, old: str, new: str) -> Iterator[Harm]:
    before, now = _sections(old), _sections(new)
    for section in sorted(filter(_SECTIONS.match, {*before, *now})):
        one, two = before.get(section, {}), now.get(section, {})
        if tidy(file).rpartition("/")[2] == "tox.ini" and section.startswith(("tox", "testenv")):
            one, two = ({k: v for k, v in each.items() if k.startswith(_TOX_KEYS)} for each in (one, two))
        yield from audit_table(file, new, f"[{section}]", one, two)


def _sections(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError, AttributeError, TypeError):
        return {}
    return {name: {k: " ".join((v or "").split()) for k, v in parser.items(name)} for name in parser.sections()}


def _pom(file: str, old: str, new: str) -> Iterator[Harm]:
    plain = [re.sub(r"<!--.*?-->", "", text, flags=re.S) for text in (old, new)]
    before, now = (_MAVEN.findall(text) for text in plain)
    settings = [each for each in now if each not in before and each[1] != "false" and _about_tests(each[0], plain[1])]
    for tag, value in settings:
        rule = HIDDEN if "ailure" in tag else SETTINGS
        yield harm_at(file, new, f"<{tag}>", rule, f"{tag} is now {value or 'set'} in pom.xml")
    plugins = [{re.sub(r"\s|<version>.*?</version>", "", block) for block in _SUREFIRE.findall(text)} for text in plain]
    lost, fresh = plugins[0] - plugins[1], plugins[1] - plugins[0]
    narrowed = any(re.search("<(excludes?|includes?|groups|excludedGroups|test)>", block) for block in fresh)
    if not settings and ((lost and any("<configuration>" in each for each in lost | fresh)) or narrowed):
        message = "the settings of the plugin that runs the tests have changed"
        yield harm_at(file, new, "maven-surefire", SETTINGS, message)


def _about_tests(tag: str, text: str) -> bool:
    """Whether a setting is about tests: `skip` and `excludes` occur with other plugins too."""
    return bool(re.search("(?i)test|ITs", tag)) or any(f"<{tag}>" in block for block in _SUREFIRE.findall(text))


def _gradle(file: str, old: str, new: str) -> Iterator[Harm]:
    before, now = Source(old, "java"), Source(new, "java")
    known = {line.strip() for line in before.code.split("\n")}
    blocks = [(match.start(), now.closing(match.end() - 1)) for match in _GRADLE_TEST.finditer(now.bare)]
    within = {number for start, end in blocks for number in range(now.line(start), now.line(end) + 1)}
    for number, line in enumerate(now.code.split("\n"), 1):
        found = _GRADLE.search(line)
        if found and line.strip() not in known and (number in within or re.search(r"\btest\b|ignoreFailures", line)):
            rule = HIDDEN if found[0] == "ignoreFailures" else SETTINGS
            message = f"“{line.strip()}” changes which tests are run or how they are judged"
            yield Harm(rule, message, file, number, line.strip())
    if "useJUnitPlatform" in before.code and "useJUnitPlatform" not in now.code:
        message = "useJUnitPlatform is gone: the tests are not found without it"
        yield Harm(SETTINGS, message, file, 0, "useJUnitPlatform()")


def _runner(file: str, old: str, new: str) -> Iterator[Harm]:
    """The configuration file of a JavaScript runner, whatever it holds."""
    one, two = (normalized(Source(text, "javascript").code) for text in (old, new))
    if tidy(file).rpartition("/")[2].startswith("vite."):
        one, two = (text[text.find("test:{") :] if "test:{" in text else "" for text in (one, two))
    if one == two:
        return
    if one:
        known = {line.strip() for line in (*old.split("\n"), "")}
        changed = ((at, line.strip()) for at, line in enumerate(new.split("\n"), 1) if line.strip() not in known)
        what = "have changed" if new else "are gone"
        yield Harm(SETTINGS, f"the settings of the test runner {what}", file, *next(changed, (0, "")))
    elif found := NARROWS.search(new):
        yield harm_at(file, new, found[0], SETTINGS, f"new settings of the test runner hold “{found[0]}”")


Auditor = Callable[[str, str, str], Iterator[Harm]]
_AUDITORS: tuple[tuple[re.Pattern[str], Auditor], ...] = (
    (regex(r"(^|/)pyproject\.toml$|(^|/)\.?pytest\.toml$"), audit_pyproject),
    (regex(r"(^|/)agentd/config\.toml$"), audit_agentd),
    (regex(r"(^|/)Cargo\.toml$|(^|/)\.cargo/config(\.toml)?$"), audit_cargo),
    (regex(r"(^|/)(\.?pytest\.ini|tox\.ini|setup\.cfg|\.coveragerc)$"), _ini),
    (regex(r"(^|/)package\.json$"), audit_package),
    (regex(r"(^|/)pom\.xml$"), _pom),
    (regex(r"(^|/)build\.gradle(\.kts)?$"), _gradle),
    (regex(r"(^|/)((GNU)?[Mm]akefile|[\w.-]+\.mk|\.?[Jj]ustfile)$"), audit_make),
    (
        regex(
            r"(^|/)((jest|vitest|vite|ava|karma|playwright|cypress|wdio|nyc|mocha)[\w.-]*\.(conf|config)[\w.-]*"
            r"|\.mocharc[\w.]*|\.nycrc[\w.]*|\.c8rc[\w.]*|cypress\.json|vitest\.workspace\.\w+)$"
        ),
        _runner,
    ),
    (
        regex(
            r"\.(sh|bash|zsh|bats|ps1|bat)$|(^|/)(Dockerfile|Jenkinsfile|noxfile\.py|Taskfile\.ya?ml|Rakefile)$"
            r"|(^|/)(\.github/(workflows|actions)|\.circleci|\.buildkite)/|(^|/)(\.gitlab-ci|\.travis|appveyor)\.ya?ml$"
            r"|(^|/)(azure|bitbucket)-pipelines[\w.-]*\.ya?ml$|(^|/)(bin|scripts?|ci|tools)/[\w-]+$|(^|/)(run-?_?tests?|test|check)$"
        ),
        audit_lines,
    ),
)
