"""The machine: reads a table and a position, says what comes next. It touches nothing outside its arguments."""
