"""A conversation in the Model Context Protocol, message by message: bytes in, bytes out, in both of its eras.

The first request decides: with the envelope of 2026-07-28 it opens a connection of the new era, else one that begins
with `initialize`. It answers as the protocol's own SDK does, except that it also answers what is no message at all.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from agentd import __version__
from agentd.mcp.toolbox import Toolbox

LARGEST_LINE = 64 * 1024 * 1024
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE = ("2026-07-28",)
META = "io.modelcontextprotocol/"
VERSION, CAPABILITIES = f"{META}protocolVersion", f"{META}clientCapabilities"
PARSE, INVALID, UNKNOWN, PARAMETERS, UNSUPPORTED = -32700, -32600, -32601, -32602, -32022
ABOUT = {"name": "agentd", "version": __version__}
OFFERED = {"tools": {"listChanged": False}}

Json = dict[str, Any]


class Fault(Exception):
    """The error that a request is answered with."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message, **({} if data is None else {"data": data})}


class _Meta(BaseModel):
    model_config = ConfigDict(extra="allow")
    token: str | int | None = Field(None, alias="progressToken")


class _Peer(BaseModel):
    name: str
    version: str


class _Envelope(_Meta):
    capabilities: Json = Field(alias="io.modelcontextprotocol/clientCapabilities")
    peer: _Peer | None = Field(None, alias="io.modelcontextprotocol/clientInfo")


class _Params(BaseModel):
    meta: _Meta | None = Field(None, alias="_meta")


class _Page(_Params):
    cursor: str | None = None


class _Use(_Params):
    name: str
    arguments: Json | None = None


class _Hello(_Params):
    version: str = Field(alias="protocolVersion")
    capabilities: Json
    peer: _Peer = Field(alias="clientInfo")


class Conversation:
    """One connection of one client."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.modern: bool | None = None
        self.greeted = False

    def answer(self, line: bytes) -> bytes:
        """The answer to a line, with its end; nothing for what needs none."""
        if not line.strip():
            return b""
        try:
            message = from_json(line.decode("utf-8", "replace"))
        except ValueError:
            return _line({"id": None, "error": Fault(PARSE, "Parse error").error})
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _line({"id": None, "error": Fault(INVALID, "Invalid request").error})
        return self._answer(message)

    def _answer(self, message: Json) -> bytes:
        method, params, number = message.get("method"), message.get("params"), message.get("id")
        if not isinstance(method, str) or not isinstance(params, dict | None):
            if "result" in message or "error" in message:  # a response; nothing was asked
                return b""
            return _line({"id": None, "error": Fault(INVALID, "Invalid request").error})
        if isinstance(number, bool) or not isinstance(number, str | int):
            self.greeted |= method == "notifications/initialized"
            return b""
        try:
            return _line({"id": number, "result": self._result(method, params)})
        except Fault as fault:
            return _line({"id": number, "error": fault.error})
        except ValidationError:
            return _line({"id": number, "error": Fault(PARAMETERS, "Invalid request parameters", "").error})

    def _result(self, method: str, params: Json | None) -> Json:
        enveloped = _is_enveloped(params) and method != "initialize"
        if self.modern is None:
            self.modern = enveloped
        if self.modern:
            return self._modern(method, params)
        if enveloped:
            raise Fault(
                INVALID,
                "this connection serves the handshake protocol era; "
                "requests carrying the 2026-07-28 envelope are not accepted on it",
            )
        if method == "initialize":
            return self._greet(_Hello.model_validate(params or {}))
        if method == "ping":
            _Params.model_validate(params or {})
            return {}
        served = self._served(method)
        arguments = served[0].model_validate(params or {})
        if not self.greeted:
            raise Fault(PARAMETERS, "Invalid request parameters", "")
        return served[1](arguments)

    def _modern(self, method: str, params: Json | None) -> Json:
        """A request that says in itself which protocol it is of, and what its client can."""
        if method == "initialize":
            asked = (params or {}).get("protocolVersion")
            data = {"supported": [*ENVELOPE], **({"requested": asked} if isinstance(asked, str) else {})}
            what = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
            raise Fault(UNSUPPORTED, what, data)
        _check_envelope(params)
        assert params is not None
        if method == "server/discover":
            result = self._discovered()
        else:
            served = self._served(method)
            _Envelope.model_validate(params["_meta"])
            result = served[1](served[0].model_validate(params))
        kept = {} if method == "tools/call" else {"cacheScope": "private", "ttlMs": 0}
        return {**result, **kept, "resultType": "complete", "_meta": {f"{META}serverInfo": {**ABOUT}}}

    def _served(self, method: str) -> tuple[type[BaseModel], Callable[[Any], Json]]:
        """What a method takes and what it gives, in both eras."""
        known: Mapping[str, tuple[type[BaseModel], Callable[[Any], Json]]] = {
            "tools/list": (_Page, lambda _: {"tools": self.toolbox.listed()}),
            "tools/call": (_Use, lambda use: self.toolbox.call(use.name, use.arguments or {}).result()),
        }
        if method not in known:
            raise Fault(UNKNOWN, "Method not found", method)
        return known[method]

    def _greet(self, hello: _Hello) -> Json:
        self.greeted = True
        version = hello.version if hello.version in HANDSHAKE else HANDSHAKE[-1]
        return {
            "protocolVersion": version,
            "capabilities": OFFERED,
            "serverInfo": ABOUT,
            "instructions": self.toolbox.instructions,
        }

    def _discovered(self) -> Json:
        return {
            "capabilities": OFFERED,
            "instructions": self.toolbox.instructions,
            "supportedVersions": [*ENVELOPE],
        }


def _is_enveloped(params: Json | None) -> bool:
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and VERSION in meta


def _check_envelope(params: Json | None) -> None:
    meta = (params or {}).get("_meta")
    if not isinstance(meta, dict):
        what = f"params._meta must be an object carrying the required {VERSION!r} and {CAPABILITIES!r} envelope keys"
        raise Fault(PARAMETERS, what)
    missing = [key for key in (VERSION, CAPABILITIES) if key not in meta]
    if missing:
        raise Fault(PARAMETERS, f"params._meta is missing the required envelope key(s): {', '.join(missing)}")
    asked = meta[VERSION]
    if not isinstance(asked, str):
        raise Fault(PARAMETERS, "the protocol-version envelope value must be a string")
    if asked not in ENVELOPE:
        data = {"supported": [*ENVELOPE], "requested": asked}
        raise Fault(UNSUPPORTED, "Unsupported protocol version", data)


def _line(answer: Json) -> bytes:
    whole = {"jsonrpc": "2.0", **answer}
    try:
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a path that is not UTF-8
        text = json.dumps(whole, separators=(",", ":")).encode()
    return text + b"\n"
