"""The face for agents: an MCP server through which the agent of a step reads and writes the documents of its run."""
