"""One room for each workflow family; they do not know each other."""
