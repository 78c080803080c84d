"""The projects below are what the tests look at; their own tests are run by those, not collected with them."""

collect_ignore = ["projects"]
