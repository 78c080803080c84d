"""Scenes: what the model says to which words, turn by turn, out of a YAML text.

    scenes:
      - name: propose
        when: 'Write the proposal.*change_id: (?P<run>[\\w-]+)'   # looked for in what the person says; . is any character
        turns:
          - call: {create_proposal: {change_id: "{{run}}", …}}     # or a list of such mappings
          - say: Done.
            fail: [429, {status: 500, always: true}, cut]
            cached: 0.5                                             # the part of the input that a cache had

`[[script:NAME]]` in a message selects a scene whatever its `when` says. A scene that says `with: Write` is for requests
that declare this tool, so that scenes of one name can tell each program's way of doing the same. `{{name}}` stands for what a named group of
`when` found, `{{name:int}}` for the number it is. A tool may be named with its server: `agentd.read_file`; one with a !
before its name is called whether it is declared or not. Arguments that are a text are sent as they are, JSON or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from tests.contract.model.wire import Answer, Asked, Called, Message, Tool, dumps, sample

Kind = Literal["status", "quota", "cut", "drop", "hang", "garbage", "empty"]
_MARK = re.compile(r"\[\[script:([\w-]+)\]\]")
_HOLE = re.compile(r"\{\{(\w+)(:int)?\}\}")
MISSING = "FAKE MODEL: no tool"


@dataclass(frozen=True)
class Fault:
    """One failure instead of an answer; `always` is never used up."""

    kind: Kind
    status: int = 0
    retry_after: float | None = None
    body: str | None = None
    always: bool = False


@dataclass(frozen=True)
class Turn:
    """What the model does once: say something, call tools, or both."""

    say: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    faults: tuple[Fault, ...] = ()
    cached: float = 0.0


@dataclass(frozen=True)
class Scene:
    """A conversation's worth of turns, the words that call for it, and the tool it cannot do without."""

    name: str
    turns: tuple[Turn, ...]
    when: re.Pattern[str] | None = None
    tool: str = ""

    @property
    def uses_tools(self) -> bool:
        return any(turn.calls for turn in self.turns)


@dataclass(frozen=True)
class Playing:
    """A scene that a conversation is in: which turn comes, and what its words were filled with."""

    scene: Scene
    turn: int
    words: Mapping[str, str]
    searched: bool = False

    @property
    def now(self) -> Turn | None:
        return self.scene.turns[self.turn] if self.turn < len(self.scene.turns) else None


