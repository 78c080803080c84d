"""The staged family: a schedule with gates and waves. A table only, so far."""
