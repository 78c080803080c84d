"""The review kit: reviews read and written, their issues followed through the rounds and checked against what they name."""
