"""A person's own program as an agent: the prompt on its stdin, the job in its environment, its reply on its stdout.

Exit 0 is success. 75 (EX_TEMPFAIL) says that trying again may help, 77 (EX_NOPERM) that a login is needed, 69
(EX_UNAVAILABLE) that the service is used up; every other code is a failure. A program may also print the
events of `protocol.py`; then its `result` event counts instead of the exit code.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping

from agentd.agents import protocol
from agentd.agents.events import BEGIN, END, Ending, load, parse, wait_asked
from agentd.model.job import Command, Failure, Job, Reply

WHO = "The program"
CODES: Mapping[int, tuple[str, Failure]] = {
    69: ("EX_UNAVAILABLE", "quota"),
    75: ("EX_TEMPFAIL", "transient"),
    77: ("EX_NOPERM", "auth"),
}


def command(job: Job) -> Command:
    return Command(argv=(*job.program, *job.args), stdin=whole_prompt(job), env=environment(job))


def whole_prompt(job: Job) -> str:
    """The prompt with the instructions, for a program without a system prompt; a resumed conversation has them already."""
    return job.prompt if job.session or not job.instructions else f"{job.instructions}\n\n{job.prompt}"


def own_program(module: str) -> tuple[str, ...]:
    """The words that start one of agentd's own programs."""
    # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
    return sys.executable, "-P", "-m", module


def limits(job: Job) -> dict[str, object]:
    """Where such a program works, what it goes on with, and what it may do."""
    names = ("cwd", "session", "server", "tools", "edits", "shell", "model", "effort", "max_turns", "max_cost")
    return {name: getattr(job, name) for name in names}


def environment(job: Job) -> dict[str, str]:
    return {
        "AGENTD_STEP": job.step,
        "AGENTD_ROLE": job.role,
        "AGENTD_ITEM": job.item,
        "AGENTD_VISIT": str(job.visit),
        "AGENTD_MODEL": job.model,
        "AGENTD_EFFORT": job.effort,
        "AGENTD_SESSION": job.session,
        "AGENTD_FOLDER": os.path.join(job.cwd, job.folder),
        "AGENTD_OUTCOMES": ",".join(job.outcomes),
        "AGENTD_TOOLS": ",".join(job.tools),
        "AGENTD_SERVER": json.dumps(job.server) if job.server else "",
        "AGENTD_EDITS": "yes" if job.edits else "",
        "AGENTD_SHELL": "yes" if job.shell else "",
    }


def read(lines: Iterable[str]) -> Reply:
    """Complete with exit code 0, or with a result event that says success; never without either."""
    whole = list(lines)
    while whole and not whole[-1].strip():
        whole.pop()
    # Only agentd writes the first and the last line; what looks like them in between is the program's.
    ending = parse(whole[-1:])[1]
    said = whole[1:] if whole and (load(whole[0]) or {}).get("agentd") == BEGIN else whole
    said = said[:-1] if said and (load(said[-1]) or {}).get("agentd") == END else said
    events = [event for event in map(load, said) if event is not None]
    if any(event.get("type") == "result" and "status" in event for event in events):
        return protocol.conclude(events, ending, WHO)
    text = "\n".join(said).strip()
    if ending.code == 0 and ending.ended == "exit":
        return Reply(text=text, complete=True)
    return _failed(ending, text)


def _failed(ending: Ending, text: str) -> Reply:
    if ending.ended != "exit":
        return protocol.unfinished(ending, WHO)
    name, failure = CODES.get(ending.code, ("", "failed"))
    errors = " ".join(" ".join(ending.errors[-3:]).split())[-protocol.LONGEST_ERROR :]
    code = f"{ending.code} ({name})" if name else f"{ending.code}"
    error = f"{WHO} ended with exit code {code}{f': {errors}' if errors else '.'}"
    return Reply(text=text, error=error, failure=failure, retry_after=wait_asked(errors))
