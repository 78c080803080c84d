"""Calling agents: who plays a role, with which words, within which limits, and what came of the call."""