class Scenes:
    """All scenes of a file, in its order: of two that match the same message the first is played."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self.all = tuple(scenes)

    @classmethod
    def load(cls, source: Path | str | Sequence[Mapping[str, Any]]) -> Scenes:
        """From a file, a YAML text, or what is in one."""
        data: Any = source
        if isinstance(source, Path):
            source = source.read_text(encoding="utf-8")
        if isinstance(source, str):
            data = yaml.safe_load(source)
        if isinstance(data, Mapping):
            data = data["scenes"]
        return cls(_scene(each) for each in data)

    def find(self, asked: Asked) -> Playing | None:
        """The scene that the newest matching message of the person asks for.

        A request without any tools is not part of a scene that uses them, nor is one for JSON part of any: a program looks
        for a title, say, or for the model that fits best.
        """
        messages, equipped = asked.messages, bool(asked.tools or asked.search or asked.code)
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].role == "user" and (found := self._match(messages[index].text, asked.tools)):
                scene, words = found
                if not equipped and (scene.uses_tools or asked.schema):
                    return None
                turn, searched = _progress(messages[index + 1 :])
                return Playing(scene, turn, words, searched)
        return None

    def _match(self, text: str, tools: Sequence[Tool]) -> tuple[Scene, dict[str, str]] | None:
        marked = _MARK.search(text)
        for scene in self.all:
            if scene.tool and not find_tool(scene.tool, tools):
                continue
            found = scene.when.search(text) if scene.when else None
            if marked[1] == scene.name if marked else found:
                words = found.groupdict() if found else {}
                return scene, {name: value or "" for name, value in words.items()}
        return None


def play(playing: Playing | None, asked: Asked) -> Answer:
    """The answer to a request, but for its figures. What cannot be played is said, so that a test sees it."""
    if playing is None and asked.schema:
        return Answer(dumps(sample(asked.schema)))
    if playing is None:
        return Answer("FAKE MODEL: no scene matches this conversation." if asked.tools else "A short answer.")
    turn = playing.now
    if turn is None:
        return Answer(f"FAKE MODEL: the scene {playing.scene.name} has no turn {playing.turn + 1}.")
    if any(message.role == "tool" and MISSING in message.text for message in asked.messages[-2:]):
        return Answer(asked.messages[-1].text)
    calls: list[Called] = []
    for name, args in turn.calls:
        tool = find_tool(name, asked.tools)
        if tool is None:
            return _fetch(playing, asked, name, turn)
        calls.append(Called(_id(playing, asked, len(calls)), tool, _fill(args, playing.words)))
    return Answer(_fill(turn.say, playing.words), tuple(calls))


def find_tool(name: str, tools: Iterable[Tool]) -> Tool | None:
    """The declared tool whose name ends like this one: itself, or the shortest of those with a prefix.

    Where no tool names its server, one may be meant that is named without it.
    """
    if name.startswith("!"):
        return Tool(name[1:])
    tools = list(tools)
    pattern = re.compile(r"(?:^|[^A-Za-z0-9]|_)" + r"[^A-Za-z0-9]+".join(map(re.escape, name.split("."))) + "$")
    found = [tool for tool in tools if pattern.search(tool.full)]
    plain = [tool for tool in tools if "." in name and tool.full == name.split(".")[-1]]
    return min(found or plain, key=lambda tool: len(tool.full), default=None)


def _fetch(playing: Playing, asked: Asked, name: str, turn: Turn) -> Answer:
    """A tool that is not declared may still be behind a search, or behind a program that calls it."""
    first = _id(playing, asked, 0)
    if asked.search and not playing.searched:
        words = " ".join(name.split("."))
        return Answer(calls=(Called(f"search{first}", Tool(asked.search), {"query": words}, "search"),))
    if asked.code:
        program = "\n".join(_program(each, _fill(args, playing.words)) for each, args in turn.calls)
        say = _fill(turn.say, playing.words)
        return Answer(say, (Called(first, Tool(asked.code), program, "code"),))
    names = ", ".join(sorted(tool.full for tool in asked.tools)) or "none"
    return Answer(f"{MISSING} {name!r} in this request, which declares: {names}")


def _program(name: str, args: Any) -> str:
    ending = "(^|[^A-Za-z0-9]|_)" + "[^A-Za-z0-9]+".join(name.split(".")) + "$"
    return (
        f"{{ const found = ALL_TOOLS.find(each => new RegExp({dumps(ending)}).test(each.name));\n"
        f"  if (!found) text({dumps(f'{MISSING} {name!r} in this program')});\n"
        f"  else text(JSON.stringify(await tools[found.name]({dumps(args)}) ?? null)); }}"
    )


def _id(playing: Playing, asked: Asked, number: int) -> str:
    return f"call_turn{playing.turn}_{number}_{len(asked.messages)}"


def _progress(messages: Sequence[Message]) -> tuple[int, bool]:
    """How many turns were played after a message, and whether tools were looked for since the last of them."""
    count, searched, before = 0, False, ""
    for message in messages:
        if message.search:
            searched = True
        elif message.role == "assistant":
            known = max(message.turns, default=-1) + 1
            count = max(count, known) if known else count + (before != "assistant")
            searched = False
        before = "" if message.search else message.role
    return count, searched


def _fill(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        whole = _HOLE.fullmatch(value)
        if whole and whole[2]:
            return int(words[whole[1]])
        return _HOLE.sub(lambda hole: words.get(hole[1], hole[0]), value)
    if isinstance(value, Mapping):
        return {key: _fill(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill(part, words) for part in value]
    return value


def _scene(data: Mapping[str, Any]) -> Scene:
    unknown = set(data) - {"name", "when", "with", "turns"}
    assert not unknown, f"a scene has no {sorted(unknown)}"
    when = re.compile(data["when"], re.DOTALL) if data.get("when") else None
    return Scene(str(data["name"]), tuple(_turn(each) for each in data["turns"]), when, str(data.get("with", "")))


def _turn(data: Mapping[str, Any]) -> Turn:
    unknown = set(data) - {"say", "call", "fail", "cached"}
    assert not unknown, f"a turn has no {sorted(unknown)}"
    calls = data.get("call") or []
    listed = [calls] if isinstance(calls, Mapping) else calls
    return Turn(
        say=str(data.get("say", "")),
        calls=tuple((name, args or {}) for each in listed for name, args in each.items()),
        faults=tuple(_fault(each) for each in data.get("fail", [])),
        cached=float(data.get("cached", 0)),
    )


def _fault(data: Any) -> Fault:
    """`429`, `cut`, or a mapping with `status` or `kind` and more."""
    if isinstance(data, int):
        return Fault("status", data)
    if isinstance(data, str):
        data = {"kind": data}
    fault = Fault(**{"kind": "status", **data})
    assert fault.kind in get_args(Kind), f"{fault.kind} is no kind of failure"
    return replace(fault, body=dumps(fault.body)) if isinstance(fault.body, (Mapping, list)) else fault
