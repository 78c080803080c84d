"""The library as it was when a change began is kept, follows planning, and survives being killed."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from agentd.errors import Corrupt
from agentd.families.change.specs import removed_in
from agentd.library import snapshot
from tests.plan.plans import plan_of
from tests.sandbox import CHANGE, IDEA, NEVER, Sandbox, make_sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = make_sandbox(tmp_path)
    specs = made.root / "agentd" / "specs"
    specs.mkdir()
    (specs / "top-words.md").write_bytes("# Top wörds\r\n".encode())
    (specs / "other.md").write_bytes(b"# Other \xff\n")
    (specs / "_draft.md").write_text("draft")
    (specs / "deep").mkdir()
    (specs / "deep" / "one.md").write_text("deep")
    return made


def stored(sandbox: Sandbox) -> dict[str, object]:
    found: dict[str, object] = json.loads((sandbox.folder() / "base.json").read_bytes())
    return found


def test_the_whole_library_is_kept_when_a_change_begins(sandbox: Sandbox) -> None:
    sandbox.script(propose={"outcome": "nonsense", "say": "x"})
    sandbox.plan()
    assert sandbox.state()["phase"] == "proposed"
    data = stored(sandbox)
    text = "# Top wörds\r\n"
    assert data["complete"] is True
    assert isinstance(data["specs"], dict)
    assert set(data["specs"]) == {"top-words.md", "other.md", "deep/one.md"}
    assert data["specs"]["top-words.md"] == {"sha256": sha256(text.encode()).hexdigest(), "text": text}
    known = snapshot.read(sandbox.folder())
    assert known is not None
    assert (known.text("other.md") or "").encode(errors="surrogateescape") == b"# Other \xff\n"
    assert known.knows("new.md")
    assert known.text("new.md") is None


def test_what_the_change_does_not_touch_goes_when_it_is_planned(sandbox: Sandbox) -> None:
    assert sandbox.plan().code == 0
    known = snapshot.read(sandbox.folder())
    assert known == snapshot.Base({"top-words.md": "# Top wörds\r\n"})
    assert not known.knows("other.md")
    before = (sandbox.folder() / "base.json").stat().st_mtime_ns
    sandbox.run("impl", CHANGE)
    assert (sandbox.folder() / "base.json").stat().st_mtime_ns == before


def test_the_base_of_a_spec_that_the_change_removes_is_kept(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("top-words", affected="- Affected specs: `top-words`, `other` (removed)"))
    assert sandbox.plan().code == 0
    known = snapshot.read(sandbox.folder())
    assert known is not None
    assert set(known.specs) == {"top-words.md", "other.md"}
    assert (known.text("other.md") or "").encode(errors="surrogateescape") == b"# Other \xff\n"
    assert not (sandbox.folder() / "specs" / "other.md").exists()


def test_a_proposal_that_is_no_text_keeps_no_base_from_being_pruned(tmp_path: Path) -> None:
    (tmp_path / "agentd" / "specs").mkdir(parents=True)
    for name in ("old", "other"):
        (tmp_path / "agentd" / "specs" / f"{name}.md").write_text(name)
    line = "- Affected specs: `old` (removed)\n"
    for text, kept in ((b"\xff removed\n" + line.encode(), {"old.md"}), (b"", set()), (None, set())):
        snapshot.begin(tmp_path, tmp_path)
        (tmp_path / "proposal.md").write_bytes(text or b"")
        if text is None:
            (tmp_path / "proposal.md").unlink()
        snapshot.prune(tmp_path, lambda: removed_in(tmp_path))
        known = snapshot.read(tmp_path)
        assert known is not None
        assert set(known.specs) == kept


def test_a_spec_that_was_not_there_is_known_not_to_have_been(sandbox: Sandbox) -> None:
    (sandbox.root / "agentd" / "specs" / "top-words.md").unlink()
    assert sandbox.plan().code == 0
    assert snapshot.read(sandbox.folder()) == snapshot.Base({"top-words.md": None})


def test_the_base_is_the_library_of_the_beginning_whatever_comes_later(sandbox: Sandbox) -> None:
    sandbox.script(propose={"outcome": "nonsense", "say": "x"})
    sandbox.plan()
    (sandbox.root / "agentd" / "specs" / "top-words.md").write_text("# Another\n")
    (sandbox.root / "agentd" / "specs" / "new.md").write_text("# New\n")
    sandbox.run("plan", CHANGE)
    known = snapshot.read(sandbox.folder())
    assert known is not None
    assert (known.text("top-words.md"), known.text("new.md")) == ("# Top wörds\r\n", None)


def test_a_change_that_is_planned_again_knows_the_other_specs_again(sandbox: Sandbox) -> None:
    assert sandbox.plan().code == 0
    (sandbox.root / "agentd" / "specs" / "top-words.md").write_text("# Another\n")
    sandbox.edit_state("phase: challenged", "phase: proposed")
    sandbox.script(challenge=NEVER)
    sandbox.run("plan", CHANGE)
    assert sandbox.state()["phase"] == "rejected"
    known = snapshot.read(sandbox.folder())
    assert known is not None
    assert known.complete
    assert known.text("top-words.md") == "# Top wörds\r\n"
    assert known.text("deep/one.md") == "deep"


@pytest.mark.parametrize("point", ["base:1:before", "base:1:torn", "base:1:after", "base:2:before", "base:2:torn"])
def test_a_kill_leaves_the_old_base_or_the_new_one_and_the_same_command_goes_on(sandbox: Sandbox, point: str) -> None:
    assert sandbox.run("plan", CHANGE, IDEA, env={"AGENTD_CRASH": point}).code == -9
    path = sandbox.folder() / "base.json"
    if path.exists():
        json.loads(path.read_bytes())
    assert sandbox.plan().code == 0
    assert snapshot.read(sandbox.folder()) == snapshot.Base({"top-words.md": "# Top wörds\r\n"})
    assert not list(sandbox.folder().glob(".*.tmp"))


def test_a_base_that_was_tampered_with_is_an_error_that_leaves_it(tmp_path: Path) -> None:
    for text in (
        "{",
        "[]",
        '{"specs": []}',
        '{"specs": {"a.md": {"text": "x", "sha256": "y"}}}',
        '{"specs": {"a.md": 1}}',
    ):
        (tmp_path / "base.json").write_text(text)
        with pytest.raises(Corrupt, match=r"base\.json"):
            snapshot.read(tmp_path)
        assert (tmp_path / "base.json").read_text() == text
    (tmp_path / "base.json").unlink()
    assert snapshot.read(tmp_path) is None
    snapshot.prune(tmp_path, lambda: removed_in(tmp_path))
    snapshot.widen(tmp_path, tmp_path)
    assert not (tmp_path / "base.json").exists()
