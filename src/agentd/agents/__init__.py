"""The agents agentd can drive: each is two pure functions and a row in the table; nothing here starts a program."""
