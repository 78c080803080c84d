"""The scripted agent: plays a YAML script instead of asking a model. It turns values into values and starts nothing."""

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentd.errors import BadConfig
from agentd.model.job import Command, Job, Reply
from agentd.model.usage import Usage


class _WrongType(Exception):
    """A field of an event that is not what it should be."""


def command(job: Job) -> Command:
    """The player, told by its environment which entry of the script to play."""
    script = job.settings.get("script", "")
    if not script:
        raise BadConfig(
            "The scripted agent has no script to play.", fix='[scripted] script = "…" in agentd/config.toml'
        )
    return Command(
        # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
        argv=(sys.executable, "-P", "-m", "agentd.agents.player"),
        stdin=job.prompt,
        env={
            "AGENTD_SCRIPT": os.path.join(job.cwd, script),
            "AGENTD_FOLDER": os.path.join(job.cwd, job.folder),
            "AGENTD_STEP": job.step,
            "AGENTD_ROLE": job.role,
            "AGENTD_VISIT": str(job.visit),
            "AGENTD_ITEM": job.item,
            "AGENTD_MODEL": job.model,
            "AGENTD_EFFORT": job.effort,
            "AGENTD_SESSION": job.session,
            "AGENTD_SERVER": json.dumps(job.server) if job.server else "",
        },
    )


def read(lines: Iterable[str]) -> Reply:
    """Complete only with a result event that says success; lines that are no events are passed over."""
    model = ""
    results = []
    try:
        for event in filter(None, map(_event, lines)):
            if event.get("type") == "start":
                model = _text(event, "model")
            elif event.get("type") == "result":
                results.append(_result(event))
    except _WrongType as trouble:
        return Reply(error=str(trouble), model=model)
    if not results:
        return Reply(error="The scripted agent ended without a result.", model=model)
    if any(result != results[0] for result in results):
        return Reply(error="The scripted agent gave two results that disagree.", model=model)
    return replace(results[0], model=model)


def _event(line: str) -> Mapping[str, object] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _result(event: Mapping[str, object]) -> Reply:
    status, error = _text(event, "status"), _text(event, "error")
    if status != "success":
        error = error or f"The scripted agent ended with status {status!r}."
    return Reply(
        text=_text(event, "text"),
        outcome=_text(event, "outcome"),
        complete=not error,
        error=error,
        lost=event.get("lost") is True,
        session=_text(event, "session"),
        usage=_usage(event.get("usage")),
    )


def _text(event: Mapping[str, object], field: str) -> str:
    value = event.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _WrongType(f"The scripted agent's {event['type']} event has a `{field}` that is no text.")
    return value


def _usage(value: object) -> Usage:
    if value is None:
        return Usage()
    if not isinstance(value, dict):
        raise _WrongType("The scripted agent's usage is no mapping.")
    return Usage(
        tokens_in=_count(value, "tokens_in"),
        tokens_out=_count(value, "tokens_out"),
        cost=_number(value, "cost"),
        cached_in=_count(value, "cached_in"),
    )


def _count(usage: Mapping[str, object], field: str) -> int | None:
    value = _number(usage, field)
    if value is None or isinstance(value, int):
        return value
    raise _WrongType(f"The scripted agent's usage has a `{field}` that is no whole number.")


def _number(usage: Mapping[str, object], field: str) -> float | None:
    value = usage.get(field)
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return value
    raise _WrongType(f"The scripted agent's usage has a `{field}` that is no number from 0 up.")
