"""Values of measures for a graph, a mask or a round of a run; slow ones are cached.

`measure` computes them for a `MeasuredGraph`; `measure_mask` and `measure_round` make one of a graph and its mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from analysis.measures import MEASURES, Measure, centrality, in_order
from analysis.measures.cache import MeasureCache, shared_cache
from analysis.measures.graph import MeasuredGraph
from glt.datasets import Graph
from glt.errors import DataError
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.store import SeedRun

# `default`: NetworkX where it takes less than a second, else our faster versions. `networkx`: NetworkX wherever it
# defines the measure, compared with our versions. `fast`: our versions only.
Engine = Literal["default", "networkx", "fast"]
Report = Callable[[float], None]


class Numbers(dict[str, float]):
    """Values by name.

    `errors` holds the half-widths of the 95 % intervals of estimated values, `differences` the relative differences
    between NetworkX's values and our faster versions' (engine `networkx` only).
    """

    def __init__(
        self,
        values: Mapping[str, float],
        errors: Mapping[str, float] | None = None,
        differences: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(values)
        self.errors = dict(errors or {})
        self.differences = dict(differences or {})


class MeasuredRound(NamedTuple):
    """Values of the original graph and of one round's pruned graph, by name, in the order of tables."""

    original: Numbers
    sparsified: Numbers


def measure(
    graph: MeasuredGraph,
    cache: MeasureCache | None = None,
    names: Collection[str] | None = None,
    slow: bool = False,
    engine: Engine = "default",
    on_progress: Report | None = None,
) -> Numbers:
    """Return measures of `graph` by name, in the order of tables; NaN where undefined.

    Measures of cost "background" are left out without `slow`; `names` selects exactly these. Values that are not
    instant, all values of a large graph and all of NetworkX's are kept in `cache` (default: the user's cache folder).
    `on_progress` is called with the fraction done of NetworkX's part. Raises ConfigError for an unknown name, and for a
    graph that is too large for NetworkX.
    """
    chosen, store = _chosen(names, slow), shared_cache() if cache is None else cache
    by_networkx = [m for m in chosen if _is_by_networkx(m, graph, engine)]
    taken = {} if engine == "networkx" else {m.name for m in by_networkx}
    ours = [m for m in chosen if m.name not in taken]
    kept = _kept_values(graph, ours, store)
    values = {m.name: kept[_key(m, graph)] if _is_kept(m, graph) else m.compute(graph) for m in ours}
    exact = _networkx_values(graph, by_networkx, store, on_progress)
    estimated = [m for m in ours if _is_estimated(m, graph) and m.name not in exact]
    return Numbers(
        {m.name: exact[m.name] if m.name in exact else values[m.name] for m in chosen},
        {m.name: kept[_error_key(m, graph)] for m in estimated},
        {name: _difference(value, values[name]) for name, value in exact.items() if name in values},
    )


def is_measured(
    graph: MeasuredGraph,
    cache: MeasureCache | None = None,
    names: Collection[str] | None = None,
    slow: bool = False,
    engine: Engine = "default",
) -> bool:
    """Return whether `measure` would find every slow value in the cache."""
    known, chosen = (shared_cache() if cache is None else cache).get(graph.content_hash), _chosen(names, slow)
    by_networkx = [m for m in chosen if _is_by_networkx(m, graph, engine)]
    ours = chosen if engine == "networkx" else [m for m in chosen if m not in by_networkx]
    # By default NetworkX computes only quick values, which need no cache except on a large graph.
    slow_ones = by_networkx if engine == "networkx" or graph.is_large else []
    keys = [_key(m, graph) for m in ours if _is_kept(m, graph)] + [_networkx_key(m, graph) for m in slow_ones]
    return all(key in known for key in keys)


def measure_mask(
    graph: Graph,
    mask: EdgeMask,
    cache: MeasureCache | None = None,
    names: Collection[str] | None = None,
    slow: bool = False,
    engine: Engine = "default",
    on_progress: Report | None = None,
) -> Numbers:
    """Return measures of the edges kept in at least one direction (the paper's convention); see `measure`.

    The counts of `count_survivors` come first. Raises DataError when the mask belongs to another graph.
    """
    if mask.num_edges != graph.num_edges:
        raise DataError(
            f"The mask has {mask.num_edges} edges but {graph.name} has {graph.num_edges}: the run used another version "
            "of the data, so measure it with that version."
        )
    measured = measure(MeasuredGraph.of(graph, mask.either_way()), cache, names, slow, engine, on_progress)
    return Numbers({**count_survivors(mask), **measured}, measured.errors, measured.differences)


def is_mask_measured(
    graph: Graph,
    mask: EdgeMask,
    cache: MeasureCache | None = None,
    names: Collection[str] | None = None,
    slow: bool = False,
    engine: Engine = "default",
) -> bool:
    """Return whether `measure_mask` would find every slow value in the cache."""
    return is_measured(MeasuredGraph.of(graph, mask.either_way()), cache, names, slow, engine)


def measure_round(
    seed_run: SeedRun,
    round: int,
    cache: MeasureCache | None = None,
    slow: bool = False,
    engine: Engine = "default",
    on_progress: Report | None = None,
) -> MeasuredRound:
    """Return the values of the run's graph before pruning and after `round`; raises StoreError, DataError."""
    mask = seed_run.edge_mask(round)
    graph = graph_of(seed_run)
    full = EdgeMask.full(mask.kind, mask.num_edges)

    def measured(part: EdgeMask, first: float) -> Numbers:
        report = None if on_progress is None else lambda share: on_progress(first + share / 2)
        return measure_mask(graph, part, cache, None, slow, engine, report)

    return MeasuredRound(measured(full, 0.0), measured(mask, 0.5))


