"""A project with a spec library and complete changes, made in a moment: what the tests of archiving share."""

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentd.families.change import ACTIVE, ARCHIVE
from agentd.families.change.documents import proposal
from agentd.families.change.specs import removed_in
from agentd.library import snapshot, spec
from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec
from tests.sandbox import Sandbox

NOW = "2026-01-19T10:00:00Z"
STATE = """change_id: {name}
phase: {phase}
schema_version: "2.0"
created_at: {now}
updated_at: {updated}
description: What {name} is for
run:
  workflow: change
  step: merge
  saves: 13
last_action: judge  # a person's note
verdict: APPROVED
"""


class Library(Sandbox):
    """A project without agents. `complete` makes a change that only waits to be archived."""

    @property
    def specs(self) -> Path:
        return self.root / snapshot.LIBRARY

    def put(self, name: str, text: str | bytes) -> Path:
        """A spec of the library as somebody wrote it."""
        path = self.specs / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def get(self, name: str) -> str:
        return (self.specs / f"{name}.md").read_bytes().decode()

    def complete(
        self,
        change: str,
        specs: Mapping[str, str],
        removed: Sequence[str] = (),
        depends: Mapping[str, Sequence[str]] | None = None,
        phase: str = "complete",
        updated: str = NOW,
    ) -> Path:
        """A change whose specs are these, begun with the library as it is now; while it is proposed, it may touch any spec."""
        folder = self.root / ACTIVE / change
        (folder / "specs").mkdir(parents=True)
        affected = [AffectedSpec(name.replace("/", "-"), tuple((depends or {}).get(name, ()))) for name in specs]
        affected += [AffectedSpec(name, removed=True) for name in removed]
        impact = Impact("minor", 1, affected_specs=tuple(affected))
        text = proposal.render(
            Proposal(change, "A small change", "Somebody asked for it", ("One thing",), impact, NOW, NOW)
        )
        (folder / "proposal.md").write_text(text, encoding="utf-8")
        for name, page in specs.items():
            path = folder / "specs" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(page.encode())
        snapshot.begin(folder, self.root)
        if phase != "proposed":
            snapshot.prune(folder, lambda: removed_in(folder))
        (folder / "STATE.yaml").write_text(STATE.format(name=change, phase=phase, now=NOW, updated=updated))
        (folder / "journal.jsonl").write_text('{"n":13,"at":"' + NOW + '","event":"end","phase":"complete"}\n')
        return folder

    def tree(self) -> dict[str, str]:
        """Every file of agentd's by its path and bytes, without the diaries and without locks."""
        return {
            path.relative_to(self.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.root / "agentd").rglob("*"))
            if path.is_file() and path.name not in ("journal.jsonl", ".lock")
        }

    def archived(self, change: str) -> Path:
        return self.root / ARCHIVE / change

    def record(self, change: str) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.archived(change) / "archive.json").read_bytes())
        return found


def make_library(folder: Path, git: bool = True) -> Library:
    root = folder / "repo"
    (root / "agentd").mkdir(parents=True)
    (root / "agentd" / "config.toml").write_text("")
    if git:
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return Library(root)


def marked_with(text: str, settled: str) -> str:
    """A marked copy in which the one conflict is settled so."""
    before, _, rest = text.partition("<<<<<<< theirs")
    return before + settled + rest.partition(">>>>>>> ours\n")[2]


def a_spec(name: str = "report", **texts: str) -> str:
    """A valid spec with a requirement and a scenario for each of these; `R1="…"` is what R1 says."""
    texts = texts or {"R1": "It prints a report."}
    return spec.render(
        Spec(
            name,
            f"The {name}",
            "What it is all about.",
            tuple(Requirement(one, f"Title of {one}", text) for one, text in texts.items()),
            tuple(Scenario(f"Asked for {one}", f"somebody asks for {one}", f"{one} is done") for one in texts),
            created_at=NOW,
            updated_at=NOW,
        )
    )


ONE = a_spec(R1="It prints a report.", R2="It counts words.")
