"""Stability of masks: how far the masks of seeds and runs agree beyond chance, on the page Compare."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.drawing.description import Description
from analysis.figures.stability import overlap_matrices, shown_parts
from analysis.labels import dataset_label
from analysis.runs import last_common_round
from analysis.stability import EDGES, stability_summary, stability_table, stability_words
from app.components import controls, downloads, frame, run_select
from app.components.downloads import drawn, show_figure, show_number_table
from app.data import cache
from glt import formats
from glt.store import Run

SEEDS = {True: "same", False: "different"}
ABOUT = (
    "Overlap beyond chance, as a share of what is possible beyond chance: 1 for nested masks, 0 on average for "
    "independent draws with the same counts (hypergeometric law, in each layer for weights). z: standard deviations of "
    "that law; both directions of an edge often go together, so z of undirected edges is the safer one. Pairs share "
    "seeds, so their range is shown and no interval."
)


def show_stability(finished: Sequence[Run]) -> None:
    """Show the overlaps of the chosen runs' masks in one round."""
    with frame.row("controls"):
        chosen = run_select.pick_runs(finished, run_select.together(finished))
        runs = run_select.chosen_runs(chosen, "leaderboard")
        number = run_select.pick_round(last_common_round(runs) + 1) if runs else 0
    if not runs:
        return
    with frame.or_why():
        _show(runs, number)


def _show(runs: list[Run], number: int) -> None:
    table = _table_of(runs, number)
    summary = stability_summary(table)
    st.markdown(frame.plain(stability_words(summary)))
    words = {part: formats.opening(part) for part in shown_parts(table)}
    part = controls.segments("part", "Part of the masks", words, EDGES, label_visibility="collapsed")
    show_figure(_matrices(runs, number, part), "stability", f"Chance-corrected overlap of masks: {part}")
    several = len({*table["run"], *table["other_run"]}) > 1
    cells = "A cell is the mean over pairs of different seeds." if several else "A cell is a pair of seeds."
    frame.caption(f"{cells} 0 is chance, 1 the largest possible overlap.", ABOUT)
    number_column = st.column_config.NumberColumn
    columns = dict.fromkeys(("Overlap", "Lowest", "Highest", "Jaccard", "By chance"), number_column(format="%.2f"))
    columns |= dict.fromkeys(("Kept", "Other kept"), number_column(format="%.1f %%"))
    columns |= dict.fromkeys(("Lowest z", "Highest z"), number_column(format="%.0f"))
    with st.expander("Overlaps of all masks and layers", icon=":material/table_rows:"):
        show_number_table(stability_numbers(summary), columns, key="stability-numbers")
    downloads.csv_button(table, "stability.csv")
    frame.results_note(runs)


def stability_numbers(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a `stability_summary` with the page's column names, shares in percent."""
    return pd.DataFrame(
        {
            "Part": summary["part"],
            "Masks": summary["label"],
            "Other masks": summary["other_label"],
            "Seeds": summary["same_seed"].map(SEEDS),
            "Pairs": summary["pairs"],
            "Overlap": summary["corrected"],
            "Lowest": summary["lowest"],
            "Highest": summary["highest"],
            "Jaccard": summary["jaccard"],
            "By chance": summary["chance_jaccard"],
            "Lowest z": summary["lowest_z"],
            "Highest z": summary["highest_z"],
            "Kept": 100 * summary["kept"],
            "Other kept": 100 * summary["other_kept"],
        }
    )


@cache.cached(32, spinner="Reading masks")
def _table_of(runs: list[Run], number: int) -> pd.DataFrame:
    return stability_table(runs, [number])


@drawn()
def _matrices(runs: list[Run], number: int, part: str) -> Description:
    return overlap_matrices(_table_of(runs, number), dataset_label(runs[0].config.dataset), part)
