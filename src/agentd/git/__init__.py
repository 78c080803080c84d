"""The git program, and nothing else of git."""
