"""Subgraphs and panels: a part of a graph, and the edges of it that a mask keeps.

`take` cuts a `Subgraph` out of a graph, `make_panel` applies a mask to it, `panel_table` lists a panel's nodes and
edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.measures.basic import isolated_nodes
from analysis.measures.connectivity import components
from analysis.measures.graph import MeasuredGraph
from analysis.subgraphs.layout import Positions, layout
from glt import formats
from glt.datasets.graph import Graph, IntArray
from glt.masks import BoolArray, EdgeMask
from glt.removal_causes import CAUSES

if TYPE_CHECKING:
    import pandas as pd

    from analysis.removal.edges import Removals

EdgeStates = NDArray[np.uint8]

REMOVED, FORWARD, BACKWARD, BOTH = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Subgraph:
    """n nodes with the m edges between them, laid out once for all their pictures.

    `nodes` [n] are indices in the graph, ascending; `edges` [2, m] are positions in `nodes` (low, high);
    `edge_ids` [m] are columns of the graph's edges; `positions` is [n, 2]; `labels` [n] are classes (-1 unknown);
    `names` are the nodes' names for users; `class_names` names every class of the graph.
    """

    nodes: IntArray
    edges: IntArray
    edge_ids: IntArray
    positions: Positions
    labels: IntArray
    names: tuple[str, ...]
    class_names: tuple[str, ...]

    def class_name(self, node: int) -> str:
        """Return the class name of the node at position `node`."""
        return self.label_name(int(self.labels[node]))

    def label_name(self, label: int) -> str:
        """Return a label's class name; -1 is an unknown class."""
        return _class_name(self.class_names, label)

    def legend_labels(self) -> list[int]:
        """Return the labels of a legend: classes in order, then -1; none where no class is known."""
        known = np.unique(self.labels[self.labels >= 0]).tolist()
        return [*known, -1] if known and (self.labels < 0).any() else known


def take(graph: Graph, nodes: IntArray, seed: int = 0) -> Subgraph:
    """Return the subgraph induced by `nodes` (distinct indices), laid out on the unpruned edges with `seed`."""
    nodes = np.sort(nodes)
    place = np.full(graph.num_nodes, -1, dtype=np.int64)
    place[nodes] = np.arange(nodes.size)
    ends = place[graph.edges]
    edge_ids = np.flatnonzero((ends >= 0).all(axis=0))
    edges = ends[:, edge_ids]
    return Subgraph(
        nodes=nodes,
        edges=edges,
        edge_ids=edge_ids,
        positions=layout(nodes.size, edges, seed),
        labels=graph.labels[nodes],
        names=tuple(node_name(graph, node) for node in nodes.tolist()),
        class_names=class_names(graph),
    )


def node_name(graph: Graph, node: int) -> str:
    """Return a node's name: the data set's own id where it has one, else its number."""
    return str(node) if graph.node_ids is None else graph.node_ids[node]


def classes_of(graph: Graph, nodes: Sequence[int] | IntArray) -> list[str]:
    """Return the class name of each of these nodes."""
    names = class_names(graph)
    return [_class_name(names, label) for label in graph.labels[nodes].tolist()]


def class_names(graph: Graph) -> tuple[str, ...]:
    """Return a name for every class; classes without a name get their number."""
    named = graph.class_names
    return tuple(named[k] if k < len(named) else f"Class {k}" for k in range(graph.num_classes))


def has_classes(graph: Graph) -> bool:
    """Return whether the class of any node is known."""
    return bool((graph.labels >= 0).any())


def _class_name(names: Sequence[str], label: int) -> str:
    return names[label] if label >= 0 else "unknown class"


def edge_states(subgraph: Subgraph, mask: EdgeMask) -> EdgeStates:
    """Return [m] the kept directions of each edge: REMOVED, FORWARD (low to high only), BACKWARD or BOTH.

    Entry (i, j) carries the message from i to j, so FORWARD is a message from the lower to the higher node.
    """
    forward, backward = mask.directions()[:, subgraph.edge_ids]
    return np.asarray(FORWARD * forward + BACKWARD * backward, dtype=np.uint8)


@dataclass(frozen=True)
class Counts:
    """Nodes, undirected edges (original, kept either way, kept both ways), isolated nodes and components.

    `components` is None for large graphs, where counting them in every round would take too long.
    """

    nodes: int
    edges: int
    kept_either_way: int
    kept_both_ways: int
    isolated_nodes: int
    components: int | None

    def sentence(self, lonely: int | None = None) -> str:
        """Write the counts as a line under a picture.

        For a sample, `lonely` is the number of its nodes without an edge in the whole graph: other nodes without an
        edge here have neighbours outside the sample.

        >>> Counts(150, 300, 210, 150, 4, 9).sentence()
        '150 nodes · 210 of 300 edges kept (150 both ways) · 4 isolated · 9 components'
        >>> Counts(150, 300, 300, 300, 4, 9).sentence(lonely=1)
        '150 nodes · 300 edges · 4 without an edge here (1 without any in the whole graph) · 9 components'
        """
        if self.kept_both_ways == self.edges:
            edges = formats.number_of(self.edges, "edge")
        else:
            total, either, both = map(formats.count, (self.edges, self.kept_either_way, self.kept_both_ways))
            edges = f"{either} of {total} edges kept"
            edges += f" ({both} both ways)" if self.kept_both_ways < self.kept_either_way else ""
        isolated = f"{formats.count(self.isolated_nodes)} isolated"
        if lonely is not None:
            isolated = f"{formats.count(self.isolated_nodes)} without an edge here"
            isolated += f" ({formats.count(lonely)} without any in the whole graph)" if self.isolated_nodes else ""
        pieces = [] if self.components is None else [formats.number_of(self.components, "component")]
        return " · ".join([formats.number_of(self.nodes, "node"), edges, isolated, *pieces])


