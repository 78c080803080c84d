"""Work of several agents at once that lands safely: workspaces, leases, a queue that proves the combination, delivery.

A kit for families: it knows no workflow, and it never writes to a person's work tree, index, branches, stash, settings or
hooks, except where `delivery` is told to.
"""
