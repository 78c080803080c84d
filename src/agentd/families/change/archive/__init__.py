"""Archiving a change: merge its specs into the library, undo that, and tell what earlier archives did."""
