"""Sample: which nodes of a graph a picture shows, as a page, a command and an address say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """Which nodes a picture shows: the arguments of `sample_nodes`.

    The kind "changed" takes the edges that the first run has removed by the round shown.
    """

    kind: str = "walk"
    size: int = 150
    seed: int = 0
    center: int | None = None
    label: int | None = None
    nodes: tuple[int, ...] = ()
