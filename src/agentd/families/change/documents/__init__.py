"""The documents of a change: text to values and back."""
