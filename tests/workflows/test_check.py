"""An unsound table is refused with the step named; every built-in is sound, and stops being so when it is damaged."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentd.errors import Unsound
from agentd.model.workflow import Edge, Step, Workflow, is_check
from agentd.workflows.check import Known, edges, find_problems, makes, prove
from agentd.workflows.load import parse
from tests.built_in import BUILT_IN
from tests.workflows.tables import built_in, built_ins, problems, table

OVER = "over: {phase: b, end: over}"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_is_sound(name: str) -> None:
    workflow = built_in(name)
    assert prove(workflow, built_ins()) is workflow


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        # shape
        ("first: {phase: a, do: x}", "step 'first': there is no way out"),
        ("first: {phase: a, do: x, next: {done: over}}\nover: {phase: b, end: over, next: {more: first}}", "'over': an end has no next"),
        ("first: {phase: a, do: x, next: {done: over}}\nover: {phase: b, needs: [y], end: over}", "'over': an end has no gate"),
        (f"first: {{phase: a, do: x, next: {{failed: over, done: over}}}}\n{OVER}", "'first': 'failed' cannot be the way forward"),
        (f"first: {{phase: a, do: x, tools: [read_file], next: {{done: over}}}}\n{OVER}", "'first': only an agent step has tools"),
        (f"first: {{phase: a, do: x, next: {{a.b: over}}}}\n{OVER}", "'first': 'a.b' is not a plain word"),
        (f"first: {{phase: a, do: x, next: {{done: ../up}}}}\n../up: {{phase: a, do: x, next: {{done: over}}}}\n{OVER}", "'../up' is not a plain"),
        # people
        (f"first: {{phase: a, do: x, next: {{done: {{to: over, rewind: true}}}}}}\n{OVER}", "'first': the rewind on 'done' needs at_most"),
        (f"first: {{phase: a, do: x, next: {{done: {{to: over, waive: true}}}}}}\n{OVER}", "'first': only a person can waive"),
        (f"first: {{phase: a, do: x, next: {{done: q}}}}\nq: {{phase: a, when: [w], ask: x, next: {{a: over}}}}\n{OVER}", "'q': a question cannot be skipped"),
        (f"first: {{phase: a, ask: x, next: {{a: over, b: '@again'}}}}\n{OVER}", "'first': as a start it has no step before it"),
        (f"first: {{phase: a, do: x, next: {{done: q}}}}\nq: {{phase: a, ask: x, next: {{a: '@past', b: over}}}}\n{OVER}", "'q': '@past' cannot be the way forward"),
        # targets
        (f"first: {{phase: a, do: x, next: {{done: ovre}}}}\n{OVER}", "'first': 'done' leads to 'ovre', which is not a step"),
        (f"first: {{phase: a, do: x, next: {{done: over, no: {{to: first, at_most: 1, then: ovre}}}}}}\n{OVER}", "'first': 'no' leads to 'ovre'"),
        (f"first: {{phase: a, do: x, next: {{done: '@phase', b: over}}}}\n{OVER}", "'first': the way forward names a step, not @phase"),
        # ways
        (f"first: {{phase: a, do: x, next: {{done: over}}}}\nalone: {{phase: a, do: x, next: {{done: over}}}}\n{OVER}", "'alone' cannot be reached"),
        (f"first: {{phase: a, do: x, next: {{done: over, no: q}}}}\nq: {{phase: a, ask: x, next: {{a: r}}}}\nr: {{phase: a, ask: x, next: {{a: q}}}}\n{OVER}", "'q' can never come to an end"),
        # loops
        (f"first: {{phase: a, do: x, next: {{done: over, no: first}}}}\n{OVER}", "'first': the loop first → first has neither at_most nor a person"),
        (f"first: {{phase: a, do: x, next: {{done: b}}}}\nb: {{phase: a, do: x, next: {{done: over, no: first}}}}\n{OVER}", "has neither at_most nor a person"),
        (f"first: {{phase: a, do: x, next: {{done: over, no: {{to: over, at_most: 2, then: '@again'}}}}}}\n{OVER}", "the loop first → first"),
        (f"first: {{phase: a, do: x, next: {{done: b}}}}\nb: {{phase: a, do: x, next: {{done: over, no: '@phase'}}}}\n{OVER}", "has neither at_most nor"),
        # needs
        (f"first: {{phase: a, needs: [text.md], do: x, next: {{done: over}}}}\n{OVER}", "'first' needs text.md, which no step produces"),
        (f"first: {{phase: a, needs: [text.md], do: x, next: {{done: b}}}}\nb: {{phase: a, do: x, produces: [text.md], next: {{done: over}}}}\n{OVER}", "'first' needs text.md, which is not produced before it"),
        (f"first: {{phase: a, needs: [t/a.md], do: x, produces: ['t/*.txt'], next: {{done: over}}}}\n{OVER}", "'first' needs t/a.md, which no step"),
    ],
)  # fmt: skip
def test_an_unsound_table_is_refused_with_the_step_named(steps: str, problem: str) -> None:
    workflow = table(steps)
    assert any(problem in what for what in problems(workflow)), problems(workflow)
    with pytest.raises(Unsound, match=r"^small\.yaml:\d+: "):
        prove(workflow)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("starts: {full: frist}", "start 'full' leads to 'frist', which is not a step"),
        ("starts: {}", "a workflow needs a start"),
        ("starts: {full: first}\ncommands: {go: [c]}", "command 'go' works in phase 'c', which no step has"),
        ("starts: {full: first}\ndefaults: {done: over}", "defaults: 'done' is not one of failed, interrupted"),
        (
            "starts: {full: first}\ndefaults: {failed: ovre}",
            "step 'first': 'failed' leads to 'ovre', which is not a step",
        ),
        ("starts: {full: first}\ndefaults: {failed: '@again'}", "step 'first': the loop first → first has neither"),
        ("starts: {full: first}\ndefaults: {failed: {to: over, rewind: true}}", "the rewind on 'failed' needs at_most"),
    ],
)
def test_an_unsound_header_is_refused(header: str, problem: str) -> None:
    steps = f"first: {{phase: a, do: x, next: {{done: over}}}}\n{OVER}"
    assert problem in "\n".join(problems(table(steps, f"name: small\n{header}\n")))


def test_a_table_without_steps_is_refused() -> None:
    assert "a workflow needs at least one step" in problems(
        parse("name: a\nstarts: {full: b}\nsteps: {}\n", "small.yaml")
    )


def test_a_question_that_only_leads_back_to_one_of_its_askers_can_never_end() -> None:
    workflow = table(f"""
        first: {{phase: a, do: x, next: {{done: over, no: q, bad: stuck}}}}
        stuck: {{phase: a, do: x, next: {{done: q}}}}
        q: {{phase: a, ask: x, next: {{retry: "@again"}}}}
        {OVER}
    """)
    assert problems(workflow) == [
        "step 'q' can never come to an end when 'stuck' asks",
        "step 'stuck' can never come to an end",
    ]


def test_every_problem_of_a_kind_is_told_with_its_line() -> None:
    with pytest.raises(Unsound) as caught:
        prove(table(f"first: {{phase: a, do: x, next: {{done: b, no: c}}}}\n{OVER}"))
    assert caught.value.message.splitlines() == [
        "small.yaml:4: step 'first': 'done' leads to 'b', which is not a step",
        "small.yaml:4: step 'first': 'no' leads to 'c', which is not a step",
    ]
    assert caught.value.fix.endswith("agentd workflow check small.yaml")


CHILD = """\
name: part
of: parts
starts: {full: work}
steps:
  work: {phase: a, needs: [text.md], agent: worker, next: {done: good, gone: bad}}
  good: {phase: a, end: good}
  bad: {phase: a, end: bad}
