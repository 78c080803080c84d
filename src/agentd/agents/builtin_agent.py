"""The program behind the built-in agent: asks a model through pydantic-ai, gives it tools, tells it in events.

A conversation is kept in the run's `calls` folder, in a file named by its id, once a call has succeeded; secrets are not.
"""

import asyncio
import json
import os
import sys
import uuid
import warnings
from contextlib import ExitStack, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from agentd.agents.builtin_model import Json, counted, explain, find_model, make_tool
from agentd.agents.builtin_tools import ERROR, Offer, offers
from agentd.agents.event_writer import emit
from agentd.agents.events import CallFailed
from agentd.agents.file_edits import write
from agentd.agents.mcp_client import Tools, opened
from agentd.agents.script import Trouble
from agentd.patterns import regex
from agentd.redaction import redact, secret_values

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

SESSION = regex(r"[0-9a-f]{32}")
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
WRONG_CALLS = 5  # how often in a row a model may call one tool wrongly


def main() -> int:
    told = json.loads(os.environ.pop("AGENTD_BUILTIN", "{}"))
    talk = Talk(told)
    with suppress(OSError), ExitStack() as stack:  # a server that has died does not like to be closed
        try:
            if not told:
                raise CallFailed("AGENTD_BUILTIN is not set; agentd sets it when it starts this program.")
            asked = json.loads(sys.stdin.buffer.read())
            talk.load()
            key = take_key(told["api_key_env"])
            served = serve(stack, told)
            result = asyncio.run(talk.hold(asked["prompt"], asked["instructions"], key, served))
        except CallFailed as failed:
            result = failed.result()
        emit(type="result", **result, session=talk.session, model=talk.model, refused=talk.refused, usage=talk.usage)
    return 0 if result["status"] == "success" else 1


def take_key(variable: str) -> str:
    """The API key, out of the environment: what is started from here has no need of it."""
    key = os.environ.pop(variable, "") if variable else ""
    if variable and not key:
        raise CallFailed(f"The variable {variable}, which is to hold the API key, is not set.", "auth")
    return key


def serve(stack: ExitStack, told: Json) -> list[Offer]:
    """The tools of agentd's server that this call may use."""
    if not told["server"]:
        return []
    try:
        tools = stack.enter_context(opened(told["server"]))
        listed = tools.request("tools/list", {}).get("result", {}).get("tools", [])
    except (Trouble, OSError, ValueError) as trouble:
        raise CallFailed(f"The MCP server agentd could not be started: {trouble}") from trouble
    return [_served(tools, each) for each in listed if each.get("name") in told["tools"]]


def _served(tools: Tools, listed: Json) -> Offer:
    name = listed["name"]

    def call(**arguments: Any) -> str:
        try:
            said = tools.call(name, arguments)
            return f"{ERROR}{said.text}" if said.refused else said.text
        except (Trouble, OSError, ValueError) as trouble:
            raise CallFailed(f"The MCP server agentd failed in {name}: {trouble}") from trouble

    return Offer(name, listed.get("description") or "", listed.get("inputSchema") or {"type": "object"}, call)


class Talk:
    """One conversation: what was said before, who answered, what was refused and used."""

    def __init__(self, told: Json) -> None:
        self.told = told
        self.session = ""
        self.model = told.get("model", "")
        self.refused: list[str] = []
        self.usage: Json | None = None
        self.before: bytes = b""

    def load(self) -> None:
        """Find the conversation to go on with; what was never kept is lost."""
        session = self.told["session"]
        if session:
            try:
                with open(self.path(session), "rb") as file:
                    self.before = file.read()
            except (OSError, ValueError):
                raise CallFailed(f"The conversation {session!r} was not found.", "lost") from None
            self.session = session

    def path(self, session: str) -> str:
        if not SESSION.fullmatch(session):
            raise ValueError(session)
        return os.path.join(self.told["calls"], f"builtin-{session}.json")

    async def hold(self, prompt: str, instructions: str, key: str, served: list[Offer]) -> Json:
        try:
            from pydantic_ai import Agent
            from pydantic_ai.messages import ModelMessagesTypeAdapter
            from pydantic_ai.settings import ModelSettings
            from pydantic_ai.usage import UsageLimits
        except ImportError as missing:
            raise CallFailed(
                f"The built-in agent is not installed: pip install 'agentd-workflows[api]' ({missing})"
            ) from None
        warnings.simplefilter("ignore")  # they are for who writes code with it
        offered = [*offers(self.told["cwd"], self.told["edits"], self.told["shell"]), *served]
        settings = ModelSettings(max_retries=0)  # agentd waits and tries again by itself
        if self.told["effort"] in EFFORTS:
            settings["thinking"] = self.told["effort"]
        cost = Decimal(str(self.told["max_cost"])) if self.told["max_cost"] else None
        limits = UsageLimits(request_limit=self.told["max_turns"] or None, cost_limit=cost)
        try:
            history = ModelMessagesTypeAdapter.validate_json(self.before) if self.before else []
        except ValueError:
            raise CallFailed(f"The conversation {self.session!r} cannot be read.", "lost") from None
        agent = Agent(
            find_model(self.told, key),
            instructions=instructions or None,
            tools=[make_tool(offer) for offer in offered],
            model_settings=settings,
            retries=WRONG_CALLS,
        )
        emit(type="start", model=self.model, session=self.session)
        known = {offer.name for offer in offered}
        text, messages = await self.ask(agent, prompt, history, limits, known)
        session = self.session or uuid.uuid4().hex
        kept = clean(ModelMessagesTypeAdapter.dump_python(messages, mode="json"), (key, *secret_values(os.environ)))
        write(self.path(session), json.dumps(kept, ensure_ascii=False).encode(errors="replace"))
        self.session = session
        return {"status": "success", "text": text}

    async def ask(
        self, agent: Any, prompt: str, history: "list[ModelMessage]", limits: Any, known: set[str]
    ) -> "tuple[str, list[ModelMessage]]":
        """Turn by turn until the model calls no more tools."""
        from pydantic_ai.exceptions import AgentRunError, UserError

        run = None
        try:
            async with agent.iter(prompt, message_history=history, usage_limits=limits) as run:
                async for node in run:
                    if agent.is_call_tools_node(node):
                        self.follow(node.model_response, known)
            assert run.result is not None
            return str(run.result.output), run.result.all_messages()
        except (AgentRunError, UserError) as error:
            raise explain(error) from error
        finally:
            if run is not None:
                self.usage = counted(run.usage)

    def follow(self, response: Any, known: set[str]) -> None:
        self.model = response.model_name or self.model
        for part in response.parts:
            if part.part_kind in ("text", "thinking") and part.content:
                emit(type="text" if part.part_kind == "text" else "thought", text=part.content)
            elif part.part_kind == "tool-call" and part.tool_name not in known:
                self.refused.append(part.tool_name)


def clean(value: Any, secrets: tuple[str, ...]) -> Any:
    """What is kept of a conversation, without secrets: a model may quote what it has seen."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {redact(key, secrets): clean(each, secrets) for key, each in value.items()}
    return [clean(each, secrets) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
