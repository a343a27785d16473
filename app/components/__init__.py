"""Shared parts of pages: controls, run selection, charts, computations."""
