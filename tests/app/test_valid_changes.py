"""Valid changes, generated with every text people could put into them, have no findings."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.families.change.documents import clarifications, proposal, tasks
from agentd.families.change.validation import validate_all, validate_change
from agentd.library import spec
from agentd.model.change import AffectedSpec, Clarifications, Proposal, Question, Spec, Task, Tasks
from tests.app.tree import Tree, a_spec, state
from tests.documents.hand_edits import nasty_lines, nasty_texts
from tests.documents.test_proposal import NASTY as PROPOSALS
from tests.documents.test_spec import NASTY as SPECS

NAMES = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=3, unique=True)


@st.composite
def changes(draw: st.DrawFn) -> tuple[Proposal, dict[str, Spec], Tasks, Clarifications]:
    """Documents that belong together: every spec is named, those that are removed last, every requirement has a task."""
    names = draw(NAMES)
    specs = {name: replace(draw(SPECS), id=name) for name in names}
    plan = draw(PROPOSALS)
    gone = draw(st.lists(st.from_regex(r"old-[a-z]{1,8}", fullmatch=True), max_size=2, unique=True))
    affected = tuple(AffectedSpec(name, tuple(names[:at])) for at, name in enumerate(names))
    affected += tuple(AffectedSpec(name, removed=True) for name in gone)
    plan = replace(plan, id="add-it", impact=replace(plan.impact, affected_specs=affected))
    refs = [f"{name}:{entry.id}" for name, found in specs.items() for entry in found.requirements]
    work = [
        Task("logic", number, draw(nasty_lines()), f"src/a{number}.py", "MODIFY", ref, draw(nasty_texts()))
        for number, ref in enumerate(refs, 1)
    ]
    asked = (Question("Topic", "What?", "That.", "Because."),)
    return plan, specs, Tasks("add-it", tuple(work)), Clarifications("add-it", "2026-01-01", asked)


@given(changes())
@settings(max_examples=60)
def test_a_valid_change_has_no_finding(change: tuple[Proposal, dict[str, Spec], Tasks, Clarifications]) -> None:
    plan, specs, work, asked = change
    with tempfile.TemporaryDirectory() as root:
        tree = Tree(Path(root))
        tree.library(*(a_spec(name) for name in proposal.removed_specs(proposal.render(plan))))
        folder = tree.root / "agentd" / "changes" / "add-it"
        (folder / "specs").mkdir(parents=True)
        texts = {
            "STATE.yaml": state("add-it"),
            "proposal.md": proposal.render(plan),
            "tasks.md": tasks.render(work),
            "clarifications.md": clarifications.render(asked),
            **{f"specs/{name}.md": spec.render(found) for name, found in specs.items()},
        }
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode("utf-8"))
        findings = validate_change(tree.project, "add-it").findings
        assert findings == validate_all(tree.project).findings
        linked = {name for name, text in texts.items() if "](" in text or "]:" in text}
        assert [found for found in findings if found.rule != "broken_reference" or not linked] == []
