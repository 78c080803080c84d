"""Runs and their artifacts on disk; nothing here decides anything."""
