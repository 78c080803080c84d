"""The checks between documents: each finds what is wrong at its line, and nothing where nothing is."""

from dataclasses import replace

import pytest

from agentd.library.claims import Claim, Stake, changed, claims, contested, named, no_requirement_is_claimed_twice
from agentd.library.coverage import every_requirement_has_a_task
from agentd.library.references import (
    every_affected_spec_is_there,
    every_link_leads_somewhere,
    every_removed_spec_can_go,
    every_spec_is_named,
    every_spec_ref_leads_to_a_requirement,
)
from agentd.model.change import AffectedSpec
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from tests.checks.documents import a_proposal, a_spec, some_tasks

RULES = Rules()
EVERYTHING = frozenset({"R1", "R2", "R3"})


def where(findings: list[Finding]) -> list[tuple[str, str, int, str]]:
    assert all(finding.fix for finding in findings)
    return [(finding.rule, finding.file, finding.line, finding.severity) for finding in findings]


def test_a_requirement_without_a_task_is_found_where_it_stands() -> None:
    found = list(
        every_requirement_has_a_task({"auth": a_spec()}, some_tasks("auth:R1"), RULES, lambda name: EVERYTHING)
    )
    assert where(found) == [("uncovered_requirement", "specs/auth.md", 20, "Medium")]
    assert "auth:R2" in found[0].fix


def test_requirements_that_the_change_only_repeats_need_no_task() -> None:
    found = every_requirement_has_a_task({"auth": a_spec()}, some_tasks("auth:R1"), RULES, lambda name: frozenset())
    assert not list(found)


@pytest.mark.parametrize("ref", ["auth:R1", "specs/auth.md#R1", "./specs/auth.md#R1", " auth : R1 "])
def test_a_spec_ref_may_be_written_in_several_ways(ref: str) -> None:
    assert named(ref) == ("auth", "R1")


@pytest.mark.requirement(115)
def test_a_spec_ref_must_name_a_spec_and_a_requirement_that_exist() -> None:
    tasks = some_tasks("auth:R1", "oauth:R1", "auth:R7")
    found = list(every_spec_ref_leads_to_a_requirement(tasks, {"auth": ["R1", "R2"]}.get, ["auth"], RULES))
    assert where(found) == [("unknown_spec", "tasks.md", 10, "High"), ("unknown_requirement", "tasks.md", 15, "High")]
    assert "auth:R1" in found[0].fix
    assert "R1, R2" in found[1].fix


def test_an_affected_spec_without_a_file_is_found_on_the_line_that_names_it() -> None:
    plan = a_proposal("auth", AffectedSpec("login", ("auth", "users", "gone")))
    found = list(
        every_affected_spec_is_there(plan, ["auth"], lambda name: name == "users", lambda word: len(word), RULES)
    )
    assert where(found) == [
        ("missing_spec", "proposal.md", len("login"), "Medium"),
        ("broken_reference", "proposal.md", len("gone"), "Medium"),
    ]


def test_a_removed_spec_needs_no_file() -> None:
    plan = a_proposal("auth", AffectedSpec("login", removed=True))
    assert not list(every_affected_spec_is_there(plan, ["auth"], lambda name: False, lambda word: 1, RULES))


def test_a_removed_spec_is_in_the_library_and_not_in_the_change() -> None:
    removed = {"fine": 3, "written": 4, "gone": 5}
    found = list(every_removed_spec_can_go(removed, ["written"], lambda name: name != "gone", RULES))
    assert where(found) == [
        ("invalid_value", "proposal.md", 4, "High"),
        ("broken_reference", "proposal.md", 5, "Medium"),
    ]
    assert "'written' is removed and written at the same time" in found[0].message
    assert "'gone' is to be removed, and is not in the library" in found[1].message


def test_a_spec_that_nobody_names_is_found() -> None:
    specs = {"auth": a_spec(), "login": a_spec("login"), "extra": a_spec("extra")}
    found = list(every_spec_is_named(a_proposal("auth"), some_tasks("login:R1"), specs, RULES))
    assert where(found) == [("orphan_spec", "specs/extra.md", 1, "Low")]
    assert len(list(every_spec_is_named(a_proposal("auth"), None, specs, RULES))) == 2


@pytest.mark.requirement(112)
def test_a_broken_link_is_found_on_its_line() -> None:
    links = [(3, "specs/auth.md"), (9, "specs/gone.md#x")]
    found = list(
        every_link_leads_somewhere(
            "proposal.md", links, lambda file, target: "there is none" if "gone" in target else "", RULES
        )
    )
    assert where(found) == [("broken_reference", "proposal.md", 9, "Medium")]
    assert "specs/gone.md#x" in found[0].message


