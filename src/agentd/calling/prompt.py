"""The words an agent is given for a step: the person's own template or the built-in one, filled in from the run."""

from typing import TYPE_CHECKING

from agentd.errors import BadConfig
from agentd.model.workflow import Step, is_check
from agentd.prompts.render import built_in, for_step, render
from agentd.review.ledger import table

if TYPE_CHECKING:
    from agentd.runs.work import Work

BUILDERS = ("implementer", "reviewer")


def make_prompt(work: "Work", step: Step, words: tuple[str, ...], context: str = "") -> str:
    """The step's own template from `agentd/prompts/`, the built-in one of a change's step, or the one for any step."""
    own = work.project.root / "agentd" / "prompts" / f"{step.name}.md"
    try:
        template, source = own.read_text(encoding="utf-8"), str(own)
    except FileNotFoundError:
        name = for_step(step.name, step.tools) if work.is_change else "step"
        template, source = built_in(name), f"{name}.md"
    except UnicodeDecodeError:
        raise BadConfig(f"{own}: not UTF-8 text.", f"iconv -f latin1 -t utf-8 -o {own} {own}") from None
    except OSError as error:
        raise BadConfig(f"{own}: {error.strerror}.", f"ls -l {own}") from None
    values = _values(work, step, words) | (_change_values(work, context) if work.is_change else {})
    if work.is_change and step.what in BUILDERS:
        values |= _code_values(work)
    return render(template, values, source)


def _values(work: "Work", step: Step, words: tuple[str, ...]) -> dict[str, str]:
    reads = [where(work, name) for name in step.needs if not is_check(name)]
    writes = [f"{work.home}/{work.named(name)}" for name in step.produces]
    tools = ", ".join(step.tools)
    bulleted = f"\n- The tools of the MCP server agentd, for these documents: {tools}"
    return {
        "role": step.what,
        "workflow": work.workflow.name,
        "step": step.name,
        "run": work.top.state.run.name,
        "item": work.item if work.is_change else f", item {work.item}" if work.item else "",
        "description": str(work.top.state.fields.get("description", "")),
        "root": str(work.cwd),
        "folder": str(work.home),
        "reads": ", ".join(reads) or "nothing in particular",
        "writes": ", ".join(writes) or "what the step asks for",
        "tools": tools if work.is_change else bulleted if tools else "",
        "outcomes": ", ".join(words),
        "forward": step.forward,
    }


def _change_values(work: "Work", context: str) -> dict[str, str]:
    """What the documents of a change and its reviews say, as far as templates ask for it."""
    from agentd.families.change import challenge, format_check
    from agentd.families.change.specs import affected

    ordered = affected(work)
    specs = [f"specs/{name}.md" for name in ordered]
    present = [path.relative_to(work.home).as_posix() for path in work.files("specs/")]
    listed = list(dict.fromkeys([name for name in specs if name in present] + present))
    mine = f"specs/{work.item}.md"
    before = specs[: specs.index(mine)] if mine in specs else []
    clarified = work.home / "clarifications.md"
    return {
        "context": context or f"{work.home}/GEMINI.md",
        "clarifications": str(clarified) if clarified.is_file() else "(there are none)",
        "earlier_specs": _bullets(work, [name for name in before if name in present], "(none: this is the first)"),
        "other_specs": _bullets(work, [name for name in listed if name != mine], "(none)"),
        "specs": _bullets(work, listed, "(no spec is affected)"),
        "documents": _bullets(work, ["proposal.md", *listed, "tasks.md"], ""),
        "review": f"{work.home}/CHALLENGE.md",
        "issues": "\n".join(table(challenge.entries(work))) or "(none)",
        "findings": "\n".join(format_check.lines(work)) or "(none)",
        "round": str(len(challenge.reviews(work)) + 1),
    }


def _code_values(work: "Work") -> dict[str, str]:
    """What there is to say to those who write code and to those who review it."""
    from agentd.families.change import code_verdict, tasks
    from agentd.proof import record

    seen, _ = record.evidence(work)
    first, _ = record.evidence(work, record.BASELINE)
    told = seen or first
    against = "\n".join(f"- {one.text}" for one in record.blockers(work)) if seen else ""
    return {
        "tasks": tasks.in_words(tasks.handed_out(work) if work.item else tasks.open_tasks(work)),
        "evidence": code_verdict.in_words(work, told) if told else "(agentd has seen nothing yet)",
        "output": code_verdict.failing_output(seen) if seen else "",
        "against": against or "(nothing)",
        "code_issues": "\n".join(table(code_verdict.ledger(work))) or "(none)",
        "report": f"{work.home}/REVIEW.md",
        "diff": f"{work.home}/implementation.diff",
        "code_round": str(len(code_verdict.rounds(work)) + 1),
    }


def _bullets(work: "Work", names: list[str], nothing: str) -> str:
    return "\n".join(f"- {work.home}/{name}" for name in names) or nothing


def where(work: "Work", name: str) -> str:
    """The full path of an artifact, which may be the parent's."""
    at = work
    while at.parent is not None and not any(at.files(name)):
        at = at.parent
    return f"{at.home}/{work.named(name)}"
