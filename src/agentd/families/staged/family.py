"""What the staged family does that others do not: a run without a name is the one in `tmp`."""

from agentd.calling.call import Callers
from agentd.runs.family import Family
from agentd.runs.project import Project


def new_name(_: Project, __: str) -> str:
    return "tmp"


FAMILY = Family(Callers, new_name=new_name)
