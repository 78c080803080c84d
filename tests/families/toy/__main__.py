"""The `agentd` program with one more family."""

from agentd.app import LAYOUTS
from agentd.cli import main
from tests.families.toy import LAYOUT

main((*LAYOUTS, LAYOUT))
