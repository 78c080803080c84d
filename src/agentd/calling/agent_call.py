"""One agent step as its family has it: what the agent is given, what it may not touch, what its reply amounts to.

This is the ordinary way, which holds for every family; a family with ways of its own overrides what is different.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentd.calling.reply import Stated, find_outcome, judge, self_review
from agentd.model.job import Reply
from agentd.model.models import Complexity
from agentd.model.run import Outcome, Run
from agentd.model.tools import POWERS
from agentd.model.workflow import RESERVED, Step, is_check
from agentd.prompts.render import built_in
from agentd.runs import checksums
from agentd.runs.safeguard import Safeguard
from agentd.runs.work import Work

Values = Mapping[str, Callable[[], str]]
_Seen = Mapping[Path, tuple[int, int]]


class AgentCall:
    """The calls of one agent step, the repeated ones included."""

    def __init__(self, work: Work, step: Step) -> None:
        self.work, self.step = work, step
        self.guards: list[Safeguard] = []
        self._seen: _Seen = {}

    @property
    def part(self) -> str:
        """Whom the configuration names for this work."""
        return self.step.what

    @property
    def seconds(self) -> float:
        """How long a call may take at most; 0 for what the configuration says of every call."""
        return 0.0

    def arm(self) -> None:
        """Remember what the calls have to leave as it is."""
        self.guards = [self.guard(self.work)]
        above = self.work.parent
        while above is not None and not above.layout.children_share:
            self.guards.append(Safeguard(above, records(above)))
            above = above.parent

    def guard(self, work: Work) -> Safeguard:
        """What agentd's own steps wrote, and agentd's settings where an agent could reach them."""
        powerful = not self.step.tools or not {*POWERS}.isdisjoint(self.step.tools)
        return Safeguard(work, records(work), settings=powerful)

    def note_documents(self) -> None:
        """Keep what the agent is about to see, durable with the intent to call it."""

    def prepare(self) -> Mapping[str, str]:
        """Lay out what the agent finds before a call; gives its environment."""
        self._seen = _signatures(self.work, self.step)
        return {}

    def template(self) -> tuple[str, str]:
        """The words of the prompt before its slots are filled, and the name of their file."""
        return built_in("step"), "step.md"

    def values(self) -> Values:
        """What fills the slots of a template, each made when it is asked for."""
        work, step = self.work, self.step
        words = [word for word in step.next if word not in RESERVED]
        tools = ", ".join(step.tools)
        return {
            "role": lambda: step.what,
            "workflow": lambda: work.workflow.name,
            "step": lambda: step.name,
            "run": lambda: work.top.state.run.name,
            "item": lambda: f", item {work.item}" if work.item else "",
            "description": lambda: str(work.top.state.fields.get("description", "")),
            "root": lambda: str(work.cwd),
            "folder": lambda: str(work.home),
            "reads": lambda: (
                ", ".join(_where(work, name) for name in step.needs if not is_check(name)) or "nothing in particular"
            ),
            "writes": lambda: (
                ", ".join(f"{work.home}/{work.named(name)}" for name in step.produces) or "what the step asks for"
            ),
            "tools": lambda: f"\n- The tools of the MCP server agentd, for these documents: {tools}" if tools else "",
            "outcomes": lambda: ", ".join(words),
            "forward": lambda: step.forward,
        }

    def session(self, visit: int) -> str:
        """The conversation to go on with; nothing for a new one."""
        return ""

    @property
    def session_key(self) -> str:
        """The field of the state file that keeps the conversation of a call that did its work."""
        return "session_id"

    def tools_for(self, missing: str) -> Sequence[str]:
        """The tools that make what an agent left out, by their own names."""
        made = any(f"{self.work.named(name)}: " in missing for name in self.step.produces)
        return tuple(name for name in self.step.tools if made and name not in POWERS)

    @property
    def ending(self) -> str:
        """How a reply ends that states one of several outcomes; empty where nothing has to be stated."""
        words = [word for word in self.step.next if word not in RESERVED]
        if len(words) < 2:
            return ""
        line = '{"outcome": "WORD"}'
        return f"End your reply with one line that is a JSON object, {line}, with {' or '.join(words)} as the word. "

    @property
    def litters(self) -> bool:
        """Whether what the agent runs may write in its working folder although it may not edit: the files are put back."""
        return False

    def complexity(self) -> Complexity:
        """How capable a model the work needs."""
        return "medium"

    def restore(self, run: Run) -> str:
        """Put back what was not the agent's to change; why the call does not count, or nothing."""
        said = [guard.put_back(self.step.produces) for guard in self.guards]
        return "; ".join(filter(None, said))

    def failed(self) -> None:
        """A call of the agent came to nothing."""

    def judge(self, run: Run, reply: Reply) -> Outcome:
        """Success is a result event, a stated outcome the table has, and every artifact written by this very call."""
        work, step = self.work, self.step
        words = [word for word in step.next if word not in RESERVED]
        if is_self_review(step):
            said = reply.outcome if reply.outcome in words else self_review(reply.text)
            return Outcome(said, _first_line(reply.text))
        stated = judge([reply.outcome], words) if reply.outcome else find_outcome(reply.text, words)
        if not stated.word and len(words) == 1 and "no outcome" in stated.problem:
            stated = Stated(words[0])
        if not stated.word:
            return Outcome("failed", stated.problem)
        missing = [f"{work.named(name)}: {why}" for name in step.produces if (why := self._unwritten(run, name))]
        if missing:
            return Outcome("failed", f"the agent said '{stated.word}', but {'; '.join(missing)}")
        return Outcome(stated.word, _first_line(reply.text))

    def _unwritten(self, run: Run, name: str) -> str:
        """Why an artifact is not one of this call, or nothing: it does not count, or it is what it was before the call.

        The process that made the call sees that a file was written again, whatever is in it; another one that finds the
        call finished goes by its checksums from before.
        """
        why = self.work.artifact(name)
        if why:
            return why
        paths = _files(self.work, name)
        if self._seen and any(self._seen.get(path) != _signature(path) for path in paths):
            return ""
        before = run.intent.before if run.intent else {}
        now = checksums.whole(paths, self.work.project)
        return (
            "" if any(before.get(each) != digest for each, digest in now.items()) else "it was not written by this step"
        )


