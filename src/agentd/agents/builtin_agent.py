"""The program behind the built-in agent: asks a model through pydantic-ai, gives it tools, tells it in events.

A conversation is kept in the run's `calls` folder, in a file named by its id, once a call has succeeded; secrets are not.
"""

import asyncio
import json
import os
import re
import sys
import uuid
import warnings
from contextlib import ExitStack, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from agentd.agents.builtin_tools import ERROR, Offer, offers
from agentd.agents.edits import write
from agentd.agents.events import classify
from agentd.agents.lines import emit
from agentd.agents.script import Trouble
from agentd.agents.toolcalls import Tools, opened
from agentd.model.job import Failure
from agentd.redaction import redact, secret_values

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.tools import Tool
    from pydantic_ai.usage import RunUsage

Json = dict[str, Any]
SESSION = re.compile(r"[0-9a-f]{32}")
OPENAI = re.compile(r"^openai(-chat|-responses)?:")
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
WRONG_CALLS = 5  # how often in a row a model may call one tool wrongly
SHOWN = 2000


class Failed(Exception):
    """What ends the call, and the class of it."""

    def __init__(self, error: str, failure: Failure = "failed", retry_after: float = 0.0) -> None:
        super().__init__(error)
        self.failure: Failure = failure
        self.retry_after = retry_after


def main() -> int:
    told = json.loads(os.environ.pop("AGENTD_BUILTIN", "{}"))
    talk = Talk(told)
    with suppress(OSError), ExitStack() as stack:  # a server that has died does not like to be closed
        try:
            if not told:
                raise Failed("AGENTD_BUILTIN is not set; agentd sets it when it starts this program.")
            asked = json.loads(sys.stdin.buffer.read())
            talk.load()
            key = take_key(told["api_key_env"])
            served = serve(stack, told)
            result = asyncio.run(talk.hold(asked["prompt"], asked["instructions"], key, served))
        except Failed as failed:
            more = {"failure": failed.failure, "retry_after": failed.retry_after}
            result = {"status": "error", "error": str(failed), **more}
        emit(type="result", **result, session=talk.session, model=talk.model, refused=talk.refused, usage=talk.usage)
    return 0 if result["status"] == "success" else 1


def take_key(variable: str) -> str:
    """The API key, out of the environment: what is started from here has no need of it."""
    key = os.environ.pop(variable, "") if variable else ""
    if variable and not key:
        raise Failed(f"The variable {variable}, which is to hold the API key, is not set.", "auth")
    return key


def serve(stack: ExitStack, told: Json) -> list[Offer]:
    """The tools of agentd's server that this call may use."""
    if not told["server"]:
        return []
    try:
        tools = stack.enter_context(opened(told["server"]))
        listed = tools.request("tools/list", {}).get("result", {}).get("tools", [])
    except (Trouble, OSError, ValueError) as trouble:
        raise Failed(f"The MCP server agentd could not be started: {trouble}") from trouble
    return [_served(tools, each) for each in listed if each.get("name") in told["tools"]]


def _served(tools: Tools, listed: Json) -> Offer:
    name = listed["name"]

    def call(**arguments: Any) -> str:
        try:
            said = tools.call(name, arguments)
            return f"{ERROR}{said.text}" if said.refused else said.text
        except (Trouble, OSError, ValueError) as trouble:
            raise Failed(f"The MCP server agentd failed in {name}: {trouble}") from trouble

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
                raise Failed(f"The conversation {session!r} was not found.", "lost") from None
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
            raise Failed(
                f"The built-in agent is not installed: pip install 'agentd-workflows[api]' ({missing})"
            ) from None
        warnings.simplefilter("ignore")  # they are for who writes code with it
        offered = [*offers(self.told["cwd"], self.told["edits"], self.told["shell"]), *served]
        settings = ModelSettings(max_retries=0)  # agentd waits and tries again by itself
        if self.told["effort"] in EFFORTS:
            settings["thinking"] = self.told["effort"]
        cost = Decimal(str(self.told["max_cost"])) if self.told["max_cost"] else None
        limits = UsageLimits(request_limit=self.told["max_turns"], cost_limit=cost)
        try:
            history = ModelMessagesTypeAdapter.validate_json(self.before) if self.before else []
        except ValueError:
            raise Failed(f"The conversation {self.session!r} cannot be read.", "lost") from None
        agent = Agent(
            find_model(self.told, key),
            instructions=instructions or None,
            tools=[made(offer) for offer in offered],
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


def find_model(told: Json, key: str) -> "Model":
    """The model that the settings name; without a key of their own its provider knows where to look."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers import infer_provider, infer_provider_class
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    name = told["model"]
    if told["base_url"]:
        kind = OpenAIResponsesModel if name.startswith("openai-responses:") else OpenAIChatModel
        provider = OpenAICompatibleProvider("compatible", base_url=told["base_url"], api_key=key or None)
        return kind(OPENAI.sub("", name), provider=provider)
    try:
        factory = (lambda provider: infer_provider_class(provider)(api_key=key)) if key else infer_provider  # type: ignore[call-arg]
        return infer_model(name if ":" in name else f"openai:{name}", factory)
    except UserError as error:
        missing = "API_KEY" in str(error) or "api_key" in str(error)
        raise Failed(first_sentence(error), "auth" if missing else "failed") from None
    except (ImportError, ValueError, TypeError) as error:
        raise Failed(f"The model {name} cannot be used: {first_sentence(error)}") from None


def first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).split(". ")[0].rstrip(".")[:500]


def made(offer: Offer) -> "Tool[object]":
    """A tool for the model that tells of each of its calls, one after the other."""
    from pydantic_ai.tools import Tool

    def call(**arguments: Any) -> str:
        said = offer.do(**arguments)
        status = "error" if said.startswith(ERROR) else "success"
        emit(type="tool", tool=offer.name, status=status, text=said[:SHOWN])
        return said

    return Tool.from_schema(call, offer.name, offer.description, dict(offer.schema), sequential=True)


def counted(usage: "RunUsage") -> Json | None:
    """What a run used; a server that counts nothing leaves it unknown."""
    if not (usage.input_tokens or usage.output_tokens):
        return None
    return {"tokens_in": usage.input_tokens, "tokens_out": usage.output_tokens, "cached_in": usage.cache_read_tokens}


def explain(error: Exception) -> Failed:
    """What went wrong with the model, and which class it is of."""
    from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

    wait = getattr(error, "retry_after", None) or 0.0
    if isinstance(error, ModelHTTPError):
        said = message_in(error.body) or "it gave no reason"
        words = f"{said} {error.body}" if error.status_code in (402, 403, 429) else said
        return Failed(
            f"The model's service answered {error.status_code}: {said}", classify(words, error.status_code), wait
        )
    if isinstance(error, ModelAPIError):
        return Failed(f"The model's service gave no answer: {first_sentence(error)}.", "transient", wait)
    if isinstance(error, ContentFilterError):
        return Failed(f"The model refuses to go on: {first_sentence(error)}.", "refused")
    if isinstance(error, UnexpectedModelBehavior):
        return Failed(f"The model answered what cannot be used: {first_sentence(error)}.", "unreadable")
    return Failed(f"{first_sentence(error)}.")


def message_in(body: object) -> str:
    """The words in a service's answer."""
    while isinstance(body, dict):
        body = body.get("error") if isinstance(body.get("error"), (dict, str)) else body.get("message")
    return " ".join(body.split())[:500] if isinstance(body, str) else ""


if __name__ == "__main__":
    sys.exit(main())
