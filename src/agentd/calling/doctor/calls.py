"""Real calls: each agent that plays a role is called once, and has to answer and to find agentd's tools."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentd.calling.doctor import trial
from agentd.calling.doctor.found import Found, Level
from agentd.calling.doctor.machine import REINSTALL
from agentd.calling.doctor.roles import Part
from agentd.calling.roster import Player
from agentd.errors import AgentdError
from agentd.runs.project import Project
from agentd.usage.prices import dollars

AGAIN = "agentd doctor --live"
# What else can be done about a failure, by its class.
FIXES = {"quota": f"{AGAIN}   # once the limit is reset", "transient": AGAIN, "hang": AGAIN}


def make(project: Project, parts: Sequence[Part], scratch: Path) -> Iterator[Found]:
    """What each agent that plays a role says when it is called."""
    players = {part.players[0].agent: part.players[0] for part in parts if part.players}
    for number, player in enumerate(players.values()):
        try:
            yield _judge(player, trial.call(project, player, scratch / f"call-{number}"))
        except AgentdError as error:
            yield Found("calls", player.agent, "problem", error.message, error.fix, {"answered": False})
        except Exception as error:  # another package's adapter can end in anything
            told = f"its adapter failed: {type(error).__name__}: {error}"
            yield Found("calls", player.agent, "problem", told, player.adapter.install or AGAIN, {"answered": False})


def _judge(player: Player, tried: trial.Tried) -> Found:
    reply, usage, adapter = tried.reply, tried.reply.usage, player.adapter
    facts = {
        "answered": reply.complete,
        "mcp": tried.greeted,
        "model": tried.model or None,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost": tried.cost,
        "seconds": round(tried.seconds, 1),
    }
    if not reply.complete:
        by_hand = f"{adapter.program} --help   # then try it by hand" if adapter.program else AGAIN
        fix = (adapter.login if reply.failure == "auth" else FIXES.get(reply.failure, "")) or by_hand
        return Found("calls", player.agent, "problem", reply.error, fix, facts)
    tokens = f"{usage.tokens_in:,} tokens in" if usage.tokens_in is not None else "tokens unknown"
    cost = dollars(tried.cost) if tried.cost is not None else "cost unknown"
    said = f"said {' '.join(reply.text.split())[:40]!r}"
    told = ", ".join(filter(None, (said, tried.model, tokens, cost, f"{tried.seconds:.1f} s")))
    if not tried.greeted:
        level, fix = _without_tools(player)
        return Found("calls", player.agent, level, f"{told}, but it did not ask for agentd's tools", fix, facts)
    told = f"{told}, and it found agentd's tools"
    if not re.search(r"(?i)\bok\b", reply.text):
        return Found("calls", player.agent, "warning", f"{told}; it was to say OK", AGAIN, facts)
    return Found("calls", player.agent, "ok", told, facts=facts)


def _without_tools(player: Player) -> tuple[Level, str]:
    """What it means that an agent did not ask for agentd's tools: somebody's own may play steps that need none."""
    adapter = player.adapter
    if adapter.tools_fix:
        return "warning", adapter.tools_fix.format(agent=player.agent)
    return "problem", f"{adapter.install}   # another version of it" if adapter.install else REINSTALL
