"""Where the MACs of a round come from: transform and aggregate, and what only edges or only weights would save."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.marks.axes import MAC_NAMES
from app.widgets import reading
from glt import formats
from glt.cost import MacReport
from glt.cost.counterfactuals import counterfactuals
from glt.store import MacConvention, Run
from glt.tickets.graph import graph_of

PRUNED = {"dense": "Nothing", "graph_only": "Edges only", "weight_only": "Weights only", "both": "Edges and weights"}
CONVENTIONS: tuple[MacConvention, ...] = ("dense_features", "sparse_features")


def panel(run: Run, number: int, seed: int) -> None:
    """Show the MACs of a round of a seed, counted once it is asked for."""
    shown = st.popover("MACs", icon=":material/calculate:", key=f"macs-of-{run.reference}", on_change="rerun")
    if not shown.open:
        return
    with shown:
        counted = _counted(reading.stamp(run), seed, number, run)
        for convention in CONVENTIONS:
            st.markdown(f"**MACs with {MAC_NAMES[convention]}**")
            st.table(as_read(counted, convention), border="horizontal", hide_index=True)
        st.caption(
            f"Round {number} of seed {seed}. Transform: inputs times weights; aggregate: messages, self-loops "
            "included. Edges only and weights only count the network as if the other mask removed nothing."
        )


def as_read(counted: dict[str, MacReport], convention: MacConvention) -> pd.DataFrame:
    """Return one row for what is pruned: transform, aggregate, total and its share of the dense network's."""
    parts = {name: counted[name].by_convention()[convention] for name in PRUNED}
    dense = parts["dense"]["total"]
    return pd.DataFrame(
        {
            "Pruned": list(PRUNED.values()),
            "Transform": [formats.macs(part["transform"]) for part in parts.values()],
            "Aggregate": [formats.macs(part["aggregate"]) for part in parts.values()],
            "Total": [formats.macs(part["total"]) for part in parts.values()],
            "Saved": [formats.percent(1 - part["total"] / dense) for part in parts.values()],
        }
    )


@st.cache_resource(max_entries=64, show_spinner="Counts the operations")
def _counted(stamp: reading.Stamp, seed: int, number: int, _run: Run) -> dict[str, MacReport]:
    seed_run = _run.seed(seed)
    return counterfactuals(_run.config, graph_of(seed_run), seed_run.masks(number))
