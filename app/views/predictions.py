"""Predictions of rounds: who pays for pruning, and calibration. Begin at `show_predictions`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.drawing.description import Description
from analysis.figures.calibration import calibration_curves
from analysis.figures.who_pays import accuracy_by_group
from analysis.labels import dataset_label
from analysis.statistics import WORDS
from analysis.tables.calibration import BINS, LABELS, calibration_rows, calibration_table
from analysis.tables.captions import averaged_over
from analysis.tables.who_pays import WhoPays, flip_words, flips_summary, gap_words, who_pays
from app.components import computation, controls, frame, run_select
from app.components.downloads import drawn, show_figure, show_number_table
from app.components.frame import plain
from app.data import cache
from glt import formats
from glt.lottery.predictions import NO_PREDICTIONS, without_predictions
from glt.store import Run

EVIDENCE = {"groups": "Who pays", "calibration": "Calibration"}
# Seconds of a process that loads torch, and of a forward pass.
TO_START, OF_A_PASS = 5.0, 0.1
# Findings on the screen; the others are under "Data".
MOST_FINDINGS = 3


def show_predictions(finished: list[Run]) -> None:
    """Show the accuracies of groups of nodes, or calibration over rounds."""
    able = [run for run in finished if run.config.task == "node"]
    if not able:
        frame.empty("No predictions of classes", "Predictions are analysed for node classification.", "straighten")
        return
    with frame.row("controls"):
        runs = run_select.pick_runs(able, run_select.together(able))
        evidence = controls.segments("evidence", "Evidence", EVIDENCE)
        number = None
        if evidence == "groups":
            number = run_select.pick_round(_rounds(runs or able))
    if not (chosen := run_select.chosen_runs(runs, "straighten")):
        return
    missing = without_predictions(chosen)
    if len(missing) == len(chosen):
        frame.empty(
            "No predictions",
            "These examples keep neither weights nor predictions: start a run with the same settings.",
            "straighten",
        )
        return
    if missing:
        st.caption(plain(f"Left out, because they {NO_PREDICTIONS}: {', '.join(run.reference for run in missing)}."))
    chosen = [run for run in chosen if run not in missing]
    if _offer(chosen, None if number is None else [0, number]):
        return
    if number is None:
        _show_calibration(chosen)
    else:
        _show_groups(chosen, number)
    frame.results_note(chosen)


def _rounds(runs: Sequence[Run]) -> int:
    """Return how many rounds every seed that has begun has."""
    begun = [count for run in runs for seed in run.seeds() if (count := run.seed(seed).whole_rounds())]
    return min(begun, default=1)


def _offer(runs: Sequence[Run], rounds: Sequence[int] | None) -> bool:
    """Offer to store the predictions of these rounds (None: all) that are computed from weights, or show progress."""
    lacking = {run: _lacking(run, rounds) for run in runs if not run.is_example}
    lacking = {run: count for run, count in lacking.items() if count}
    passes = sum(lacking.values())
    if not passes:
        return False
    chosen = [word for number in rounds or () for word in ("--round", str(number))]
    arguments = ["glt", "predictions", *(str(run.path) for run in lacking), *chosen, "--progress"]
    key = f"predictions {[str(run.path) for run in lacking]} {rounds}"
    computation.panel(
        key, arguments, f"Predictions of {formats.number_of(passes, 'round')}", TO_START + OF_A_PASS * passes
    )
    return True


def _lacking(run: Run, rounds: Sequence[int] | None) -> int:
    seeds = [run.seed(seed) for seed in run.seeds()]
    return sum(
        not seed.has_predictions(number)
        for seed in seeds
        for number in (range(seed.whole_rounds()) if rounds is None else rounds)
        if number < seed.whole_rounds()
    )


# Who pays


@cache.cached(32)
def _who_pays(runs: Sequence[Run], number: int) -> WhoPays:
    return who_pays(runs, [number])


@drawn()
def _groups_figure(runs: Sequence[Run], number: int) -> Description:
    return accuracy_by_group(_who_pays(runs, number).groups)


def _show_groups(runs: list[Run], number: int) -> None:
    if not number:
        st.caption("Round 0 is the dense network itself: choose a later round.")
        return
    found = _who_pays(runs, number)
    summary = flips_summary(found.flips)
    for sentence in flip_words(summary)[:MOST_FINDINGS]:
        st.markdown(plain(sentence))
    show_figure(_groups_figure(runs, number), "who-pays", "Test accuracy by group of nodes, beside the dense network")
    family = int(found.groups["family"].iloc[0])
    frame.caption(
        f"{dataset_label(runs[0].config.dataset)}, round {number}. Crosses: dense network. Full marks: significant "
        f"difference (Holm over {family}).",
        plain(
            f"Test accuracy, {averaged_over(found.groups['seeds'])}. Differences are paired by seed; two-sided t tests "
            f"at 5 %, Holm over all {family} groups and gaps. Bins of original degree hold at least 5 % of the test "
            f"nodes. No edge left: both directions of every edge are removed. {' '.join(gap_words(found.groups))}"
        ),
    )
    with st.expander("Data", icon=":material/table_rows:", key="who-pays-data"):
        percent, point = (
            st.column_config.NumberColumn(format="%.1f %%"),
            st.column_config.NumberColumn(format="%+.1f points"),
        )
        columns = {"Dense": percent, "Accuracy": percent, "Against dense": point}
        columns["95% interval"] = st.column_config.NumberColumn(format="± %.1f")
        columns["Number"] = st.column_config.NumberColumn(format="%.1f", help="Test nodes, mean over seeds")
        show_number_table(groups_as_read(found.groups), columns, key="groups", height=320, placeholder=formats.MISSING)
        show_number_table(flips_as_read(found.flips), columns, key="flips", placeholder=formats.MISSING)


def _p_words(p: float) -> str:
    return formats.p_value(p).removeprefix("p ").removeprefix("= ") or formats.MISSING


def groups_as_read(groups: pd.DataFrame) -> pd.DataFrame:
    """Return `groups_table` with the page's column names, in percent."""
    return pd.DataFrame(
        {
            "Method": groups["label"],
            "Nodes": [
                f"Degree {name}" if grouping == "degree" else name
                for grouping, name in zip(groups["grouping"], groups["name"], strict=True)
            ],
            "Number": groups["size"],
            "Dense": 100 * groups["dense"],
            "Accuracy": 100 * groups["accuracy"],
            "Against dense": 100 * groups["difference"],
            "95% interval": 100 * (groups["high"] - groups["difference"]),
            "Holm-adjusted p": list(map(_p_words, groups["p_adjusted"])),
            "Result": groups["verdict"].map(WORDS),
            "Seeds": groups["seeds"],
        }
    )


