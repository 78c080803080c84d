"""Text to values and back, for every room: Markdown outlines, front matter, lossless YAML, JSON with comments."""
