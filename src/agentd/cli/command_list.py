"""The commands by name and summary, and the page of `agentd --help`. It imports nothing, so that the page is there at once."""

ABOUT = """\
  Drive AI coding agents through durable workflows with gates; every decision
  that matters stays with a person."""
OPTIONS = """\
  --version   Show the version and exit.
  -h, --help  Show this message and exit."""
COMMANDS = {
    "quick": "Do a small change: one plan, one yes, done.",
    "plan": "Start a change, or go on planning it.",
    "impl": "Implement a change whose plan was approved.",
    "archive": "Merge a complete change's specs into the library.",
    "commit": "Commit exactly the files of a change.",
    "undo": "Take an archived change out of the library again.",
    "abandon": "End a run, or take a change away and bring it back.",
    "validate": "Check the documents of changes and the spec library.",
    "run": "Start a run of any workflow.",
    "resume": "Go on with a run where it stopped.",
    "answer": "Answer an open question of a run.",
    "stop": "Ask a working run to stop after its step.",
    "deliver": "Merge what has landed in a run into your branch.",
    "workspaces": "Where tasks are worked on side by side.",
    "status": "Where runs stand, and what to type next.",
    "list": "Every run, one line each.",
    "show": "The plan of a change: proposal, specs and tasks.",
    "log": "What happened in a run.",
    "cost": "What agent calls cost, by run, step or model.",
    "trace": "What proves each requirement: tasks, files, tests, evidence.",
    "history": "Which change brought which requirement of a spec.",
    "workflow": "List, show and check workflows.",
    "mcp": "Serve the documents of a run to an agent.",
    "init": "Write a configuration file to edit.",
    "doctor": "What is installed, what works, and who plays which role.",
    "demo": "Take a sample change from idea to archive.",
    "completions": "Print shell completions.",
}
# What also works and is not listed: older names, and the steps of a change one by one.
OTHER_NAMES = {
    "step": ("step",),
    "challenge": ("step", "challenge"),
    "reproposal": ("step", "reproposal"),
    "plan-change": ("plan",),
    "impl-change": ("impl",),
    "merge-change": ("archive",),
}
REPLACED = {"proposal": "plan", "review": "impl", "resolve-reviews": "impl"}
# What other tools call a command, and what it is called here.
ELSEWHERE = {
    "propose": "plan",
    "new": "plan",
    "specify": "plan",
    "start": "plan",
    "apply": "impl",
    "implement": "impl",
    "build": "impl",
    "fix": "quick",
    "merge": "archive",
    "sync": "archive",
    "revert": "undo",
    "delete": "abandon",
    "remove": "abandon",
    "cancel": "abandon",
    "discard": "abandon",
    "continue": "resume",
    "verify": "validate",
    "analyze": "validate",
    "next": "status",
    "ls": "list",
    "view": "show",
    "check": "doctor",
    "config": "init",
}


def help_page() -> str:
    """What click prints for `agentd --help` where lines may have 80 columns."""
    widest = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{widest}}  {summary}" for name, summary in COMMANDS.items())
    return f"Usage: agentd [OPTIONS] COMMAND [ARGS]...\n\n{ABOUT}\n\nOptions:\n{OPTIONS}\n\nCommands:\n{listed}"
