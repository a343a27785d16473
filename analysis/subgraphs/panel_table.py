"""The nodes and edges of panels as one tidy table: what a picture of them shows, for other programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.subgraphs.panel import Panel
from analysis.subgraphs.subgraph import BACKWARD, BOTH, FORWARD, REMOVED

STATES = {REMOVED: "removed", FORWARD: "one way", BACKWARD: "one way back", BOTH: "kept"}


def panel_table(panels: Sequence[Panel]) -> pd.DataFrame:
    """Return a row for every node and edge of every panel.

    Columns: `panel` (its title), `kind` (node, edge), `node` and `x`, `y` (its place), of nodes `class` and `degree`
    (in the whole graph, pruned), of edges `other` and `other_x`, `other_y`, `state` (kept, one way: from `node` to
    `other`, one way back, removed) and `removed_now` (in the very round).
    """
    parts = [part for panel in panels for part in (_nodes(panel), _edges(panel))]
    return pd.concat(parts, ignore_index=True)


def _nodes(panel: Panel) -> pd.DataFrame:
    part = panel.subgraph
    x, y = part.positions.T
    classes = [part.class_name(place) for place in range(part.nodes.size)]
    about = {"node": part.names, "x": x, "y": y, "class": classes, "degree": panel.degrees}
    return pd.DataFrame({"panel": panel.title, "kind": "node", **about})


def _edges(panel: Panel) -> pd.DataFrame:
    part = panel.subgraph
    low, high = part.edges
    names = np.asarray(part.names, dtype=object)
    (x, y), (other_x, other_y) = part.positions[low].T, part.positions[high].T
    ends = {"node": names[low], "x": x, "y": y, "other": names[high], "other_x": other_x, "other_y": other_y}
    states = [STATES[state] for state in panel.states.tolist()]
    return pd.DataFrame({"panel": panel.title, "kind": "edge", **ends, "state": states, "removed_now": panel.fresh})
