"""Access to git repositories. Every git command is run by `program.run`."""
