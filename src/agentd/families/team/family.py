"""What the team family does that others do not: a session is named by its day."""

from datetime import UTC, datetime

from agentd.calling.call import Callers
from agentd.runs.commands import first_words
from agentd.runs.family import Family
from agentd.runs.project import Project


def new_name(_: Project, description: str) -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}_{first_words(description)}"


FAMILY = Family(Callers, new_name=new_name)
