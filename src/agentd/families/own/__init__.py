"""The workflows of a person's own."""
