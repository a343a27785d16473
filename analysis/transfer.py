"""Transfer of masks: masks found with one seed, or by another run, retrained from another seed's initial weights.

A run of the method `combine` takes the masks of a source run, of seed i (`source_seed`, by default the seed itself),
and retrains them under seed j. Its score minus the dense score of seed j is one cell of a matrix. On the diagonal stand
masks retrained from the weights that they were found with, those of the source run itself included. What transfers is
the rest of the matrix minus a control that is retrained under seed j with random masks of the same halves and sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from analysis.labels import model_label, run_labels
from analysis.statistics import WORDS, significances
from analysis.tables.curves import SAME_RATES, Score
from glt import formats
from glt.config import options_of
from glt.errors import StoreError
from glt.methods.combine import RUN, CombineOptions, Source
from glt.store import Run

COMBINE, RANDOM = "combine", "random"
HALVES = {"both": "edges and weights", "edges": "edges alone", "weights": "weights alone"}
# What masks must share to be in one matrix.
GROUP = ["source", "source_label", "halves", "start", "model"]
COLUMNS = [*GROUP, "round", "run", "source_seed", "seed", "is_own", "score", "dense", "difference"]
COLUMNS += ["control_label", "control", "above_control"]
COMPARISONS = {
    "own": "own masks minus dense",
    "other": "other masks minus dense",
    "other_own": "other masks minus own masks",
    "other_control": "other masks minus random masks",
}


class Arm(NamedTuple):
    """What a run retrains: halves of a source's masks of some seed (None: its own), and the rounds they are from."""

    source: str
    halves: str
    start: str
    source_seed: int | None
    options: CombineOptions | None

    def round_of(self, number: int) -> int:
        """Return the source's round behind a round of the run."""
        return self.options.round_of(number) if self.options is not None and number else number


def arm_of(run: Run) -> Arm | None:
    """Return what a run takes from one other run, the rest being whole; None where it takes nothing, or random masks.

    Runs of other methods are their own source.
    """
    if run.config.method != COMBINE:
        return Arm(run.name, "both", "theta_0", None, None)
    options = options_of(run.config.options, CombineOptions)
    taken = _halves(options, lambda source: source.kind == RUN)
    names = {source.name for source in options.sources.values() if source.kind == RUN}
    return Arm(names.pop(), taken, options.start, options.source_seed, options) if taken and len(names) == 1 else None


def control_of(run: Run) -> Arm | None:
    """Return which halves of a run are random with given counts, the rest being whole; None for other runs.

    The source is the run whose counts are kept, "" for random pruning at its own rates.
    """
    if run.config.method == RANDOM:
        return Arm("", "both", "theta_0", None, None)
    if run.config.method != COMBINE:
        return None
    options = options_of(run.config.options, CombineOptions)
    drawn = _halves(options, lambda source: source.kind.startswith(RANDOM))
    return Arm(options.counts_from, drawn, options.start, None, options) if drawn else None


def _halves(options: CombineOptions, is_meant: Callable[[Source], bool]) -> str:
    """Return which halves come from a kind of source while the others are whole, "" for none or a mixture."""
    meant = [half for half, source in options.sources.items() if is_meant(source)]
    rest = [source for half, source in options.sources.items() if half not in meant]
    if not meant or any(source != Source("all") for source in rest):
        return ""
    return "both" if len(meant) == len(options.sources) else meant[0]


def transfer_table(runs: Sequence[Run], rounds: pd.DataFrame, score: Score = "test") -> pd.DataFrame:
    """Return one row per round, run and seed of a `rounds_table` whose masks come from one of these runs.

    Columns: GROUP (source run, its label, "both", "edges" or "weights", the start of retraining, the model retrained),
    round (the source's), run, source_seed and seed (found with, retrained under), is_own (the same seed and model),
    score, dense (of the same seed), difference (score - dense), control_label, control (the score of random masks of
    the same halves and sizes under this seed, of the first of these runs that has such; NaN without one), above_control
    (score - control). Only rounds that a run of `combine` retrains. Raises StoreError without one, or without its
    source.
    """
    # A user's run may have the name of an example; runs of one store take masks from that store.
    by_name = {run.name: run for run in sorted(runs, key=lambda run: run.is_bundled, reverse=True)}
    arms = {run.reference: arm for run in runs if (arm := arm_of(run)) is not None}
    lent = {arm.source for arm in arms.values() if arm.options is not None}
    if not lent:
        raise StoreError(
            "No run among these retrains masks of another run: choose one of the method combine with "
            "edges_from=run:NAME, weights_from=run:NAME or both, and source_seed."
        )
    if missing := sorted(lent - by_name.keys()):
        raise StoreError(f"These runs retrain masks of {missing[0]}: choose that run too.")
    controls, labels = _controls(runs, rounds), run_labels(runs)
    dense = rounds[rounds["round"] == 0].set_index(["run", "seed"])[score]
    rows = []
    for row in rounds[(rounds["round"] > 0) & rounds["run"].isin(list(arms))].to_dict("records"):
        arm, seed = arms[row["run"]], int(row["seed"])
        source = by_name.get(arm.source)
        if source is None or (arm.options is None and row["run"] != source.reference):
            continue
        number, found_with = arm.round_of(int(row["round"])), seed if arm.source_seed is None else arm.source_seed
        group = (arm.source, labels[source.reference], arm.halves, arm.start, row["model"])
        is_own = found_with == seed and source.config.model == row["model"]
        own = float(dense.get((row["run"], seed), math.nan))
        rivals = controls.get((arm.halves, arm.start, row["model"], number, seed), [])
        name, control = next(
            ((label, other[score]) for label, other in rivals if _is_as_sparse(row, other)), ("", math.nan)
        )
        values = row[score], own, row[score] - own, name, control, row[score] - control
        rows.append((*group, number, row["run"], found_with, seed, is_own, *values, arm.options is not None))
    table = pd.DataFrame(rows, columns=[*COLUMNS, "taken"])
    return (
        table[table.groupby([*GROUP, "round"])["taken"].transform("any")].drop(columns="taken").reset_index(drop=True)
    )


