"""The proof kit: what agentd saw of a project for itself, and what that holds against an approval."""
