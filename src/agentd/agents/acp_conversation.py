"""One conversation with an agent in the Agent Client Protocol: sends the prompt, follows the turn, answers what it asks."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from acp.connection import Connection
from acp.exceptions import RequestError

from agentd.agents.acp_messages import Json, explain, mapping, note, stopped, text_in, usage_of
from agentd.agents.acp_permissions import SERVER, Rules, allows, is_edit, kind_of, name_of, option, own_tool
from agentd.agents.acp_session import Session, open_session
from agentd.agents.event_writer import emit
from agentd.agents.events import CallFailed, amount_of, count_of, text_of

QUIET, PATIENCE = 0.3, 10.0


class Wire(Protocol):
    """Messages to the agent and from it."""

    async def send(self, message: Json) -> None: ...
    async def receive(self) -> Json | None: ...
    async def close(self) -> None: ...


class Conversation:
    """What was allowed and refused, what was said, and what it cost.

    asked   until the prompt is sent, what the agent tells is the conversation so far
    served  whether a tool of agentd's server did its work
    """

    def __init__(self, told: Mapping[str, Any], wire: Wire) -> None:
        self.told = told
        self.rules = Rules(told["cwd"], told["folder"], tuple(told["tools"]), told["edits"], told["shell"])
        self.connection = Connection(self.handle, wire)
        self.session = Session()
        self.asked = self.served = False
        self.calls: dict[str, Json] = {}
        self.allowed: set[str] = set()
        self.refused: list[str] = []
        self.parts: list[str] = [""]
        self.cost: float | None = None
        self.heard = 0.0
        self.over: asyncio.Future[NoReturn] = asyncio.get_running_loop().create_future()

    async def hold(self, prompt: str) -> Json:
        """The result of the conversation, whatever the agent made of it; raises only when the agent is gone."""
        answer: Json = {}
        try:
            await open_session(self.session, self.request, self.quiet, self.told, self.rules)
            self.asked = True
            self.calls.clear()
            said = [{"type": "text", "text": prompt}]
            answer = await self.request("session/prompt", sessionId=self.session.id, prompt=said)
            reason = text_of(answer.get("stopReason"))
            if reason != "end_turn":
                raise stopped(reason)
            result: Json = {"status": "success"}
        except CallFailed as trouble:
            result = trouble.result()
        finally:
            await self.connection.close()
        usage, model = usage_of(answer)
        if self.cost is not None and not self.told["session"]:  # of a conversation that went on it is the whole cost
            usage["cost"] = self.cost
        own = {"text": self.text(), "session": self.session.id, "model": model or self.session.model}
        return {**result, **own, "refused": self.refused, "usage": usage or None}

    async def quiet(self) -> None:
        """Wait until the agent has told the conversation so far; some answer first and tell it afterwards."""
        clock = asyncio.get_running_loop().time
        self.heard, limit = clock(), clock() + PATIENCE
        while clock() < min(limit, self.heard + QUIET):
            await asyncio.sleep(QUIET / 6)

    async def request(self, method: str, **params: object) -> Json:
        """The agent's answer; its errors are raised, and so is whatever ends the conversation meanwhile."""
        sent = asyncio.ensure_future(self.connection.send_request(method, params))
        try:
            await asyncio.wait({sent, self.over}, return_when=asyncio.FIRST_COMPLETED)
            if self.over.done():
                self.over.result()
            return mapping(await sent)
        except RequestError as error:
            raise explain(error.code, error, error.data) from None
        except ConnectionError:
            raise ConnectionError(f"before it answered {method}") from None
        finally:
            sent.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sent

    async def handle(self, method: str, params: object, notification: bool) -> Json | None:
        """What the agent asks and tells. Nothing here waits, so that everything is taken in its order."""
        said = mapping(params)
        if method == "session/update":
            self.update(mapping(said.get("update")))
            return None
        if method == "session/request_permission":
            return self.permit(self.know(mapping(said.get("toolCall"))), said.get("options"))
        raise RequestError.method_not_found(method)

    def permit(self, call: Json, options: object) -> Json:
        chosen = option(options, True) if allows(call, self.rules) else ""
        name = name_of(call)
        title = text_of(call.get("title"))
        emit(type="permission", tool=name, kind=kind_of(call), title=title, allowed=bool(chosen))
        if chosen:
            self.allowed.add(text_of(call.get("toolCallId")))
        else:
            self.refused.append(name)
            chosen = option(options, False)
        if not chosen:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    def know(self, told: Json) -> Json:
        """Everything that was said about a tool call; what was said first about its name and kind stays."""
        id_ = text_of(told.get("toolCallId"))
        if id_ not in self.calls and self.asked:
            self.parts.append("")
            limit = self.told["max_turns"]
            if limit and len(self.calls) >= limit:
                self.stop(CallFailed(f"The agent was ended by [calls] max_turns = {limit}: it called more tools."))
        known = self.calls.setdefault(id_, {})
        for key, value in told.items():
            if value is not None and not (key in ("name", "title", "kind") and known.get(key)):
                known[key] = value
        return known

    def update(self, update: Json) -> None:
        self.heard = asyncio.get_running_loop().time()
        kind = update.get("sessionUpdate")
        if kind in ("tool_call", "tool_call_update"):
            self.follow(update)
        elif kind in ("agent_message_chunk", "agent_thought_chunk") and self.asked:
            text = text_of(mapping(update.get("content")).get("text"))
            if kind == "agent_message_chunk":
                self.parts[-1] += text
            emit(type="text" if kind == "agent_message_chunk" else "thought", text=text)
        elif kind == "usage_update" and self.asked:
            cost = mapping(update.get("cost"))
            # Nothing is what an agent says that knows no price.
            self.cost = (amount_of(cost.get("amount")) if cost.get("currency") == "USD" else None) or self.cost
            emit(type="usage", used=count_of(update.get("used")), size=count_of(update.get("size")), cost=self.cost)
            if self.cost and 0 < self.told["max_cost"] < self.cost:
                limit = f"[calls] max_cost = {self.told['max_cost']:g}"
                self.stop(CallFailed(f"The agent was ended by {limit}: it used {self.cost:g} dollars."))

    def follow(self, update: Json) -> None:
        """A tool call as it goes on; an edit that agentd was not asked about ends the conversation."""
        id_ = text_of(update.get("toolCallId"))
        before = self.calls.get(id_, {}).get("status")
        call = self.know(update)
        status, title, name = text_of(call.get("status")), text_of(call.get("title")), name_of(call)
        if title == f"mcp__{SERVER}__startup" and status == "failed":
            self.stop(CallFailed(f"The agent could not start the MCP server {SERVER}: {text_in(call)}"))
        if not self.asked or status == before:
            return
        emit(type="tool", tool=name, kind=kind_of(call), title=title, status=status)
        self.served |= status == "completed" and own_tool(call) in self.rules.tools
        if status != "completed" or id_ in self.allowed or allows(call, self.rules):
            return
        if is_edit(call):
            self.refused.append(name)
            self.stop(CallFailed(f"The agent changed files without asking: {title or name}.", "refused"))
        elif kind_of(call) == "execute":
            note(f"the agent ran without asking: {title}")

    def stop(self, trouble: CallFailed) -> None:
        if not self.over.done():
            self.over.set_exception(trouble)

    def text(self) -> str:
        """What the agent said last; what it says before it calls a tool is seldom its answer."""
        return next((part.strip() for part in reversed(self.parts) if part.strip()), "")
