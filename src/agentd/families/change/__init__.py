"""The change family: plan, impl and archive of one change."""
