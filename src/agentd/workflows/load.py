"""From YAML text to a workflow, with file, line and step in every error. It runs nothing it reads."""

import yaml

from agentd.errors import Unsound
from agentd.model.workflow import KINDS, Edge, Step, Workflow
from agentd.patterns import regex

HEADER = ("name", "about", "of", "starts", "commands", "entries", "defaults", "steps")
STEP = ("phase", *KINDS, "needs", "when", "produces", "tools", "next")
DEEPEST = 20
EDGE = ("to", "at_most", "then", "rewind", "waive", "budget")

NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str, source: str) -> Workflow:
    """The table in `text`; what is malformed is refused with its line. Soundness is `check`'s part."""
    reader = _Reader(source)
    try:
        _refuse_depth(reader, text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise reader.refuse(error.problem or "not YAML", mark.line + 1 if mark else 1) from None
    except yaml.YAMLError as error:
        raise reader.refuse(str(error).replace("\n", " "), 1) from None
    if root is None:
        raise reader.refuse("the file is empty", 1)
    return reader.workflow(root)


def _refuse_depth(reader: "_Reader", text: str) -> None:
    """A table is three levels deep; a text nested without end would take the parser's stack with it."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise reader.refuse("it is nested too deeply", event.start_mark.line + 1)


class _Reader:
    """Walks composed YAML nodes, which know their lines; values are read as the text that stands there."""

    def __init__(self, source: str) -> None:
        self.source = source

    def refuse(self, what: str, line: int, step: str = "") -> Unsound:
        where = f"{self.source}:{line}: " + (f"step '{step}': " if step else "")
        return Unsound(where + what, f"edit {self.source}, then: agentd workflow check {self.source}")

    def pairs(self, node: yaml.Node, what: str, step: str = "") -> dict[str, tuple[yaml.Node, int]]:
        if not isinstance(node, yaml.MappingNode):
            raise self.refuse(f"{what} must be a mapping", node.start_mark.line + 1, step)
        found: dict[str, tuple[yaml.Node, int]] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = self.word(key, f"a key of {what}", step)
            if name in found:
                raise self.refuse(f"'{name}' stands twice in {what}", line, step)
            found[name] = (value, line)
        return found

    def keyed(self, node: yaml.Node, what: str, allowed: tuple[str, ...], step: str = "") -> dict[str, yaml.Node]:
        found = self.pairs(node, what, step)
        for name, (_, line) in found.items():
            if name not in allowed:
                from difflib import get_close_matches

                near = get_close_matches(name, allowed, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(allowed)}"
                raise self.refuse(f"unknown key '{name}' in {what} ({hint})", line, step)
        return {name: value for name, (value, _) in found.items()}

    def word(self, node: yaml.Node, what: str, step: str = "") -> str:
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            raise self.refuse(f"{what} must be a word", node.start_mark.line + 1, step)
        return str(node.value)

    def words(self, node: yaml.Node, what: str, step: str = "") -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.refuse(f"{what} must be a list", node.start_mark.line + 1, step)
        return tuple(self.word(item, f"an entry of {what}", step) for item in node.value)

    def flag(self, node: yaml.Node, what: str, step: str) -> bool:
        text = self.word(node, what, step)
        if text not in ("true", "false"):
            raise self.refuse(f"{what} must be true or false", node.start_mark.line + 1, step)
        return text == "true"

    def edge(self, node: yaml.Node, step: str) -> Edge:
        if isinstance(node, yaml.ScalarNode):
            return Edge(self.word(node, "a target", step))
        keys = self.keyed(node, "an edge", EDGE, step)
        line = node.start_mark.line + 1
        if "to" not in keys:
            raise self.refuse("an edge needs 'to'", line, step)
        if ("at_most" in keys) != ("then" in keys):
            raise self.refuse("'at_most' and 'then' go together", line, step)
        if "budget" in keys and "at_most" not in keys:
            raise self.refuse("a 'budget' needs 'at_most'", line, step)
        limit = self.word(keys["at_most"], "at_most", step) if "at_most" in keys else None
        return Edge(
            to=self.word(keys["to"], "to", step),
            at_most=int(limit) if limit and limit.isdecimal() else limit,
            then=self.word(keys["then"], "then", step) if "then" in keys else None,
            rewind="rewind" in keys and self.flag(keys["rewind"], "rewind", step),
            waive="waive" in keys and self.flag(keys["waive"], "waive", step),
            budget=self.word(keys["budget"], "budget", step) if "budget" in keys else "",
        )

    def step(self, name: str, node: yaml.Node, line: int) -> Step:
        keys = self.keyed(node, "a step", STEP, name)
        kinds = [kind for kind in KINDS if kind in keys]
        if len(kinds) != 1:
            what = f"it has {' and '.join(kinds)}" if kinds else "it has none"
            raise self.refuse(f"a step has exactly one of {', '.join(KINDS)}; {what}", line, name)
        if "phase" not in keys:
            raise self.refuse("a step needs a phase", line, name)
        lists = {key: self.words(keys[key], key, name) for key in ("needs", "when", "produces", "tools") if key in keys}
        edges = self.pairs(keys["next"], "next", name) if "next" in keys else {}
        return Step(
            name=name,
            phase=self.word(keys["phase"], "phase", name),
            kind=kinds[0],
            what=self.word(keys[kinds[0]], kinds[0], name),
            next={word: self.edge(target, name) for word, (target, _) in edges.items()},
            line=line,
            **lists,
        )

    def workflow(self, root: yaml.Node) -> Workflow:
        keys = self.keyed(root, "a workflow", HEADER)
        for needed in ("name", "starts", "steps"):
            if needed not in keys:
                raise self.refuse(f"a workflow needs '{needed}'", 1)
        starts = self.pairs(keys["starts"], "starts")
        commands = self.pairs(keys["commands"], "commands") if "commands" in keys else {}
        entries = self.pairs(keys["entries"], "entries") if "entries" in keys else {}
        defaults = self.pairs(keys["defaults"], "defaults") if "defaults" in keys else {}
        name = self.word(keys["name"], "name")
        if not NAME.fullmatch(name):
            raise self.refuse(f"'{name}' cannot name a workflow: letters, digits, dots, - and _", 1)
        return Workflow(
            name=name,
            about=self.word(keys["about"], "about") if "about" in keys else "",
            of=self.word(keys["of"], "of") if "of" in keys else "",
            starts={mode: self.word(node, "a start") for mode, (node, _) in starts.items()},
            commands={name: self.words(node, "a command's phases") for name, (node, _) in commands.items()},
            entries={name: self.word(node, "an entry") for name, (node, _) in entries.items()},
            defaults={word: self.edge(node, "defaults") for word, (node, _) in defaults.items()},
            steps={
                name: self.step(name, node, line) for name, (node, line) in self.pairs(keys["steps"], "steps").items()
            },
            source=self.source,
        )