def _counts(left: MeasuredGraph, edges: int, both: int) -> Counts:
    pieces = None if left.is_large else components(left)
    return Counts(left.num_nodes, edges, left.num_edges, both, isolated_nodes(left), pieces)


@dataclass(frozen=True, eq=False)
class GraphPanel:
    """A subgraph under one mask, in plain arrays for screen and paper.

    `states` [m] are the `edge_states`, `fresh` [m] marks edges whose last direction was removed in this round;
    `degrees` [n] and `full_degrees` [n] count neighbours in the whole graph, after pruning (either way) and before;
    `sample` and `whole` are the counts, `whole_fresh` the number of edges removed in this round. `removals` of the m
    edges colour removed ones by cause. `consensus` [m] says with how many of `seeds` seeds an edge is kept.
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
    removals: Removals | None = None
    consensus: IntArray | None = None
    seeds: int = 0

    @property
    def caption(self) -> tuple[str, str]:
        """Return the two lines under the panel: the sample's counts and the whole graph's."""
        lonely = int((self.degrees == 0).sum())
        shown, whole = self.sample.sentence(lonely), self.whole.sentence()
        return f"Shown: {shown}{_lost(int(self.fresh.sum()))}", f"Whole graph: {whole}{_lost(self.whole_fresh)}"


def make_panel(
    graph: Graph, subgraph: Subgraph, mask: EdgeMask, title: str, before: EdgeMask | None = None
) -> GraphPanel:
    """Return the panel of `subgraph` under `mask`; a full mask gives the original.

    `before` is the mask of the previous round: it distinguishes edges removed in this round from earlier ones.
    """
    states = edge_states(subgraph, mask)
    left = MeasuredGraph.of(graph, mask.either_way())
    # A node without a kept edge inside the sample counts as isolated there.
    inside = MeasuredGraph(subgraph.nodes.size, subgraph.edges[:, states != REMOVED], subgraph.labels)
    fresh = np.zeros(graph.num_edges, dtype=np.bool_) if before is None else before.either_way() & ~mask.either_way()
    return GraphPanel(
        title=title,
        subgraph=subgraph,
        states=states,
        fresh=fresh[subgraph.edge_ids],
        degrees=left.degrees[subgraph.nodes],
        full_degrees=left.original.degrees[subgraph.nodes],
        sample=_counts(inside, states.size, int((states == BOTH).sum())),
        whole=_counts(left, mask.num_edges, int(mask.both_ways().sum())),
        whole_fresh=int(fresh.sum()),
    )


def consensus_panel(graph: Graph, subgraph: Subgraph, masks: Sequence[EdgeMask], title: str) -> GraphPanel:
    """Return the panel of the edges that any of these masks keeps, each with the number of masks that do."""
    # Imported late: the kinds of samples are listed without pandas.
    from analysis.stability import consensus_counts

    counts = consensus_counts(masks)
    panel = make_panel(graph, subgraph, EdgeMask("undirected", counts > 0), title)
    return replace(panel, consensus=counts[subgraph.edge_ids], seeds=len(masks))


def original_panel(graph: Graph, subgraph: Subgraph) -> GraphPanel:
    """Return the panel of the unpruned graph."""
    return make_panel(graph, subgraph, EdgeMask.full("undirected", graph.num_edges), "Original")


def _lost(edges: int) -> str:
    return f" · {formats.count(edges)} removed in this round" if edges else ""


STATES = {REMOVED: "removed", FORWARD: "one way", BACKWARD: "one way back", BOTH: "kept"}


def panel_table(panels: Sequence[GraphPanel]) -> pd.DataFrame:
    """Return one row for every node and edge of every panel.

    Columns: `panel` (its title), `kind` (node, edge), `node`, `x`, `y`; for nodes `class` and `degree` (in the whole
    pruned graph); for edges `other`, `other_x`, `other_y`, `state` (kept, one way: from `node` to `other`, one way
    back, removed), `removed_now` (in this round) and, in panels with `removals`, `cause` (of the last direction's).
    """
    import pandas as pd

    parts = [part for panel in panels for part in (_nodes(panel), _edges(panel))]
    return pd.concat(parts, ignore_index=True)


def _nodes(panel: GraphPanel) -> pd.DataFrame:
    import pandas as pd

    part = panel.subgraph
    x, y = part.positions.T
    classes = [part.class_name(place) for place in range(part.nodes.size)]
    about = {"node": part.names, "x": x, "y": y, "class": classes, "degree": panel.degrees}
    return pd.DataFrame({"panel": panel.title, "kind": "node", **about})


def _edges(panel: GraphPanel) -> pd.DataFrame:
    import pandas as pd

    part = panel.subgraph
    low, high = part.edges
    names = np.asarray(part.names, dtype=object)
    (x, y), (other_x, other_y) = part.positions[low].T, part.positions[high].T
    ends = {"node": names[low], "x": x, "y": y, "other": names[high], "other_x": other_x, "other_y": other_y}
    states = [STATES[state] for state in panel.states.tolist()]
    causes = {} if panel.removals is None else {"cause": [CAUSES[code] for code in panel.removals.decisive.tolist()]}
    about = {"state": states, "removed_now": panel.fresh, **causes}
    return pd.DataFrame({"panel": panel.title, "kind": "edge", **ends, **about})
