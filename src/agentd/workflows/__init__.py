"""How a table is read, proved sound and drawn. The built-in tables are in `families/`. Loading a table executes nothing from it."""