def _is_as_sparse(row: Mapping[Hashable, Any], other: Mapping[Hashable, Any]) -> bool:
    return all(abs(row[name] - other[name]) <= SAME_RATES for name in ("graph_sparsity", "weight_sparsity"))


def _controls(runs: Sequence[Run], rounds: pd.DataFrame) -> Mapping[Any, list[tuple[str, Mapping[Hashable, Any]]]]:
    """Return labels and rows of random masks by halves, start, model, round of the source and seed, as runs come."""
    labels, of_run = run_labels(runs), dict(tuple(rounds[rounds["round"] > 0].groupby("run")))
    found: dict[Any, list[tuple[str, Mapping[Hashable, Any]]]] = {}
    for run in runs:
        arm = control_of(run)
        if arm is None or run.reference not in of_run:
            continue
        for row in of_run[run.reference].to_dict("records"):
            key = (arm.halves, arm.start, row["model"], arm.round_of(int(row["round"])), int(row["seed"]))
            found.setdefault(key, []).append((labels[run.reference], row))
    return found


def transfer_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per matrix, round and comparison (see COMPARISONS): what own and other masks gain, over seeds j.

    Other masks are those of other seeds or of another model; they count with their mean for each j. Columns: GROUP,
    round, comparison, seeds, mean, low, high (95% t interval over seeds j, NaN below three), p_value, p_adjusted (Holm
    over the `family` rows of this table), verdict. All j share the same sources, so the interval is about retraining,
    not about new searches.
    """
    rows, samples = [], []
    for key, cells in table.groupby([*GROUP, "round"], sort=False):
        for comparison, values in _compared(cells):
            known = values.dropna()
            if len(known):
                rows.append((*key, comparison))
                samples.append(known.to_numpy())
    tests = significances(samples)
    columns = [*GROUP, "round", "comparison"]
    return pd.DataFrame(rows, columns=columns).assign(
        seeds=[test.seeds for test in tests],
        mean=[test.mean for test in tests],
        low=[test.mean - test.half for test in tests],
        high=[test.mean + test.half for test in tests],
        p_value=[test.p for test in tests],
        p_adjusted=[test.p_adjusted for test in tests],
        family=[test.family for test in tests],
        verdict=[test.word for test in tests],
    )


def _compared(cells: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    own = cells[cells["is_own"]].groupby("seed")[["score", "difference"]].mean()
    other = cells[~cells["is_own"]].groupby("seed")[["score", "difference", "above_control"]].mean()
    yield "own", own["difference"]
    yield "other", other["difference"]
    yield "other_own", other["score"] - own["score"]
    yield "other_control", other["above_control"]


def comparison_text(row: Mapping[Hashable, Any]) -> str:
    """Write a row of `transfer_summary`.

    >>> row = {"comparison": "other", "mean": -0.021, "high": -0.011, "verdict": "lower", "p_adjusted": 0.01}
    >>> comparison_text({**row, "seeds": 5})
    'other masks minus dense: −2.1 ± 1.0 points, significantly lower, p = 0.01 (5 seeds)'
    """
    gap = formats.points_interval(row["mean"], row["high"] - row["mean"])
    found = ", ".join(filter(None, (gap, WORDS[row["verdict"]], formats.p_value(row["p_adjusted"]))))
    return f"{COMPARISONS[row['comparison']]}: {found} ({formats.number_of(int(row['seeds']), 'seed')})"


def group_words(row: Mapping[Hashable, Any]) -> str:
    """Name a matrix: whose masks, which halves, and what is retrained.

    >>> group_words({"source_label": "UGS", "halves": "edges", "start": "fresh", "model": "gin"})
    'UGS, edges alone, GIN, fresh start'
    """
    fresh = ", fresh start" if row["start"] == "fresh" else ""
    return f"{row['source_label']}, {HALVES[row['halves']]}, {model_label(row['model'])}{fresh}"
