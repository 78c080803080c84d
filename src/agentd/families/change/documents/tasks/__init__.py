"""tasks.md: tasks in layers, each about one file and one requirement. Lists of checkboxes are read too."""

from agentd.families.change.documents.tasks.dependencies import order as order
from agentd.families.change.documents.tasks.task import spec_ref as spec_ref
from agentd.families.change.documents.tasks.tasks_edits import set_status as set_status
from agentd.families.change.documents.tasks.tasks_edits import tidy as tidy
from agentd.families.change.documents.tasks.tasks_edits import without_status as without_status
from agentd.families.change.documents.tasks.tasks_reader import listed as listed
from agentd.families.change.documents.tasks.tasks_reader import parse as parse
from agentd.families.change.documents.tasks.tasks_reader import read as read
from agentd.families.change.documents.tasks.tasks_writer import render as render
