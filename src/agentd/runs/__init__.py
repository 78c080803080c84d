"""Runs on disk as every family has them: the project, a run at work, decisions, reports. No family is named here."""
