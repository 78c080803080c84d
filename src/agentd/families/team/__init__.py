"""The team family: roles, user gates and repair loops. Its tables load and are sound; nothing performs them yet."""

from pathlib import Path

from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

LAYOUT = Layout(
    name="team",
    module=__name__,
    folder=Path(__file__).parent,
    homes=(".agents-work",),
    codec=Codec("status.json", "session", "current_state", "schema_version", "1.0", "created_at", "last_update"),
    workflows=("team", "team-task", "team-task-late"),
    settings={"team": {"max_parallel": 1}},
)
