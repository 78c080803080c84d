"""The team family: roles, user gates and repair loops. A table only, so far."""
