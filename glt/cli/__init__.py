"""The command line `python -m glt`: one file a verb, found by its name."""

from __future__ import annotations

from glt.cli.verb import VERBS, Verb

__all__ = ["VERBS", "Verb"]
