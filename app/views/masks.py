"""Stability and transfer of masks: agreement beyond chance, and retraining under other seeds, on the page Compare."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from analysis.drawing.description import Description
from analysis.figures.stability import overlap_matrices, shown_parts
from analysis.figures.transfer import AGAINST, transfer_matrices
from analysis.labels import dataset_label
from analysis.runs import last_common_round
from analysis.stability import EDGES, stability_summary, stability_table, stability_words
from analysis.tables.curves import Score
from analysis.transfer import (
    GROUP,
    RANDOM,
    arm_of,
    comparison_text,
    group_words,
    transfer_summary,
    transfer_table,
)
from app.components import controls, downloads, frame, run_select
from app.components.downloads import drawn, show_figure, show_number_table
from app.data import cache
from app.data.runs import setting
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


# Transfer


ABOUT_TRANSFER = (
    "Rows: the seed that found the masks. Columns: the seed whose initial weights are retrained with them. Random "
    "masks are those of the first chosen run that retrains random masks of the same halves and sizes. All columns "
    "share the same masks, so intervals over seeds are about retraining, not about new searches."
)


def show_transfer(finished: Sequence[Run]) -> None:
    """Show what runs of the method `combine` reach with the masks of other seeds and runs."""
    with frame.row("controls"):
        chosen = run_select.pick_runs(finished, _transferring(finished))
        score = run_select.pick_score()
    runs = run_select.chosen_runs(chosen, "leaderboard") if chosen else []
    if not any((arm := arm_of(run)) is not None and arm.options is not None for run in runs):
        frame.empty(
            "No transferred masks",
            "Choose a run of the method combine that retrains masks of another run (edges_from=run:NAME, "
            "weights_from=run:NAME or both), and that run. source_seed takes the masks of another seed.",
            "swap_horiz",
        )
        return
    with frame.or_why():
        table = transfer_table(runs, cache.rounds_of(runs), score)
        with frame.row("transfer-controls"):
            groups = table[GROUP].drop_duplicates().to_dict("records")
            words = {str(place): group_words(group) for place, group in enumerate(groups)}
            group = groups[int(controls.select("group", "Masks", words, width=330))]
            known = {str(number): str(number) for number in sorted(set(table["round"]))}
            number = int(controls.select("round", "Round", known, list(known)[-1], width=90))
            against = controls.segments("against", "Points", {name: formats.opening(w) for name, w in AGAINST.items()})
        _show_transfer(runs, score, number, against, group)


def _transferring(finished: Sequence[Run]) -> list[Run]:
    """Return the runs that retrain masks of another seed, with their sources and random pruning beside them."""
    arms = {run.reference: arm for run in finished if (arm := arm_of(run)) is not None}
    own = {run.name for run in finished if not run.is_bundled}
    finished = [run for run in finished if not (run.is_bundled and run.name in own)]
    given = [run for run in finished if run.reference in arms and arms[run.reference].source_seed is not None]
    sources = {arms[run.reference].source for run in given}
    settings = {setting(run.config) for run in given}
    controls_of = [run for run in finished if run.config.method == RANDOM and setting(run.config) in settings]
    return [run for run in finished if run in given or run.name in sources or run in controls_of]


def _show_transfer(runs: list[Run], score: Score, number: int, against: str, group: dict[Hashable, Any]) -> None:
    rounds = cache.rounds_of(runs)
    table = transfer_table(runs, rounds, score)
    own = table[(table["round"] == number) & (table[GROUP] == list(group.values())).all(axis="columns")]
    results = [formats.opening(comparison_text(row)) for row in transfer_summary(own).to_dict("records")]
    st.markdown("\n".join(f"- {frame.plain(result)}" for result in results))
    show_figure(
        _transfer(runs, score, number, against, group),
        "transfer",
        f"Points {AGAINST[against]}, by seed of the search and of retraining",
    )
    controls_shown = " or ".join(name for name in dict.fromkeys(own["control_label"]) if name) or "none chosen"
    frame.caption("Row: found with. Column: retrained under.", frame.plain(f"{ABOUT_TRANSFER} Here: {controls_shown}."))
    downloads.csv_button(table, "transfer.csv")
    frame.results_note(runs)


@drawn()
def _transfer(runs: list[Run], score: Score, number: int, against: str, group: dict[Hashable, Any]) -> Description:
    rounds = cache.rounds_of(runs)
    return transfer_matrices(transfer_table(runs, rounds, score), rounds, number, score, against, group)
