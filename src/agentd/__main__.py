"""`python -m agentd` is the same as `agentd`."""

from agentd.cli import main

main()
