"""One panel: a subgraph as one mask leaves it. Plain arrays, for the screen and for paper alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.subgraphs.counts import Counts, count_graph, count_sample
from analysis.subgraphs.subgraph import EdgeStates, Subgraph, edge_states
from glt.data.graph import Graph, IntArray
from glt.masks import EdgeMask


@dataclass(frozen=True, eq=False)
class Panel:
    """What one panel shows.

    `states` [m] says what is left of each edge of the subgraph; `degrees` [n] and `full_degrees` [n] count the
    neighbours in the whole graph, after pruning (either way) and before; `sample` and `whole` are the counts.
    """

    title: str
    subgraph: Subgraph
    states: EdgeStates
    degrees: IntArray
    full_degrees: IntArray
    sample: Counts
    whole: Counts

    @property
    def caption(self) -> tuple[str, str]:
        """Return the two lines under the panel: the sample's counts and the whole graph's."""
        return f"Shown: {self.sample.sentence()}", f"Whole graph: {self.whole.sentence()}"


def make_panel(graph: Graph, subgraph: Subgraph, mask: EdgeMask, title: str) -> Panel:
    """Return the panel of `subgraph` under `mask`; a full mask gives the original."""
    states = edge_states(subgraph, mask)
    return Panel(
        title=title,
        subgraph=subgraph,
        states=states,
        degrees=_degrees(graph, mask)[subgraph.nodes],
        full_degrees=_degrees(graph, EdgeMask.full("undirected", graph.num_edges))[subgraph.nodes],
        sample=count_sample(subgraph, states),
        whole=count_graph(graph, mask),
    )


def original_panel(graph: Graph, subgraph: Subgraph, title: str = "Original") -> Panel:
    """Return the panel of the unpruned graph."""
    return make_panel(graph, subgraph, EdgeMask.full("undirected", graph.num_edges), title)


def _degrees(graph: Graph, mask: EdgeMask) -> IntArray:
    return np.bincount(graph.edges[:, mask.either_way()].ravel(), minlength=graph.num_nodes)
