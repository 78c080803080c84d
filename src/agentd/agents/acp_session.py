"""Opens a session with an agent in the Agent Client Protocol: a new one or an earlier one, in the mode and with the model wanted."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from acp import PROTOCOL_VERSION

from agentd import __version__
from agentd.agents.acp_messages import Json, listed, mapping, names, note, values
from agentd.agents.acp_permissions import SERVER, Rules, mode_wanted
from agentd.agents.event_writer import emit
from agentd.agents.events import CallFailed, text_of
from agentd.values import dataclass

# With access to files through the client, some agents can no longer make new ones.
CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


class Request(Protocol):
    """Sends a request; the agent's errors are raised as CallFailed."""

    async def __call__(self, method: str, **params: object) -> Json: ...


@dataclass
class Session:
    """A session, as far as it is known: its id, and the model and mode that the agent works with."""

    id: str = ""
    model: str = ""
    mode: str = ""


async def open_session(
    session: Session,
    request: Request,
    quiet: Callable[[], Awaitable[None]],
    told: Mapping[str, Any],
    rules: Rules,
) -> None:
    """Greet, open or reopen the session, and choose what the agent lets choose. `quiet` waits for a reopened one."""
    info = {"name": "agentd", "version": __version__}
    hello = await request(
        "initialize", protocolVersion=PROTOCOL_VERSION, clientInfo=info, clientCapabilities=CAPABILITIES
    )
    version = hello.get("protocolVersion")
    if version != PROTOCOL_VERSION:
        raise CallFailed(f"The agent speaks version {version} of the protocol, not {PROTOCOL_VERSION}.")
    can = mapping(hello.get("agentCapabilities"))
    place = _place(can, told["server"], rules)
    if told["session"]:
        opened = await _reopen(session, request, told["session"], can, place)
        await quiet()
    else:
        opened = await request("session/new", **place)
        session.id = text_of(opened.get("sessionId"))
        if not session.id:
            raise CallFailed("The agent opened a session without an id.", "unreadable")
    await _choose(session, request, opened, told, rules)
    about = mapping(hello.get("agentInfo"))
    agent = {"agent": text_of(about.get("name")), "version": text_of(about.get("version"))}
    emit(type="start", session=session.id, model=session.model, mode=session.mode, **agent)


async def _reopen(session: Session, request: Request, id_: str, can: Json, place: Json) -> Json:
    """Take up a conversation; one that the agent does not know, or cannot take up at all, is lost."""
    if can.get("loadSession") is not True:
        raise CallFailed("The agent cannot take up a conversation.", "lost")
    session.id = id_
    try:
        return await request("session/load", sessionId=id_, **place)
    except CallFailed as trouble:
        raise CallFailed(str(trouble), "auth" if trouble.failure == "auth" else "lost") from trouble


def _place(can: Json, server: list[str], rules: Rules) -> Json:
    place: Json = {"cwd": rules.cwd, "mcpServers": []}
    if server:
        program, *args = server
        # Not every agent passes its environment on to a server, and agentd finds its processes by it.
        env = [{"name": name, "value": value} for name, value in os.environ.items() if name.startswith("AGENTD_")]
        place["mcpServers"].append({"name": SERVER, "command": program, "args": args, "env": env})
    if rules.edits and mapping(can.get("sessionCapabilities")).get("additionalDirectories") is not None:
        place["additionalDirectories"] = [rules.folder]
    return place


async def _choose(session: Session, request: Request, opened: Json, told: Mapping[str, Any], rules: Rules) -> None:
    """Set the mode, the model and the effort where the agent offers them, by a config option or in the older way."""
    options: dict[str, Json] = {}
    for each in map(mapping, listed(opened.get("configOptions"))):
        options.setdefault(text_of(each.get("category")), each)
    modes, models = mapping(opened.get("modes")), mapping(opened.get("models"))
    session.mode = text_of(modes.get("currentModeId")) or text_of(options.get("mode", {}).get("currentValue"))
    session.model = text_of(models.get("currentModelId")) or text_of(options.get("model", {}).get("currentValue"))
    offered = names(modes.get("availableModes"), "id")
    wanted = mode_wanted(rules, list(offered or values(options.get("mode"))))

    async def choose(what: str, wanted: str, option: str, older: tuple[str, str, Mapping[str, str]]) -> str:
        return await _set(request, session.id, what, wanted, options.get(option), older)

    if wanted and wanted != session.mode:
        session.mode = await choose("mode", wanted, "mode", ("session/set_mode", "modeId", offered)) or session.mode
    if told["model"]:
        set_model = ("session/set_model", "modelId", names(models.get("availableModels"), "modelId"))
        session.model = await choose("model", told["model"], "model", set_model) or session.model
    if told["effort"]:
        await choose("effort", told["effort"], "thought_level", ("", "", {}))


async def _set(
    request: Request, session: str, what: str, wanted: str, by: Json | None, older: tuple[str, str, Mapping[str, str]]
) -> str:
    """What was chosen, if the agent offers and takes it; if not, it goes on with what it has."""
    method, field, offered = older
    offered = values(by) or offered
    # Gemini takes models that it does not list.
    chosen = offered.get(wanted) or (wanted if what == "model" and offered and not by else "")
    if not chosen:
        known = f"; it offers {', '.join(dict.fromkeys(offered.values()))}" if offered else ""
        note(f"the agent offers no {what} {wanted!r}{known}")
        return ""
    config = {"configId": by.get("id"), "value": chosen} if by else {field: chosen}
    try:
        await request("session/set_config_option" if by else method, sessionId=session, **config)
    except CallFailed as trouble:
        note(f"the agent did not take the {what} {wanted!r}: {trouble}")
        return ""
    return chosen