def count_survivors(mask: EdgeMask) -> Numbers:
    """Return the counts of entries and edges that a mask keeps; fractions of all undirected edges (1 without any)."""
    either, both, total = int(mask.either_way().sum()), int(mask.both_ways().sum()), mask.num_edges
    return Numbers(
        {
            "graph_sparsity": mask.sparsity,
            "entries_kept": 1 - mask.sparsity,
            "edges_kept_either_way": either / total if total else 1.0,
            "edges_kept_both_ways": both / total if total else 1.0,
            "edges_both_ways": both,
        }
    )


def count_unmeasured(are_measured: Iterable[bool], total: int) -> int:
    """Return how many of `total` graphs remain from the first unmeasured one on, without looking further.

    >>> count_unmeasured([True, False, True], 5), count_unmeasured([True], 5)
    (4, 0)
    """
    return next((max(total - place, 1) for place, known in enumerate(are_measured) if not known), 0)


def networkx_seconds(graph: MeasuredGraph, slow: bool = False) -> float:
    """Estimate the CPU seconds of the engine `networkx` for one graph."""
    from analysis.measures import networkx_engine

    return networkx_engine.seconds(
        graph, [m.name for m in _chosen(None, slow) if networkx_engine.defines(m.name, graph)]
    )


def betweenness_seconds(graph: MeasuredGraph, sample: int | None = None, by_networkx: bool = False) -> float:
    """Estimate the CPU seconds of the betweenness of every node and edge."""
    if not by_networkx:
        return centrality.seconds(graph, sample)
    from analysis.measures import networkx_engine

    return networkx_engine.seconds(graph, networkx_engine.ELEMENTS)


def _chosen(names: Collection[str] | None, slow: bool) -> list[Measure]:
    if names is not None:
        return sorted((MEASURES.get(name) for name in names), key=lambda measure: (measure.order, measure.name))
    return [measure for measure in in_order() if slow or measure.cost != "background"]


def _kept_values(graph: MeasuredGraph, chosen: Sequence[Measure], cache: MeasureCache) -> Mapping[str, float]:
    """Return all cached values of a graph, after computing missing ones of these measures."""
    known = cache.get(graph.content_hash)
    lacking = [m for m in chosen if _is_kept(m, graph) and _key(m, graph) not in known]
    if not lacking:
        return known
    # Measures of one family share their slow part.
    families = {measure.family for measure in lacking} - {""}
    missing: dict[str, float] = {}
    for measure in in_order():
        is_wanted = measure in lacking or (measure.family in families and measure.cost != "instant")
        if is_wanted and _key(measure, graph) not in known:
            missing[_key(measure, graph)] = measure.compute(graph)
            if measure.error is not None and graph.is_large:
                missing[_error_key(measure, graph)] = measure.error(graph)
    cache.put(graph.content_hash, missing)
    return {**known, **missing}


def _is_by_networkx(measure: Measure, graph: MeasuredGraph, engine: Engine) -> bool:
    if engine == "fast":
        return False
    # NetworkX takes a third of a second to import.
    from analysis.measures import networkx_engine

    is_taken = networkx_engine.defines if engine == "networkx" else networkx_engine.is_quick
    return is_taken(measure.name, graph)


def _networkx_values(
    graph: MeasuredGraph, measures: Sequence[Measure], cache: MeasureCache, on_progress: Report | None
) -> dict[str, float]:
    """Return NetworkX's values by measure, after computing those that are not cached."""
    if not measures:
        return {}
    from analysis.measures import networkx_engine

    keys = {m.name: _networkx_key(m, graph) for m in measures}
    known = cache.get(graph.content_hash)
    lacking = [name for name, key in keys.items() if key not in known]
    if lacking:
        found = networkx_engine.compute(graph, lacking, on_progress)
        known = {**known, **{keys[name]: value for name, value in found.items()}}
        cache.put(graph.content_hash, {keys[name]: value for name, value in found.items()})
    return {name: known[key] for name, key in keys.items()}


def _networkx_key(measure: Measure, graph: MeasuredGraph) -> str:
    from networkx import __version__

    key = f"{measure.name}@{measure.version} networkx {__version__}"
    return f"{key} of {graph.original.content_hash}" if measure.against_original else key


def _difference(reference: float, other: float) -> float:
    """Return the difference relative to the reference (absolute to 0); infinite where only one is defined."""
    if math.isnan(reference) or math.isnan(other):
        return 0.0 if math.isnan(reference) and math.isnan(other) else math.inf
    return abs(reference - other) / (abs(reference) or 1.0)


def _is_kept(measure: Measure, graph: MeasuredGraph) -> bool:
    return measure.cost != "instant" or graph.is_large


def _is_estimated(measure: Measure, graph: MeasuredGraph) -> bool:
    return measure.error is not None and graph.is_large


def _key(measure: Measure, graph: MeasuredGraph) -> str:
    key = f"{measure.name}@{measure.version}" + (" estimated" if _is_estimated(measure, graph) else "")
    return f"{key} of {graph.original.content_hash}" if measure.against_original else key


def _error_key(measure: Measure, graph: MeasuredGraph) -> str:
    return f"error of {_key(measure, graph)}"
