"""The documents of a change, parsed and rendered. No file is read or written here."""
