"""What agentd wrote down of the calls it made, held against what the model was asked for."""

from collections.abc import Mapping
from typing import Any

from tests.contract.lab import Lab

# What each agent speaks to its model.
SPOKEN = {
    "claude": "anthropic",
    "codex": "openai",
    "gemini": "gemini",
    "opencode": "chat",
    "copilot": "chat",
    "acp": "gemini",
    "builtin": "chat",
}
# Who never tells what was used: unknown is not nothing.
SILENT = ("copilot",)


def check_calls(lab: Lab, players: Mapping[str, str], since: int = 0) -> None:
    """Every call is in the state with who made it, which model answered, and what it used, as the model counted it.

    players  the agent of each scene, in the order in which they were played
    since    how many calls there were before
    """
    made: dict[str, list[dict[str, Any]]] = {}
    for call in lab.state()["llm_calls"][since:]:
        made.setdefault(scene_of(call["call"]), []).append(call)
    assert list(made) == list(players)
    for scene, calls in made.items():
        requests = lab.model.played(scene)
        assert {call["agent"] for call in calls} == {players[scene]}
        assert {each.vendor for each in requests} == {SPOKEN[players[scene]]}
        assert calls[-1]["model"], calls
        if players[scene] in SILENT:
            assert {call["tokens_in"] for call in calls} == {None}, calls
        else:
            assert sum(call["tokens_in"] or 0 for call in calls) == sum(each.size // 4 for each in requests), calls
            assert calls[-1]["tokens_out"] > 0, calls


def scene_of(call: str) -> str:
    step, _, number = call.rpartition("/")[2].rpartition("-")
    return f"{step}_again" if step in ("challenge", "review") and not number.startswith("1.") else step


def told(lab: Lab) -> str:
    """What the model was asked, and the last words of each transcript."""
    asked = [f"{each.vendor} {each.scene} {each.turn} {each.size}" for each in lab.model.requests]
    calls = [f"{path.name}\n{path.read_text()[-3000:]}" for path in sorted(lab.folder().rglob("calls/*.jsonl"))[-1:]]
    return "\n".join(["", *asked, *calls])
