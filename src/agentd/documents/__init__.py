"""Documents as text and as values, both ways. Nothing here reads or writes a file."""
