"""Named checks over the values of documents: data in, findings out. Nothing here reads a file."""
