"""Ways to choose the nodes of a picture: one file each, behind one small interface and a registry."""

from __future__ import annotations

from analysis.subgraphs.samplers.base import Choice, Sampler
from glt.registry import Registry

SAMPLERS: Registry[Sampler] = Registry("kind of sample", "analysis.subgraphs.samplers")


def in_order() -> list[Sampler]:
    """Return all samplers in the order in which they are offered."""
    return sorted(SAMPLERS, key=lambda sampler: (sampler.order, sampler.name))


__all__ = ["SAMPLERS", "Choice", "Sampler", "in_order"]
