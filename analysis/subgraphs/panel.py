"""One panel: a subgraph as one mask leaves it. Plain arrays, for the screen and for paper alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.measures import MeasuredGraph
from analysis.subgraphs.counts import Counts, count_graph, count_sample
from analysis.subgraphs.subgraph import EdgeStates, Subgraph, edge_states
from glt import formats
from glt.data.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask


@dataclass(frozen=True, eq=False)
class Panel:
    """What one panel shows.

    `states` [m] says what is left of each edge of the subgraph, `fresh` [m] which of them lost their last direction in
    this very round; `degrees` [n] and `full_degrees` [n] count the neighbours in the whole graph, after pruning (either
    way) and before; `sample` and `whole` are the counts, `whole_fresh` the edges lost in this round.
    """

    title: str
    subgraph: Subgraph
    states: EdgeStates
    fresh: BoolArray
    degrees: IntArray
    full_degrees: IntArray
    sample: Counts
    whole: Counts
    whole_fresh: int

    @property
    def caption(self) -> tuple[str, str]:
        """Return the two lines under the panel: the sample's counts and the whole graph's."""
        lonely = int((self.degrees == 0).sum())
        shown, whole = self.sample.sentence(lonely), self.whole.sentence()
        return f"Shown: {shown}{_lost(int(self.fresh.sum()))}", f"Whole graph: {whole}{_lost(self.whole_fresh)}"


def make_panel(graph: Graph, subgraph: Subgraph, mask: EdgeMask, title: str, before: EdgeMask | None = None) -> Panel:
    """Return the panel of `subgraph` under `mask`; a full mask gives the original.

    With the mask of the round `before`, edges that this round removed are told from those removed earlier.
    """
    states = edge_states(subgraph, mask)
    left = MeasuredGraph.of(graph, mask.either_way())
    fresh = np.zeros(graph.num_edges, dtype=np.bool_) if before is None else before.either_way() & ~mask.either_way()
    return Panel(
        title=title,
        subgraph=subgraph,
        states=states,
        fresh=fresh[subgraph.edge_ids],
        degrees=left.degrees[subgraph.nodes],
        full_degrees=left.original.degrees[subgraph.nodes],
        sample=count_sample(subgraph, states),
        whole=count_graph(left, mask),
        whole_fresh=int(fresh.sum()),
    )


def original_panel(graph: Graph, subgraph: Subgraph, title: str = "Original") -> Panel:
    """Return the panel of the unpruned graph."""
    return make_panel(graph, subgraph, EdgeMask.full("undirected", graph.num_edges), title)


def _lost(edges: int) -> str:
    return f" · {formats.count(edges)} removed in this round" if edges else ""
