"""The review kit: reviews parsed and rendered, issues tracked across rounds and checked against the places they name."""
