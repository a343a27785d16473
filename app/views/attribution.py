"""Attribution: the section of the Paper page on which half of a ticket carries its accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.attribution import (
    KIND_WORDS,
    Attribution,
    attributions,
    cells_table,
    chosen_attribution,
    effects_by_round,
    effects_table,
    finding,
    macs_table,
    variance_shares,
)
from analysis.drawing.description import Description
from analysis.figures.attribution import attribution
from analysis.figures.base import FigureChoices
from analysis.tables.curves import Score
from app.components import controls, downloads, frame, run_select
from app.components.downloads import drawn, numbers_popover, show_figure, show_number_table, show_text_table
from app.data import cache
from glt import formats
from glt.config import RunConfig
from glt.reproduction import Setting
from glt.store import MacConvention, Run

TITLE = "Accuracy of every combination of edges and weights"
ABOUT_TESTS = (
    "Paired t tests over the seeds that have all cells of a contrast, two-sided at 5 %, Holm over all contrasts of a "
    "kind at all rounds; intervals are not corrected. Loss: against all edges and all weights. Main effects average "
    "over the other two factors. An interaction is what a pair adds to the two main effects, against UGS."
)


def show_results(runs: Sequence[Run], setting: Setting) -> None:
    """Show the attribution of a setting among some runs, or say that there is none yet."""
    combined = tuple(run for run in runs if run.config.method == "combine")
    found = [each for each in attributions(combined) if _setting(each.config) == setting]
    if not found:
        frame.empty(
            "Nothing to show yet",
            "The runs below retrain edges and weights of UGS, drawn ones and all of them in every combination.",
            "call_split",
        )
        return
    words = {each.name: f"rounds {', '.join(map(str, each.rounds))} of {each.source}" for each in found}
    with frame.row("attribution-controls"):
        name = (
            controls.select("attribution", "Rounds", words, found[0].name, width=380)
            if len(found) > 1
            else found[0].name
        )
        score, macs = run_select.pick_score(), run_select.pick_macs()
    with frame.or_why():
        _show(next(each for each in found if each.name == name), score, macs)


def _setting(config: RunConfig) -> Setting:
    return Setting(config.dataset, config.model, config.task)


@cache.cached(8)
def _cells(runs: tuple[Run, ...], score: Score) -> pd.DataFrame:
    return cells_table(chosen_attribution(attributions(runs), None, None, None), score)


def _show(found: Attribution, score: Score, macs: MacConvention) -> None:
    runs = tuple(found.runs.values())
    cells = _cells(runs, score)
    effects = effects_table(cells)
    if sentence := finding(effects):
        st.markdown(frame.plain(sentence))
    figure = _figure(runs, score)
    show_figure(figure, "combinations", TITLE)
    numbers_popover(figure, "combinations", TITLE)
    st.caption(
        "Mean test score of each combination with its 95% interval; counts of edges and weights are those of UGS."
    )
    if found.missing:
        number = f"{len(found.missing)} of {len(found.missing) + len(found.runs)}"
        st.caption(f":material/info: {number} combinations have no runs yet.")
    _show_effects(effects)
    left, right = st.columns(2, gap="medium")
    with left:
        _show_shares("Variance between combinations", variance_shares(cells), "factor")
    with right:
        saved = macs_table(cells, macs).drop(columns="seeds").melt("round", var_name="masks of UGS", value_name="share")
        _show_shares("MACs removed", saved, "masks of UGS")


@drawn()
def _figure(runs: tuple[Run, ...], score: Score) -> Description:
    return attribution(runs, FigureChoices(score=score))


def _show_effects(effects: pd.DataFrame) -> None:
    kinds = {str(kind): words for kind, words in KIND_WORDS.items() if (effects["kind"] == kind).any()}
    if not kinds:
        st.caption("Differences need two combinations that share a seed.")
        return
    kind = controls.segments("effects", "Effects", kinds, next(iter(kinds)))
    by_contrast = effects_by_round(effects, kind)
    rounds = sorted({number for by_round in by_contrast.values() for number in by_round})
    table = [
        [name, *(by_round.get(number, formats.MISSING) for number in rounds)] for name, by_round in by_contrast.items()
    ]
    shown = pd.DataFrame(table, columns=["Contrast", *(f"Round {number}" for number in rounds)])
    show_text_table(f"effects-{kind}", shown)
    family = formats.number_of(int(effects.loc[effects["kind"] == kind, "family"].max()), "test")
    frame.caption(f"Points of the test score with 95% intervals; * significant, Holm over {family}.", ABOUT_TESTS)
    downloads.csv_button(effects, "attribution.csv")


def _show_shares(title: str, table: pd.DataFrame, name: str) -> None:
    st.markdown(f"**{title}**")
    if table.empty:
        st.caption("Some combinations are missing.")
        return
    wide = (100 * table.pivot_table("share", name, "round", sort=False)).reset_index()
    wide.columns = [name, *(f"Round {number}" for number in wide.columns[1:])]
    columns = {head: st.column_config.NumberColumn(format="%.1f %%") for head in wide.columns[1:]}
    show_number_table(wide, columns, key=f"shares-{name}", height="content", placeholder=formats.MISSING)
