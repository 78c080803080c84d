"""Work in a workspace, proved before it lands: what families share whose agents write code side by side.

`landing` makes workspaces and lands what was written in them, `proof` runs and audits; here the two are put together.
"""
