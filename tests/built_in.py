"""The tables that ship with agentd, as the tests read them: by name, whatever family they belong to."""

from agentd.app import LAYOUTS
from agentd.model.workflow import Workflow
from agentd.workflows.load import parse

BUILT_IN = tuple(name for layout in LAYOUTS for name in layout.workflows)


def read_built_in(name: str) -> Workflow:
    layout = next(layout for layout in LAYOUTS if name in layout.workflows)
    return parse(layout.table(name).read_text(encoding="utf-8"), f"{name}.yaml")
