"""The verbs of `python -m analysis`: each is declared by the file in this folder that is named after it."""

from __future__ import annotations

from glt.cli.verb import Verb
from glt.registry import Registry

__all__ = ["VERBS", "Verb"]

VERBS: Registry[Verb] = Registry("verb", "analysis.cli")
