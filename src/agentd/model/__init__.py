"""Frozen values that every room shares; nothing here does anything to the outside."""
