"""The workflows of a person's own, in `agentd/workflows/`: what their tables may name."""

from pathlib import Path

from agentd.model.tools import POWERS, TOOLS
from agentd.runs.layout import Layout
from agentd.state.codecs import PLAIN

LAYOUT = Layout(
    name="own",
    module=__name__,
    folder=Path(__file__).parent,
    homes=("agentd/runs",),
    codec=PLAIN,
    actions={
        "nothing": ("steps.nothing", ("done",)),
        "run_tests": ("steps.run_tests", ("green", "red", "unknown")),
        "open_workspace": ("steps.open_workspace", ("done", "could_not_start")),
        "land": ("steps.land", ("landed", "red", "conflict")),
    },
    items={"tasks": "steps.tasks"},
    artifacts={"evidence.json": "steps.evidence_is_green"},
    tools=(*TOOLS, *POWERS),
    shared={"write_knowledge": ("agentd/knowledge",), "write_main_spec": ("agentd/specs", "agentd/.lock")},
)
