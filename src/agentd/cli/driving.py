"""What the commands share that drive a run: their options, and the person at the terminal."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from agentd import clock, temporary
from agentd.app import open_project
from agentd.cli.ending import BEGUN
from agentd.cli.face import attended_to, json_option, known_layouts
from agentd.cli.live import View, is_terminal
from agentd.cli.output import CONTROL
from agentd.model.decision import Answer, Decision
from agentd.patterns import regex
from agentd.runs import answer_file
from agentd.runs.project import Project
from agentd.runs.recovery import recovered

BULLET = regex(r"[-*+]\s")
LISTED = 8
OTHER = "Other…"
F = TypeVar("F", bound=Callable[..., Any])


class Worded(click.Command):
    """A command that takes a description, which may begin with a bullet and is no option then."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # No argument of a program can hold a NUL, so it marks what must not be read as an option.
        left = super().parse_args(ctx, [f"\0{word}" if BULLET.match(word) else word for word in args])
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = value.removeprefix("\0")
        return left


def driving(function: F) -> F:
    """The options of every command that may ask a person."""
    function = click.option(
        "--answers", type=click.Path(dir_okay=False), help="A YAML file with answers for an unattended run."
    )(function)
    return json_option(function)


def project_for(as_json: bool, answers: str | None = None, **workflow: Any) -> Project:
    """The project around the working folder, with someone to ask and somewhere to tell; `workflow` overrides settings.

    What a command left behind that was cut off is finished first.
    """
    view = View(None if as_json else sys.stdout)
    context = click.get_current_context()
    if BEGUN in context.meta:
        clock.note_command(context.meta[BEGUN])
    # Whatever ends the command, its last words come after the live area has gone.
    context.call_on_close(view.close)
    someone = not as_json and is_terminal(sys.stdin) and is_terminal(sys.stdout)

    left = False

    def put(decision: Decision) -> Answer | None:
        nonlocal left
        if left:  # who left one question wants none of the others now
            return None
        with view.aside():
            answer = at_the_terminal(decision)
        left = answer is None
        return answer

    ask: Callable[[Decision], Answer | None] = put if someone else nobody
    if answers:
        ask = answer_file.from_file(Path(answers))
    say = (lambda _: None) if as_json else view.tell
    temporary.sweep()
    project = recovered(open_project(None, ask, say, view.watch, someone or bool(answers), known_layouts()))
    chosen = {key: value for key, value in workflow.items() if value is not None}
    if chosen:
        project = replace(project, config=project.config.with_settings("workflow", **chosen))
    return attended_to(project)


def nobody(_: Decision) -> Answer | None:
    """No one is there: the decision stays open on disk."""
    return None


def at_the_terminal(decision: Decision) -> Answer | None:
    """Ask with the arrow keys, and for words where words are wanted; leaving any of the questions leaves it open."""
    if decision.shown:
        names = [CONTROL.sub("", name) for name in decision.shown]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        print(f"About: {', '.join(names[:LISTED])}{more}")
    forget_keys()
    try:
        value = choose(decision)
        said = value.lower()
        wants_reason = any(o.reason and said in (o.value.lower(), o.label.lower()) for o in decision.options)
        return Answer(decision.id, value, words("Why? (kept with the decision)") if wants_reason else "")
    except (KeyboardInterrupt, EOFError):
        print("Left open.")
        return None


def choose(decision: Decision) -> str:
    """One of the options, in their order, or any words where the decision takes them."""
    import questionary
    from prompt_toolkit.key_binding import KeyBindings

    question = CONTROL.sub("", f"[{decision.header}] {decision.question}" if decision.header else decision.question)
    choices = [
        questionary.Choice(
            CONTROL.sub("", o.label or o.value), o.value, description=CONTROL.sub("", o.description) or None
        )
        for o in decision.options
    ]
    if not choices:
        return words(question)
    other = object()
    if decision.free:
        choices.append(questionary.Choice(OTHER, other))
    menu = questionary.select(question, choices)
    bindings = menu.application.key_bindings
    assert isinstance(bindings, KeyBindings)
    bindings.add("c-d", eager=True)(lambda event: event.app.exit(exception=EOFError))
    chosen = menu.unsafe_ask()
    return words("In your own words:") if chosen is other else str(chosen)


def words(question: str) -> str:
    """A line of text that is not empty."""
    import questionary

    prompt = questionary.text(question, validate=lambda text: bool(text.strip()) or "A few words are needed here.")
    return str(prompt.unsafe_ask()).strip()


def forget_keys() -> None:
    """What was typed before a question was there does not answer it."""
    import termios

    from prompt_toolkit.application import get_app_session
    from prompt_toolkit.input.typeahead import clear_typeahead

    clear_typeahead(get_app_session().input)
    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
