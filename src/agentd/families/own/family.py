"""A person's own workflows go the ordinary way in everything; what tasks in workspaces leave after a kill is removed."""

from agentd.calling.call import Callers
from agentd.landing import task
from agentd.runs.family import Family

FAMILY = Family(Callers(), settled=task.settle)
