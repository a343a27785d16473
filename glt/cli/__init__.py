"""The command line: `glt`, and `python -m glt` with the verbs that need no `analysis`."""