def records(work: Work) -> tuple[str, ...]:
    """What agentd itself writes in a run: the artifacts of its `do` steps."""
    made = (step.produces for step in work.workflow.steps.values() if step.kind == "do")
    return tuple(dict.fromkeys(name for names in made for name in names))


def checksums_before(work: Work, step: Step) -> dict[str, str]:
    """The files that a step produces, as they are before it."""
    return checksums.whole((path for name in step.produces for path in _files(work, name)), work.project)


def is_self_review(step: Step) -> bool:
    """Whether the author of a document looks at it again: nothing but a clear pass is one."""
    return {"pass", "needs_revision"} <= set(step.next)


def _signatures(work: Work, step: Step) -> _Seen:
    return {path: _signature(path) for name in step.produces for path in _files(work, name)} or {Path(): (0, 0)}


def _files(work: Work, name: str) -> list[Path]:
    """The files behind an artifact's name, which may be the parent's."""
    return list(work.files(name)) or (_files(work.parent, name) if work.parent else [])


def _signature(path: Path) -> tuple[int, int]:
    """What differs after each write, whatever was written. Only compared within one call; no program can set it."""
    found = path.stat()
    return found.st_ino, found.st_ctime_ns


def _where(work: Work, name: str) -> str:
    """The full path of an artifact, which may be the parent's."""
    at = work
    while at.parent is not None and not any(at.files(name)):
        at = at.parent
    return f"{at.home}/{work.named(name)}"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:200] if text.strip() else ""
