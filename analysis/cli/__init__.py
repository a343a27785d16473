"""The command line of `analysis`: verbs that measure, compare, draw and pack saved runs."""
