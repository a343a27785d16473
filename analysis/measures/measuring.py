"""All measures of a graph, of its survivors under a mask, and of a round of a run."""

from __future__ import annotations

from typing import NamedTuple

from analysis.measures.cache import MeasureCache, shared_cache
from analysis.measures.graph import MeasuredGraph
from analysis.measures.registry import Measure, in_order
from glt.data import Graph
from glt.errors import DataError
from glt.masks import BoolArray, EdgeMask
from glt.store import SeedRun
from glt.training.tasks import message_graph

Numbers = dict[str, float]


class MeasuredRound(NamedTuple):
    """Values of the unpruned graph and of one round's survivors, by name and in the order of tables."""

    original: Numbers
    sparsified: Numbers


def measure(graph: MeasuredGraph, cache: MeasureCache | None = None) -> Numbers:
    """Return every registered measure of `graph`, by name and in the order of tables; NaN where undefined.

    What is not instant is looked up in `cache` (by default the one shared by this process) and kept there.
    """
    known = _cached_values(graph, shared_cache() if cache is None else cache)
    return {m.name: known[m.name] if m.name in known else m.compute(graph) for m in in_order()}


def measure_graph(graph: Graph, kept: BoolArray | None = None, cache: MeasureCache | None = None) -> Numbers:
    """Return every measure of `graph` with only its `kept` [E] undirected edges; see `measure`."""
    return measure(MeasuredGraph.of(graph, kept), cache)


def measure_mask(graph: Graph, mask: EdgeMask, cache: MeasureCache | None = None) -> Numbers:
    """Return every measure of the edges that survive in at least one direction (the paper's convention).

    Both ways of counting stand first: `edges_both_ways`, the fractions `edges_kept_either_way` and
    `edges_kept_both_ways`, and `graph_sparsity` over the mask's own entries. Raises DataError when the mask is
    about another graph.
    """
    if mask.num_edges != graph.num_edges:
        raise DataError(
            f"The mask is about {mask.num_edges} edges but {graph.name} has {graph.num_edges}: "
            "the run was made on another version of the data, so measure it with that one."
        )
    return {**count_survivors(mask), **measure_graph(graph, mask.either_way(), cache)}


def measure_round(seed_run: SeedRun, round: int, cache: MeasureCache | None = None) -> MeasuredRound:
    """Return the values of the run's graph and of what is left of it after `round`; raises StoreError, DataError."""
    mask = seed_run.masks(round).edges
    graph = message_graph(seed_run.config)
    full = EdgeMask.full(mask.kind, mask.num_edges)
    return MeasuredRound(measure_mask(graph, full, cache), measure_mask(graph, mask, cache))


def count_survivors(mask: EdgeMask) -> Numbers:
    """Return the ways of counting what a mask keeps; fractions are of all undirected edges (1 without any)."""
    either, both, total = int(mask.either_way().sum()), int(mask.both_ways().sum()), mask.num_edges
    return {
        "graph_sparsity": mask.sparsity,
        "edges_kept_either_way": either / total if total else 1.0,
        "edges_kept_both_ways": both / total if total else 1.0,
        "edges_both_ways": both,
    }


def _cached_values(graph: MeasuredGraph, cache: MeasureCache) -> Numbers:
    slow = [m for m in in_order() if m.cost != "instant"]
    known = cache.get(graph.content_hash)
    missing = {_key(m): m.compute(graph) for m in slow if _key(m) not in known}
    if missing:
        cache.put(graph.content_hash, missing)
    return {m.name: {**known, **missing}[_key(m)] for m in slow}


def _key(measure: Measure) -> str:
    return f"{measure.name}@{measure.version}"