def test_only_new_and_different_requirements_count_as_changed() -> None:
    before = a_spec("auth", "R1", "R2")
    moved = replace(before.requirements[0], line=99)
    other = replace(before.requirements[1], description="It SHALL do more.")
    after = replace(before, requirements=(moved, other, *a_spec("auth", "R3").requirements))
    assert changed(after, before) == {"R2", "R3"}
    seen = replace(before, scenarios=(replace(before.scenarios[0], requirement="R1"),))
    assert changed(seen, before) == {"R1"}
    assert changed(after, None) == {"R1", "R2", "R3"}


def test_a_change_claims_what_its_specs_have_and_its_tasks_name() -> None:
    found = list(claims({"auth": a_spec()}, some_tasks("auth:R2", "users:R4", "nonsense")))
    assert found == [
        Claim("auth", "R1", "specs/auth.md", 10, False),
        Claim("auth", "R2", "specs/auth.md", 20, True),
        Claim("users", "R4", "tasks.md", 10, True),
    ]


def test_two_changes_that_claim_one_requirement_are_warned_of_each_other() -> None:
    stakes = [Stake(name, tuple(claims({"auth": a_spec()}, None))) for name in ("one", "two")]
    claimants = contested(stakes, lambda change, spec: frozenset({"R2"}))
    assert claimants == {("auth", "R2"): ["one", "two"]}
    for stake, other in zip(stakes, ("two", "one"), strict=True):
        found = list(no_requirement_is_claimed_twice(stake, claimants, RULES))
        assert where(found) == [("claimed_twice", "specs/auth.md", 20, "Medium")]
        assert other in found[0].message


def test_what_a_change_only_repeats_is_no_claim_unless_a_task_names_it() -> None:
    changes = {"one": frozenset({"R1"}), "two": frozenset[str]()}
    repeated = [Stake(name, tuple(claims({"auth": a_spec()}, None))) for name in changes]
    assert contested(repeated, lambda change, spec: changes[change]) == {}
    tasked = [repeated[0], Stake("two", tuple(claims({"auth": a_spec()}, some_tasks("auth:R1"))))]
    assert contested(tasked, lambda change, spec: changes[change]) == {("auth", "R1"): ["one", "two"]}


def test_a_spec_that_one_change_removes_is_contested_by_whoever_changes_any_of_it() -> None:
    """The one adds R3 and repeats what the other removes; the third only repeats all of it."""
    changes = {"adds": frozenset({"R3"}), "removes": frozenset[str](), "repeats": frozenset[str]()}
    stakes = [
        Stake("adds", tuple(claims({"auth": a_spec("auth", "R1", "R3")}, None))),
        Stake("removes", tuple(claims({}, some_tasks("auth:R1"), [("auth", 7)]))),
        Stake("repeats", tuple(claims({"auth": a_spec()}, None))),
    ]
    claimants = contested(stakes, lambda change, spec: changes[change])
    assert claimants == {("auth", ""): ["adds", "removes"]}
    found = [list(no_requirement_is_claimed_twice(stake, claimants, RULES)) for stake in stakes]
    assert where(found[0]) == [("claimed_twice", "specs/auth.md", 10, "Medium")]
    assert where(found[1]) == [("claimed_twice", "proposal.md", 7, "Medium")]
    assert found[1][0].message == "auth, which one of these changes removes, is claimed by adds too"
    assert found[2] == []


def test_a_removal_that_nobody_else_touches_is_not_contested() -> None:
    mine = Stake("removes", tuple(claims({}, some_tasks("auth:R1", "auth:R2"), [("auth", 7)])))
    other = Stake("other", tuple(claims({"users": a_spec("users")}, some_tasks("users:R1"))))
    assert contested([mine, other], lambda change, spec: EVERYTHING) == {}


def test_a_thousand_claimants_are_told_in_one_short_line() -> None:
    stakes = [Stake(f"c-{number:04}", (Claim("auth", "R1", "specs/auth.md", 1, True),)) for number in range(1000)]
    claimants = contested(stakes, lambda change, spec: frozenset())
    found = [next(no_requirement_is_claimed_twice(stake, claimants, RULES)) for stake in stakes]
    assert found[0].message == "auth:R1 is claimed by c-0001, c-0002, c-0003 and 996 more too"
    assert found[999].message == "auth:R1 is claimed by c-0000, c-0001, c-0002 and 996 more too"


def test_the_severity_is_the_one_a_person_chose() -> None:
    rules = Rules(severity_map={"uncovered_requirement": "High"})
    found = every_requirement_has_a_task({"auth": a_spec()}, some_tasks(), rules, lambda name: EVERYTHING)
    assert {finding.severity for finding in found} == {"High"}
