"""The built-in tables, and how a table is read, proved sound and drawn. Loading a table executes nothing from it."""
