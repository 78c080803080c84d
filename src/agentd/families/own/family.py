"""A person's own workflows go the ordinary way in everything."""

from agentd.calling.call import Callers
from agentd.runs.family import Family

FAMILY = Family(Callers())
