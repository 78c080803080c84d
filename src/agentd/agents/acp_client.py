"""The program behind the ACP agents: starts one, holds the conversation, and tells it in the events of `protocol.py`.

Whatever happens, the agent and everything it started are ended before this program is.
"""

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from typing import Any

from agentd.agents.event_writer import emit

LONGEST_LINE = 256 << 20
MARK = "AGENTD_ACP_RUN"
STRANGE = 5


def main() -> int:
    told = json.loads(os.environ.pop("AGENTD_ACP", "{}"))
    if not told:
        return fail("AGENTD_ACP is not set; agentd sets it when it starts this program.")
    program = shutil.which(told["argv"][0])
    if program is None:
        return fail(f"The program {told['argv'][0]} is not on the PATH, or cannot be executed.")
    try:
        import acp  # noqa: F401
    except ImportError:
        return fail("The client of the Agent Client Protocol is not installed: pip install 'agentd-workflows[acp]'")
    logging.disable(logging.CRITICAL)  # the package prints a traceback for each message it cannot take
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    return asyncio.run(run(program, told, prompt))


def fail(error: str) -> int:
    emit(type="result", status="error", error=error, failure="failed")
    return 1


async def run(program: str, told: Mapping[str, Any], prompt: str) -> int:
    """Start the agent, converse, and end it; when this program is told to end, the agent is ended first."""
    from agentd.agents.acp_conversation import Conversation

    here, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert here is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, here.cancel)
    os.environ[MARK] = mark = os.urandom(16).hex()
    pipe = asyncio.subprocess.PIPE
    agent = None
    try:
        agent = await asyncio.create_subprocess_exec(
            program, *told["argv"][1:], stdin=pipe, stdout=pipe, cwd=told["cwd"], limit=LONGEST_LINE
        )
        talk = Conversation(told, Pipes(agent))
        result = await talk.hold(prompt)
        if result["status"] == "success" and told["server"] and not talk.served and not runs(told["server"]):
            error = "The agent did not start the MCP server agentd, or the server did not stay."
            result |= {"status": "error", "error": error, "failure": "failed"}
        emit(type="result", **result)
        return 0 if result["status"] == "success" else 1
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except ConnectionError as when:
        # There is no result then: what the agent printed on its stderr tells more than this program could.
        await leave(agent, 1.0)
        code = agent.returncode if agent else None
        how = "closed its output" if code is None else f"ended with exit code {code}"
        sys.stderr.write(f"The agent {how} {when}.\n")
        return 1
    except OSError as trouble:
        return fail(f"The program {program} could not be started: {trouble}.")
    finally:
        await end(agent, mark)


async def leave(agent: asyncio.subprocess.Process | None, seconds: float) -> None:
    if agent is not None:
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(agent.wait(), seconds)


async def end(agent: asyncio.subprocess.Process | None, mark: str) -> None:
    """Give the agent a moment to leave by itself, then end it and whatever it left behind, wherever that went."""
    from agentd.process import end_leftovers

    if agent is not None and agent.stdin is not None:
        agent.stdin.close()
    await leave(agent, 1.0)
    end_leftovers(MARK, mark, grace=1.0)
    await leave(agent, 1.0)


def runs(server: list[str]) -> bool:
    """Whether somebody runs that very command, which names its call."""
    import psutil

    words = server[1:] or server  # it may be started through another program
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[-len(words) :] == words and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


class Pipes:
    """The agent's stdin and stdout as messages. What is none is told, the first few times, and passed over."""

    def __init__(self, agent: asyncio.subprocess.Process) -> None:
        assert agent.stdin is not None
        assert agent.stdout is not None
        self.to, self.came = agent.stdin, agent.stdout
        self.strange = 0

    async def send(self, message: dict[str, Any]) -> None:
        self.to.write(json.dumps(message).encode() + b"\n")
        await self.to.drain()

    async def receive(self) -> dict[str, Any] | None:
        while True:
            try:
                line = await self.came.readline()
            except ValueError:
                self.pass_over(f"a line of more than {LONGEST_LINE >> 20} MiB")
                continue
            if not line:
                return None
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict):
                return message
            if line.strip():
                self.pass_over(line[:200].decode("utf-8", "replace").strip())

    def pass_over(self, what: str) -> None:
        self.strange += 1
        if self.strange <= STRANGE:
            emit(type="note", text=f"the agent printed what is no message: {what}")

    async def close(self) -> None:
        """Who opened the pipes closes them."""


if __name__ == "__main__":
    sys.exit(main())
