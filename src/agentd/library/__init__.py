"""The spec library kit: specs read, written, compared and merged, and the knowledge beside them."""
