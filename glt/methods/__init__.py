"""Pruning methods: one file per method, an interface and a registry."""

from glt.methods.base import Method, Proposal, Retraining, RoundContext
from glt.registry import Registry

METHODS: Registry[Method] = Registry("method", "glt.methods")

__all__ = ["METHODS", "Method", "Proposal", "Retraining", "RoundContext"]
