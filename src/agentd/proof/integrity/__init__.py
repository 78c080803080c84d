"""What a change does to the tests and to how they are run, judged by texts alone: nothing here runs anything."""
