"""The server: finds the protocol by the path, plays the scene, or fails as the scene says. It records every request."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from tests.contract.model import chat, gemini, messages, responses
from tests.contract.model.scenes import Fault, Scenes, Turn, play
from tests.contract.model.wire import Answer, Asked, Event, Json, Vendor, dumps

VENDORS: Mapping[str, Vendor] = {
    "/v1/messages": cast(Vendor, messages),
    "/v1/responses": cast(Vendor, responses),
    "/v1/chat/completions": cast(Vendor, chat),
}
NAMES = {"messages": "anthropic", "responses": "openai", "chat": "chat", "gemini": "gemini"}
MODELS = ("claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-flash", "fake-model")


@dataclass(frozen=True)
class Request:
    """One request as it came, and what was played for it."""

    path: str
    vendor: str
    scene: str = ""
    turn: int = -1
    fault: str = ""
    size: int = 0
    tools: tuple[str, ...] = ()
    model: str = ""
    effort: str = ""
    system: int = 0
    stream: bool = False
    body: bytes = field(default=b"", repr=False)

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class FakeModel:
    """A running model: `with FakeModel(scenes) as model:` and it answers at `model.url`."""

    def __init__(
        self, scenes: Scenes | Path | str | Sequence[Mapping[str, Any]], port: int = 0, log: Path | None = None
    ) -> None:
        self.scenes = scenes if isinstance(scenes, Scenes) else Scenes.load(scenes)
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._log = log
        self._lock = threading.Lock()
        self._used: Counter[tuple[str, int]] = Counter()
        self._mended = False
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop; whoever waits for an answer that never comes is let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def join(self) -> None:
        self._thread.join()

    def played(self, scene: str) -> list[Request]:
        return [request for request in self.requests if request.scene == scene]

    def mend(self) -> None:
        """From now on nothing fails any more; who hangs hangs on."""
        self._mended = True

    def record(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            if self._log:
                entry = {key: value for key, value in asdict(request).items() if key != "body"}
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(dumps(entry) + "\n")

    def fault(self, scene: str, number: int, turn: Turn) -> Fault | None:
        """The failure that this attempt at a turn meets; each one is used up, but for one that is there always."""
        if self._mended:
            return None
        with self._lock:
            used = self._used[scene, number]
            self._used[scene, number] += 1
        if used < len(turn.faults):
            return turn.faults[used]
        last = turn.faults[-1] if turn.faults else None
        return last if last and last.always else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, model: FakeModel, port: int) -> None:
        self.model = model
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no error of the server's."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the model records what matters."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.server.model.record(Request(path, "models"))
        if not path.rstrip("/").endswith("/models"):
            self._json(404, {"error": {"message": f"There is nothing at {path}."}})
        elif "v1beta" in path:
            self._json(200, {"models": [{"name": f"models/{name}"} for name in MODELS]})
        else:
            listed = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in MODELS]
            self._json(200, {"object": "list", "data": listed, "has_more": False})

    def do_POST(self) -> None:
        raw = self._body()
        path = self.path.split("?")[0]
        vendor = cast(Vendor, gemini) if "/models/" in path else VENDORS.get(path.removesuffix("/count_tokens"))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if vendor is None or not isinstance(body, dict):
            self.server.model.record(Request(path, "", size=len(raw), body=raw))
            self._json(404, {"error": {"message": f"There is nothing at {path}."}})
        else:
            self._serve(vendor, path, body, raw)

    def _serve(self, vendor: Vendor, path: str, body: Json, raw: bytes) -> None:
        model = self.server.model
        asked = vendor.read(path, body, len(raw))
        name = NAMES[vendor.__name__.rsplit(".", 1)[-1]]  # type: ignore[attr-defined]
        request = Request(
            path=path,
            vendor=name,
            size=len(raw),
            tools=tuple(tool.full for tool in asked.tools),
            model=asked.model,
            effort=asked.effort,
            system=asked.system,
            stream=asked.stream,
            body=raw,
        )
        if path.endswith(("/count_tokens", ":countTokens")):
            model.record(request)
            self._json(200, {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
            return
        playing = model.scenes.find(asked)
        fault = None
        if playing:
            turn = playing.now
            fault = model.fault(playing.scene.name, playing.turn, turn) if turn else None
            request = replace(request, scene=playing.scene.name, turn=playing.turn)
        model.record(replace(request, fault=(f"{fault.kind} {fault.status or ''}".strip() if fault else "")))
        answer = _priced(play(playing, asked), asked, playing.now if playing else None)
        if fault:
            self._fail(vendor, fault, asked, answer)
        elif asked.stream and (vendor is not gemini or "alt=sse" in self.path):
            self._stream(vendor.events(asked, answer), done=vendor is chat)
        elif asked.stream:
            self._send(200, dumps([data for _, data in vendor.events(asked, answer)]).encode(), "application/json")
        else:
            self._json(200, vendor.write(asked, answer))

    def _fail(self, vendor: Vendor, fault: Fault, asked: Asked, answer: Answer) -> None:
        self.close_connection = True
        if fault.kind in ("status", "quota"):
            status, body = vendor.error(fault.status, fault.kind == "quota", fault.retry_after or 0)
            status = fault.status or status
            text = fault.body if fault.body is not None else dumps(body)
            wait = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            self._send(status, text.encode(), "application/json", {**wait, "connection": "close"})
        elif fault.kind == "hang":
            self.server.model.closing.wait()
        elif fault.kind == "drop":
            self.connection.close()
        elif fault.kind == "empty":
            kind = "text/event-stream" if asked.stream else "application/json"
            self._send(200, b"", kind, {"connection": "close"})
        elif not asked.stream:
            text = dumps(vendor.write(asked, answer))
            broken = text[: len(text) // 2] + ("" if fault.kind == "cut" else "}}{")
            self._send(200, broken.encode(), "application/json", {"connection": "close"})
        else:
            self._break(vendor.events(asked, answer), fault)

    def _break(self, events: Sequence[Event], fault: Fault) -> None:
        """The first half of a stream, then nothing, or then something that is no JSON."""
        self._open_stream()
        for event in events[: max(1, len(events) // 2)]:
            self._chunk(_sse(event))
        if fault.kind == "garbage":
            self._chunk(b'data: {"type": "garbage", ]]\n\n')
            self._chunk(b"")
        self.connection.close()

    def _stream(self, events: Sequence[Event], done: bool) -> None:
        self._open_stream()
        for event in events:
            self._chunk(_sse(event))
        if done:
            self._chunk(f"data: {chat.DONE}\n\n".encode())
        self._chunk(b"")

    def _open_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _json(self, status: int, data: Json) -> None:
        self._send(status, dumps(data).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str = "text/plain", more: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)


def _sse(event: Event) -> bytes:
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {dumps(data)}\n\n".encode()


def _priced(answer: Answer, asked: Asked, turn: Turn | None) -> Answer:
    """With figures that follow from bytes: a token is four of them."""
    out = len(answer.say.encode()) + sum(len(call.raw.encode()) for call in answer.calls)
    tokens = asked.size // 4
    return replace(
        answer, tokens_in=tokens, tokens_out=max(1, out // 4), cached=int(tokens * turn.cached) if turn else 0
    )
