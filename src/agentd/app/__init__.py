"""Wires the rooms together: the only reader of clock, environment, working folder and configuration."""
