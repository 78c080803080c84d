"""The staged family: a schedule with gates and waves. Its tables load and are sound; nothing performs them yet."""

from pathlib import Path

from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

LAYOUT = Layout(
    name="staged",
    module=__name__,
    folder=Path(__file__).parent,
    homes=(".agents",),
    codec=Codec("state.json", "name", "currentStage", "version", 2, "startedAt", "updatedAt", "currentPhase"),
    workflows=("staged", "staged-explorer", "staged-planner", "staged-task"),
    settings={
        "staged": {"max_parallel": 4, "review_retries": 3, "stage_restarts": 3, "phase_retries": 3, "task_retries": 2}
    },
)
