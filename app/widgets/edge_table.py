"""A node and a round, and the table of the node's edges: what their ends have in common, when and why they went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from analysis.subgraphs.subgraph import classes_of, has_classes, node_name
from app.widgets import files, reading
from app.widgets.frame import plain
from glt import formats
from glt.data import Graph
from glt.masks import EdgeMask
from glt.store import Run

ABOUT_JACCARD = (
    "The features that both ends have, out of all that either has: 1 when they are alike, 0 with none shared."
)
ABOUT_COSINE = "The cosine of the angle between the features of both ends: 1 when they point the same way."
ABOUT_CAUSE = (
    "gradient: the training loss depended on the mask of this entry in the search that removed it. no gradient: it did "
    "not, so the rank is the noise of the start. random: drawn. solver: set to zero by ADMM."
)
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("Cause, to it", "Cause, from it"), st.column_config.TextColumn(help=ABOUT_CAUSE)),
    "Jaccard": st.column_config.NumberColumn(format="%.3f", help=ABOUT_JACCARD),
    "Cosine": st.column_config.NumberColumn(format="%.3f", help=ABOUT_COSINE),
}
# Of a hub with more edges, so many stand in the list and the table: those that went first.
MOST_LISTED = 1000
ALIKE = {"common_features": "Common features", "jaccard": "Jaccard", "cosine": "Cosine"}


@dataclass(frozen=True, eq=False)
class Place:
    """The node and the round that the story is about."""

    run: Run
    seed: int
    number: int
    graph: Graph
    node: int

    @property
    def mask(self) -> EdgeMask:
        """The edge mask of the round that is shown."""
        return reading.edge_mask(self.run, self.seed, self.number)

    def name(self, node: int) -> str:
        """Return what users call a node."""
        return node_name(self.graph, node)

    def class_of(self, node: int) -> str:
        """Return a node's class in words."""
        return classes_of(self.graph, [node])[0]


def all_edges(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, folded."""
    title = f"All {formats.count(len(table))} edges of node {plain(place.name(place.node))}"
    with st.expander(title, icon=":material/table_rows:"):
        edge_table(place, table)


def edge_table(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, those that went first on top."""
    about = f"The edges of node {place.name(place.node)}, those that went first on top"
    shown = _shown_edges(place, table.head(MOST_LISTED))
    st.dataframe(files.cells(shown, COLUMNS), hide_index=True, key="edges", column_config=COLUMNS, alt=about)
    if len(table) > MOST_LISTED:
        st.caption(f"The first {formats.count(MOST_LISTED)} of {formats.count(len(table))}: those that went first.")


def _causes(table: pd.DataFrame, column: str, title: str) -> dict[str, pd.Series]:
    """Return the causes of one direction under the words of the page; none where no cause is known."""
    return {title: table[column]} if table[column].notna().any() else {}


def _shown_edges(place: Place, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `edges_of` under the words of the page; a direction that survives has no round."""
    classes = {"Class": classes_of(place.graph, table["neighbour"].to_numpy()), "Same class": table["same_class"]}
    return pd.DataFrame(
        {
            "Neighbour": [place.name(node) for node in table["neighbour"]],
            **(classes if has_classes(place.graph) else {}),
            "Message to it went in round": table["sent"].where(table["sent"] > 0),
            **_causes(table, "sent_cause", "Cause, to it"),
            "Message from it went in round": table["received"].where(table["received"] > 0),
            **_causes(table, "received_cause", "Cause, from it"),
            "Degree": table["degree"],
            f"Degree, round {place.number}": table["degree_left"],
            "Common neighbours": table["common_neighbours"],
            **{word: table[name] for name, word in ALIKE.items() if name in table},
        }
    )
