"""The words agents are given: templates as files, filled in without running anything they contain."""
