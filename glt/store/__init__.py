"""The run folder: the only place that knows names on disk."""