def flips_as_read(flips: pd.DataFrame) -> pd.DataFrame:
    """Return `flips_table` with the page's column names."""
    return pd.DataFrame(
        {
            "Method": flips["label"],
            "Seed": flips["seed"],
            "Right to wrong": flips["right_to_wrong"],
            "Wrong to right": flips["wrong_to_right"],
            "Right in both": flips["right_in_both"],
            "Holm-adjusted p": list(map(_p_words, flips["p_adjusted"])),
            "McNemar's exact test": flips["verdict"].map(WORDS),
        }
    )


# Calibration


@cache.cached(32, spinner="Fitting temperatures")
def _calibration(runs: Sequence[Run]) -> pd.DataFrame:
    return calibration_table(calibration_rows(runs))


@drawn()
def _calibration_figure(runs: Sequence[Run]) -> Description:
    return calibration_curves(_calibration(runs))


def _show_calibration(runs: list[Run]) -> None:
    table = _calibration(runs)
    show_figure(_calibration_figure(runs), "calibration", "Calibration over rounds")
    frame.caption(
        f"{dataset_label(runs[0].config.dataset)}, test nodes: {averaged_over(table['seeds'])}. Dotted: temperature "
        "fitted. Lower is better.",
        f"Expected calibration error: the mean gap between confidence and accuracy in {BINS} bins of equal width. "
        "Brier score: the squared distance between probabilities and the class, summed over classes (0 to 2). Negative "
        "log-likelihood in nats. Temperature: the one with the lowest negative log-likelihood of the validation nodes, "
        "fitted for each seed and round.",
    )
    with st.expander("Data", icon=":material/table_rows:", key="calibration-data"):
        show_number_table(calibration_as_read(table), height=320, key="calibration-table", placeholder=formats.MISSING)


def calibration_as_read(table: pd.DataFrame) -> pd.DataFrame:
    """Return `calibration_table` with the page's column names."""
    return pd.DataFrame(
        {
            "Method": table["label"],
            "Round": table["round"],
            "Measure": table["measure"].map(LABELS),
            "Temperature": table["temperature"],
            "Mean": table["mean"].round(4),
            "95% interval, ±": (table["high"] - table["mean"]).round(4),
            "Seeds": table["seeds"],
        }
    )
