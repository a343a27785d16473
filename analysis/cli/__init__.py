"""The command line `python -m analysis`: one file a verb, found by its name."""

from __future__ import annotations

from analysis.cli.verb import VERBS, Verb

__all__ = ["VERBS", "Verb"]