"""
PARENT = """
    first: {{phase: a, do: x, produces: [{made}], next: {{done: all}}}}
    all: {{phase: a, each: {child}, next: {{{words}}}}}
    over: {{phase: b, end: over}}
"""


@pytest.mark.parametrize(
    ("made", "child", "words", "problem"),
    [
        ("text.md", "part", "good: over, bad: over", ""),
        ("'*.md'", "part", "good: over, bad: over", ""),
        ("text.md", "prat", "good: over, bad: over", "step 'all': there is no workflow 'prat' to run for each item"),
        ("text.md", "part", "good: over", "step 'all': part may end with 'bad', which has no edge here"),
        ("text.md", "part", "great: over, good: over, bad: over", "step 'all': part never ends with 'great', the way forward"),
        ("other.md", "part", "good: over, bad: over", "step 'all': part.work needs text.md, which nobody produces"),
        ("text.md", "change", "archived: over, rejected: over", "step 'all': change does not say what it is a cycle 'of'"),
    ],
)  # fmt: skip
def test_a_child_has_to_fit_its_parent(made: str, child: str, words: str, problem: str) -> None:
    workflow = table(PARENT.format(made=made, child=child, words=words))
    children = {"part": parse(CHILD, "part.yaml"), "change": built_in("change")}
    assert [what for _, what in find_problems(workflow, children, None)] == [problem][: bool(problem)]


def test_a_table_may_use_only_names_that_can_be_performed() -> None:
    known = Known(checks=["w", "n"], actions={"x": ("done",)}, sources=["parts"])
    found = {}
    for when, needs, do in (("w", "n", "x"), ("v", "n", "x"), ("w", "m", "x"), ("w", "n", "y")):
        workflow = table(
            f"first: {{phase: a, when: [{when}], needs: [{needs}], do: {do}, next: {{done: over}}}}\n{OVER}"
        )
        found[when, needs, do] = [what for _, what in find_problems(workflow, {}, known)]
    assert found == {
        ("w", "n", "x"): [],
        ("v", "n", "x"): ["step 'first': unknown check 'v' (known: n, w)"],
        ("w", "m", "x"): ["step 'first': unknown check 'm' (known: n, w)"],
        ("w", "n", "y"): ["step 'first': unknown action 'y' (known: x)"],
    }
    child = parse(CHILD.replace("of: parts", "of: bits"), "part.yaml")
    assert [what for _, what in find_problems(child, {}, known)] == ["'of: bits' is not known (known: parts)"]


# The built-ins, damaged. Each damage is done at every place where it can be.


def changed(workflow: Workflow, step: Step, **values: object) -> Workflow:
    return replace(workflow, steps={**workflow.steps, step.name: replace(step, **values)})  # type: ignore[arg-type]


def every_edge() -> Iterator[tuple[Workflow, Step, str, Edge]]:
    for workflow in built_ins().values():
        for step in workflow.steps.values():
            for word, edge in edges(workflow, step):
                yield workflow, step, word, edge


def named(workflow: Workflow, step: Step) -> bool:
    found = problems(workflow)
    return bool(found) and any(f"'{step.name}'" in what or f" {step.name} " in f" {what} " for what in found)


def test_a_built_in_loop_without_its_limit_is_refused() -> None:
    tried = 0
    for workflow, step, word, edge in every_edge():
        if edge.at_most is not None and edge.then is not None:
            tried += 1
            free = {word: replace(edge, at_most=None, then=None), "otherwise": Edge(edge.then)}
            found = problems(changed(workflow, step, next={**step.next, **free}))
            reason = (
                f"the rewind on '{word}' needs at_most" if edge.rewind else "has neither at_most nor a person in it"
            )
            assert any(step.name in what and reason in what for what in found), f"{workflow.name}: {step.name}.{word}"
    assert tried > 60


def test_a_built_in_edge_to_nowhere_is_refused() -> None:
    tried = 0
    for workflow, step, word, edge in every_edge():
        for lost in (replace(edge, to="nowhere"), replace(edge, at_most=1, then="nowhere")):
            tried += 1
            broken = changed(workflow, step, next={**step.next, word: lost})
            assert f"step '{step.name}': '{word}' leads to 'nowhere', which is not a step" in problems(broken)
    assert tried > 400


def test_a_built_in_without_one_of_its_steps_is_refused() -> None:
    for workflow in built_ins().values():
        for gone in workflow.steps:
            left = {name: step for name, step in workflow.steps.items() if name != gone}
            assert problems(replace(workflow, steps=left)), f"{workflow.name} without {gone}"


def test_a_built_in_gate_that_nobody_can_open_is_refused() -> None:
    tried = 0
    for workflow in built_ins().values():
        for step in workflow.steps.values():
            for need in step.needs:
                if is_check(need) or workflow.of:
                    continue
                tried += 1
                idle = {name: replace(other, produces=()) if makes(other, need) else other for name, other in workflow.steps.items()}  # fmt: skip
                assert f"step '{step.name}' needs {need}, which no step produces" in problems(
                    replace(workflow, steps=idle)
                )
    assert tried > 30


def test_a_built_in_that_waives_or_rewinds_without_a_person_is_refused() -> None:
    for workflow, step, word, edge in every_edge():
        if step.kind != "ask":
            for flag in (replace(edge, waive=True), replace(edge, rewind=True, at_most=None, then=None)):
                assert named(changed(workflow, step, next={**step.next, word: flag}), step)


def test_a_built_in_that_forgets_a_word_of_its_children_is_refused() -> None:
    for workflow in built_ins().values():
        for step in workflow.steps.values():
            for word in list(step.next)[1:] if step.kind == "each" else ():
                misheard = {"otherwise" if key == word else key: edge for key, edge in step.next.items()}
                deaf = f"step '{step.name}': {step.what} may end with '{word}', which has no edge here"
                assert deaf in problems(changed(workflow, step, next=misheard)), f"{workflow.name}: {step.name}.{word}"


def found_in(steps: str, known: Known | None = None, starts: str = "full: first") -> list[str]:
    """What is wrong with a table of these steps."""
    text = f"name: mine\nstarts: {{{starts}}}\nsteps:\n" + "".join(f"  {line}\n" for line in steps.splitlines())
    return [what for _, what in find_problems(parse(text, "mine.yaml"), {}, known)]


@pytest.mark.parametrize("name", ["../x.md", "a/../../b.md", "/etc/hostname", "~/x.md", "a\\\\b.md"])
def test_an_artifact_stays_in_the_runs_folder(name: str) -> None:
    steps = f'first: {{phase: a, agent: x, produces: ["{name}"], next: {{done: over}}}}\n{OVER}'
    assert any("leads out of the run's folder" in what for what in found_in(steps))


def test_what_is_produced_cannot_be_called_like_a_check() -> None:
    steps = f"first: {{phase: a, agent: x, produces: [readme], next: {{done: over}}}}\n{OVER}"
    assert found_in(steps) == ["step 'first': 'readme' is a check's name; an artifact has a dot or a slash"]


def test_every_start_has_what_its_steps_need() -> None:
    steps = (
        "first: {phase: a, agent: x, produces: [x.md], next: {done: second}}\n"
        f"second: {{phase: b, agent: x, needs: [x.md], next: {{done: over}}}}\n{OVER}"
    )
    assert found_in(steps) == []
    assert found_in(steps, starts="full: first, lean: second") == [
        "step 'second' needs x.md, which is not produced before it when a run starts as lean"
    ]


def test_a_table_has_a_way_on_for_every_outcome_of_an_action_and_for_no_other() -> None:
    known = Known((), {"go": ("done", "late")}, ())
    steps = f"first: {{phase: a, do: go, next: {{done: over, red: over}}}}\n{OVER}"
    assert found_in(steps, known) == [
        "step 'first': go may end with 'late', which has no edge here",
        "step 'first': go never ends with 'red'",
    ]
