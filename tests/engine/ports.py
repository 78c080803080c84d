"""The engine's ports in memory: a world that keeps what was saved, plays a script, and can die at any point."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentd.engine.advance import start
from agentd.engine.decide import Stop
from agentd.engine.drive import drive
from agentd.engine.waves import Item
from agentd.model.run import Intent, Outcome, Run
from agentd.model.workflow import Step, Workflow, is_check

Script = Mapping[str, Sequence[str]]


class Crash(Exception):
    """The process died here."""


@dataclass
class Fuse:
    """Counts the points where a process can die, and dies at the one asked for; the dead do nothing more."""

    at: int | None = None
    passed: int = 0
    blown: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def point(self) -> None:
        with self.lock:
            self.blown = self.blown or self.passed == self.at
            if self.blown:
                raise Crash
            self.passed += 1


@dataclass(frozen=True)
class Saved:
    """One durable write."""

    run: Run
    event: str
    details: Mapping[str, str]


@dataclass
class Children:
    """What an `each` step works through, and what the nth life of each item's child does."""

    workflow: Workflow
    items: Sequence[Item]
    scripts: Mapping[str, Sequence[Script]] = field(default_factory=dict)
    at_once: int = 1


class Twin:
    """The world of one run.

    script      the words each step ends with, one per visit; a step without any goes forward, a question without waits
    holds       what each named check says; a check not listed holds, an artifact holds while it is there
    nudges      how often the agent of each step leaves something out first, before the word of its visit counts
    remembers   whether an attempt that finished can be recovered when its end was not saved
    stop        whether a person asked to stop
    stop_when   an effect at which the person asks for it
    during      called in the middle of every step performed
    """

    def __init__(
        self, workflow: Workflow, script: Script | None = None, each: Children | None = None, run: Run | None = None
    ) -> None:
        self.workflow = workflow
        self.script: dict[str, Sequence[str]] = dict(script or {})
        self.each = each
        self.first = run or start(workflow, "twin")
        self.history: tuple[Saved, ...] = ()
        self.effects: list[str] = []
        self.performed: list[str] = []
        self.finished: dict[str, Outcome] = {}
        self.artifacts: set[str] = set()
        self.holds: dict[str, str] = {}
        self.nudges: dict[str, int] = {}
        self.remembers = True
        self.stop = False
        self.stop_when = ""
        self.during: Callable[[Step], object] = lambda step: None
        self.fuse = Fuse()
        self.children: dict[str, Twin] = {}
        self.buried: dict[str, list[Twin]] = {}
        self.calls = 0

    @property
    def saved(self) -> Run:
        """What a new process finds."""
        return self.history[-1].run if self.history else self.first

    @property
    def events(self) -> list[str]:
        return [f"{saved.event} {saved.details.get('step', '')}".strip() for saved in self.history]

    def go(self, command: str = "", steps: int | None = None) -> tuple[Run, Stop]:
        """Drive the run as a new process would: from what was saved, knowing nothing else."""
        return drive(self.workflow, self.saved, self, command, steps)

    def revive(self, at: int | None = None) -> None:
        """A new process after a crash, which may die as well."""
        self.fuse = Fuse(at)
        for child in self.children.values():
            child.fuse = self.fuse

    def facts(self, run: Run, wanted: Sequence[str]) -> Mapping[str, str]:
        return {name: self._fact(name) for name in wanted}

    def intent(self, run: Run, step: Step) -> Intent:
        self.calls += 1
        nudge = run.intent.nudge if run.intent else None
        return Intent(f"{run.name}-{step.name}-{self.calls}", "now", nudge=nudge)

    def save(self, run: Run, event: str, **details: str) -> None:
        self.fuse.point()
        kept = replace(run, counts=dict(run.counts))
        self.history += (Saved(kept, event, details),)
        self._note(f"save {event} {details.get('step', '')}")
        self.fuse.point()

    def clear(self, run: Run) -> None:
        self.fuse.point()
        self._note(f"clear {' '.join(run.clear)}")
        for name in run.clear:
            self.artifacts.discard(name)
            for item in [item for item in self.children if f"children/{self._each_step()}/{item}/".startswith(name)]:
                self.buried.setdefault(item, []).append(self.children.pop(item))
            self.fuse.point()

    def recover(self, run: Run, step: Step) -> Outcome | None:
        self._note(f"recover {step.name}")
        assert run.intent is not None
        return self.finished.get(run.intent.call) if self.remembers else None

    def perform(self, run: Run, step: Step) -> Outcome:
        assert run == self.saved, "an effect without its intent on disk"
        assert run.intent is not None
        self.fuse.point()
        self._note(f"perform {step.name}")
        self.during(step)
        outcome = Outcome(self._word(step) or step.forward, f"{step.name} was performed")
        if (run.intent.nudge.times if run.intent.nudge else 0) < self.nudges.get(step.name, 0):
            outcome = Outcome("failed", "it asked", "its text")
        self.artifacts.update(step.produces)
        self.finished[run.intent.call] = outcome
        self.performed.append(step.name)
        self.fuse.point()
        return outcome

    def ask(self, run: Run, step: Step) -> Outcome | None:
        assert run == self.saved, "a question nobody could answer after a crash"
        self.fuse.point()
        self._note(f"ask {step.name}")
        word = self._word(step)
        return Outcome(word, "a person said so") if word else None

    def items(self, run: Run, step: Step) -> Sequence[Item]:
        return self.each.items if self.each else ()

    def drive_child(self, run: Run, step: Step, item: Item) -> Stop:
        self._note(f"child {item.id}")
        if item.id not in self.children:
            self.children[item.id] = self._born(item)
        child = self.children[item.id]
        return drive(child.workflow, child.saved, child)[1]

    def at_once(self, run: Run, step: Step) -> int:
        return self.each.at_once if self.each else 1

    def may_begin(self, run: Run, step: Step, item: Item, under_way: Sequence[Item]) -> str:
        return ""

    def hold(self, run: Run, step: Step) -> Stop | None:
        return None

    def stopping(self) -> bool:
        return self.stop

    def _fact(self, name: str) -> str:
        if is_check(name) or name in self.holds:
            return self.holds.get(name, "")
        return "" if name in self.artifacts else "missing"

    def _word(self, step: Step) -> str:
        """The word of this visit. Visits are counted by what was saved, so that a repeated attempt says the same."""
        ends = [s for s in self.history if s.event in ("end", "recover") and s.details["step"] == step.name]
        words = self.script.get(step.name, ())
        return words[len(ends)] if len(ends) < len(words) else ""

    def _born(self, item: Item) -> "Twin":
        assert self.each is not None
        scripts = self.each.scripts.get(item.id, ({},))
        life = min(len(self.buried.get(item.id, ())), len(scripts) - 1)
        child = Twin(self.each.workflow, scripts[life], run=start(self.each.workflow, item.id))
        child.fuse, child.remembers, child.during = self.fuse, self.remembers, self.during
        child.stopping = self.stopping  # type: ignore[method-assign]  # one person stops the whole tree
        return child

    def _each_step(self) -> str:
        return next((step.name for step in self.workflow.steps.values() if step.kind == "each"), "")

    def _note(self, effect: str) -> None:
        self.effects.append(effect.strip())
        self.stop = self.stop or effect.strip() == self.stop_when
