"""`betweenness RUN --round K`: every node and edge, before and after pruning; what is found is kept for the app."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING

from analysis.cli.verb import VERBS, Verb
from glt.cli.arguments import add_json, add_progress, add_round, find_seed_run, positive, print_json, tell
from glt.errors import ConfigError

if TYPE_CHECKING:
    from analysis.measures.centrality import Betweenness
    from analysis.measures.graph import MeasuredGraph
    from glt.data import Graph

SHOWN = 20

Tell = Callable[[float], None]


def add_arguments(parser: ArgumentParser) -> None:
    """Add RUN, the round, how exact, and the form of the output."""
    add_round(parser)
    parser.add_argument(
        "--sample", type=positive, metavar="K", help="estimate from the shortest paths of K nodes (default: exact)"
    )
    told = "fast: igraph (default); networkx: NetworkX itself, exact, a hundred times slower"
    parser.add_argument("--engine", choices=("fast", "networkx"), default="fast", help=told)
    add_progress(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Compute what is not known yet, and print; raises StoreError or DataError."""
    from analysis.measures.graph import MeasuredGraph
    from glt.lottery.graph import graph_of
    from glt.store.paths import reference_of

    seed_run = find_seed_run(args)
    mask, graph = seed_run.edge_mask(args.round), graph_of(seed_run)
    whole = MeasuredGraph.of(graph)
    pruned = whole.keeping(mask.either_way())
    sample, by_networkx = args.sample, args.engine == "networkx"
    if sample is not None and by_networkx:
        raise ConfigError("NetworkX computes exact values here: leave out --sample, or take --engine fast.")
    before = _found(whole, sample, by_networkx, lambda share: tell(args, share / 2))
    after = _found(pruned, sample, by_networkx, lambda share: tell(args, (1 + share) / 2))
    if args.json:
        place = {"run": reference_of(seed_run.path.parent), "seed": seed_run.seed, "round": args.round}
        found = {"original": _plain(whole, before), "sparsified": _plain(pruned, after)}
        print_json(place | _called(graph) | found)
        return 0
    from analysis.measures.tables import node_table, with_names

    ranked = node_table(graph, mask, before, after, "original").head(SHOWN)
    print(with_names(graph, ranked).to_string(index=False))
    print(before.precision_words())
    return 0


def _called(graph: Graph) -> dict[str, list[str]]:
    """Return the data set's own id and the class of every node, in the order of the values."""
    from analysis.subgraphs.panel import classes_of, node_name

    nodes = range(graph.num_nodes)
    return {"ids": [node_name(graph, node) for node in nodes], "classes": classes_of(graph, nodes)}


def _found(graph: MeasuredGraph, sample: int | None, by_networkx: bool, tell: Tell) -> Betweenness:
    from analysis.measures.cache import keep_betweenness, known_betweenness
    from analysis.measures.centrality import betweenness

    found = known_betweenness(graph, sample, by_networkx)
    if found is not None:
        return found
    if by_networkx:
        from analysis.measures.networkx_engine import networkx_betweenness

        found = networkx_betweenness(graph, tell)
    else:
        found = betweenness(graph, sample, tell)
    keep_betweenness(graph, found, sample)
    return found


def _plain(graph: MeasuredGraph, found: Betweenness) -> dict[str, object]:
    edges = [[*ends, value] for ends, value in zip(graph.edges.T.tolist(), found.edges.tolist(), strict=True)]
    engine = "networkx" if found.by_networkx else "fast"
    return {
        "engine": engine,
        "exact": found.is_exact,
        "sources": found.sources,
        "nodes": [None if isnan(value) else value for value in found.nodes.tolist()],
        "edges": edges,
    }


VERBS.register(Verb("betweenness", "Betweenness of every node and edge before and after a round", add_arguments, run))
