"""A project on disk with valid documents, to be spoilt one way at a time."""

from pathlib import Path

from agentd.app import open_project
from agentd.families.change.documents import proposal, tasks
from agentd.library import spec
from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec, Task, Tasks
from agentd.model.finding import Finding
from agentd.runs.project import Project

NOW = "2026-01-19T10:00:00Z"


def a_spec(name: str = "auth", *ids: str) -> Spec:
    return Spec(
        name,
        f"About {name}",
        "What the thing is about.",
        tuple(Requirement(word, f"Title {word}", f"The system SHALL do {word}.") for word in ids or ("R1", "R2")),
        (Scenario("It is asked for", "a person asks", "it is done"),),
        created_at=NOW,
        updated_at=NOW,
    )


def a_proposal(change: str, *specs: str, removed: tuple[str, ...] = ()) -> Proposal:
    affected = tuple(AffectedSpec(name, removed=name in removed) for name in (*specs, *removed))
    impact = Impact("minor", 1, affected_specs=affected, affected_code=("src/a.py",))
    return Proposal(change, "A summary of it", "A reason for it", ("One thing",), impact, NOW, NOW, "planner")


def some_tasks(change: str, *refs: str) -> Tasks:
    found = tuple(
        Task("logic", n, "Do it", f"src/a{n}.py", "MODIFY", ref, "Do it well") for n, ref in enumerate(refs, 1)
    )
    return Tasks(change, found, NOW, NOW)


def state(change: str, phase: str = "challenged", more: str = "") -> str:
    return (
        f'change_id: {change}\nphase: {phase}\nschema_version: "2.0"\ncreated_at: {NOW}\nupdated_at: {NOW}\n'
        f"run:\n  workflow: change\n  step: ready\n  saves: 3\n{more}"
    )


class Tree:
    """The project's folder; every text written is where a person would find it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "agentd" / "changes").mkdir(parents=True)

    @property
    def project(self) -> Project:
        return open_project(self.root)

    def change(self, name: str = "add-oauth", spec_name: str = "auth", *ids: str, phase: str = "challenged") -> Path:
        """A valid change with one spec."""
        folder = self.root / "agentd" / "changes" / name
        (folder / "specs").mkdir(parents=True)
        wanted = a_spec(spec_name, *ids)
        (folder / "STATE.yaml").write_text(state(name, phase))
        (folder / "proposal.md").write_text(proposal.render(a_proposal(name, spec_name)))
        (folder / "specs" / f"{spec_name}.md").write_text(spec.render(wanted))
        refs = (f"{spec_name}:{entry.id}" for entry in wanted.requirements)
        (folder / "tasks.md").write_text(tasks.render(some_tasks(name, *refs)))
        return folder

    def library(self, *specs: Spec) -> Path:
        folder = self.root / "agentd" / "specs"
        folder.mkdir(exist_ok=True)
        for entry in specs:
            (folder / f"{entry.id}.md").write_text(spec.render(entry))
        return folder

    def removal(self, name: str, *removed: str, refs: tuple[str, ...] = ("none",)) -> Path:
        """A valid change that only removes specs of the library."""
        folder = self.root / "agentd" / "changes" / name
        folder.mkdir(parents=True)
        (folder / "STATE.yaml").write_text(state(name))
        (folder / "proposal.md").write_text(proposal.render(a_proposal(name, removed=removed)))
        (folder / "tasks.md").write_text(tasks.render(some_tasks(name, *refs)))
        return folder

    def config(self, text: str) -> None:
        (self.root / "agentd" / "config.toml").write_text(text)


def spoil(path: Path, old: str, new: str) -> int:
    """A hand edit: what is replaced must be there; gives its line."""
    text = path.read_text(encoding="utf-8")
    assert old in text, text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def rules(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    """Each finding as its file's name and its rule; every one of them must be complete."""
    for finding in findings:
        assert finding.line >= 1
        assert finding.severity in ("High", "Medium", "Low")
        assert finding.fix
        assert finding.message
        assert finding.file
    return [(finding.file.rpartition("/")[2], finding.rule) for finding in findings]
