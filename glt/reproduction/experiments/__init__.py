"""One file an experiment of the paper: its place, its settings, and the runs it needs."""
