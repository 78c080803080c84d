"""What this machine has left, and what all agentd processes of a user share of it. It starts nothing."""
