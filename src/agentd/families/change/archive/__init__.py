"""How the specs of a change come into the library, and out of it again: merged, all or none, and never over anybody's words."""
