"""Curves of scores against sparsity: means over seeds, differences from dense, verdicts.

`curve_table` is the table behind most figures. `paper_table` adds the paper's points, `with_front` the Pareto front.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis import published
from glt import verdicts
from glt.methods.admm import EDGES_CHANGED
from glt.store import MacConvention
from glt.verdicts import DELTA, checked_margin, half_width

Score = Literal["test", "test_last"]
XAxis = Literal["graph", "weight", "edges", "macs"]

RUN_KEYS = ["run", "label", "dataset", "task", "objective", "model", "method", "color", "data"]
ROUND_KEYS = [*RUN_KEYS, "round"]
INTERVAL = ["mean", "low", "high"]
AVERAGED = ["graph_sparsity", "weight_sparsity", "edges_kept_either_way", "edges_kept_both_ways", "macs", EDGES_CHANGED]
RUN_AND_ROUND = ["run", "round"]
WORDS = ["verdict", "verdict_short", "verdict_sentence"]
# Columns of `verdict_table` and the attributes of a verdict.
NUMBERS = {
    "paired_seeds": "seeds",
    "seeds_left_out": "left_out",
    "margin": "delta",
    "p_ticket": "p_ticket",
    "p_ticket_adjusted": "adjusted_ticket",
    "p_no_ticket": "p_no_ticket",
    "p_no_ticket_adjusted": "adjusted_no_ticket",
    "p_adjusted": "p_adjusted",
    "family": "family",
    "detectable": "detectable",
    "detectable_alone": "detectable_alone",
    "seeds_needed": "needed",
    "paper_criterion": "meets_paper_criterion",
}
# Runs with equal values in these columns share one front.
FRONT_KEYS = ["dataset", "task", "objective", "model"]
# A round has the paper's sparsity only at the paper's rates; whole entries stay this close to 1 - 0.95^k.
SAME_RATES = 0.005


def curve_table(
    rounds: pd.DataFrame,
    score: Score = "test",
    x: XAxis = "graph",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    family: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return one row per run and round with means over the seeds that finished it.

    Columns: RUN_KEYS, round, x (see `x_of`), mean, low, high (95% t interval, NaN below three
    seeds), seeds, dense (round 0 of the same seeds), difference, difference_low, difference_high and p_value (against
    dense, paired, two-sided, uncorrected), val_difference (of the validation score), macs, graph_sparsity,
    weight_sparsity, both shares of kept edges, solver_edges_changed (see `rounds_table`), and those of `verdict_table`.
    is_ticket: the verdict is "ticket". is_extreme: the run's ticket with the highest graph sparsity, then weight
    sparsity.

    `margin` is a fraction, chosen before looking at results. All pruned rounds in `rounds` are one family of tests;
    `family` gives a larger family, of which `rounds` is a part.
    """
    paired = with_dense(rounds, score).assign(macs=rounds[f"macs_{macs}"])
    groups = paired.groupby(ROUND_KEYS, sort=False)
    table = mean_and_interval(groups["score"]).rename(columns={"count": "seeds"})
    table["dense"] = groups["dense"].mean()
    table[["difference", "difference_low", "difference_high"]] = mean_and_interval(groups["difference"])[INTERVAL]
    table["p_value"] = verdicts.t_tests(*verdicts.samples(values for _, values in groups["difference"]))
    table["val_difference"] = groups["val_difference"].mean()
    table[AVERAGED] = groups[AVERAGED].mean()
    judged = verdict_table(rounds if family is None else family, score, margin)
    table = table.reset_index().join(judged.set_index(RUN_AND_ROUND), on=RUN_AND_ROUND)
    table[WORDS] = table[WORDS].astype(object).fillna("")
    table["paper_criterion"] = table["paper_criterion"].eq(1)
    table["is_ticket"] = table["verdict"] == "ticket"
    tickets = table[table["is_ticket"]].sort_values(["graph_sparsity", "weight_sparsity"])
    table["is_extreme"] = table.index.isin(tickets.groupby("run").tail(1).index)
    table.insert(len(ROUND_KEYS), "x", x_of(table, x))
    order = np.lexsort((table["round"], pd.factorize(table["run"])[0]))
    return table.iloc[order].reset_index(drop=True)


def x_of(table: pd.DataFrame, x: XAxis, macs: str = "macs") -> pd.Series:
    """Return the places of rounds on an axis: the share removed of entries, weights or undirected edges, or MACs.

    An undirected edge is removed where neither direction is kept. `macs` is the column that counts MACs.
    """
    if x == "edges":
        return 1 - table["edges_kept_either_way"]
    return table[{"graph": "graph_sparsity", "weight": "weight_sparsity", "macs": macs}[x]]


def verdict_table(rounds: pd.DataFrame, score: Score = "test", margin: float = DELTA) -> pd.DataFrame:
    """Return the verdict of every pruned round in a `rounds_table`, all of them one family of tests.

    Columns: run, round, verdict ("ticket", "no ticket", "open" or "no verdict"), verdict_short and verdict_sentence
    (in words), paired_seeds, seeds_left_out (without a dense score, or without this round), margin, p_ticket and
    p_no_ticket (one-sided, of a loss of less and of more than the margin), p_ticket_adjusted and p_no_ticket_adjusted
    (Holm over `family` rounds), p_adjusted (of the direction of the mean), detectable (the smallest distance from the
    margin that these seeds show with 80 % power in this family), detectable_alone (in a single test), seeds_needed (NaN
    where the round is not open, or too many are needed) and paper_criterion (the mean is at least the dense mean).
    Raises ConfigError for an impossible margin.
    """
    checked_margin(margin)
    paired = with_dense(rounds, score)
    pruned = paired[paired["round"] > 0]
    groups = pruned.groupby(RUN_AND_ROUND, sort=False)["difference"]
    counted = groups.agg(["count", "size"])
    having_dense = paired[(paired["round"] == 0) & paired["dense"].notna()].groupby("run")["seed"].nunique()
    expected = having_dense.reindex(counted.index.get_level_values("run"), fill_value=0).to_numpy()
    # Seeds with a dense score but not this round, and with this round but no dense score.
    left_out = (expected - counted["count"]) + (counted["size"] - counted["count"])
    found = verdicts.judge([values.to_numpy() for _, values in groups], margin, left_out=left_out.tolist())
    rows = [
        (*key, verdict.word, verdict.headline(), verdict.sentence(), *(getattr(verdict, of) for of in NUMBERS.values()))
        for key, verdict in zip(counted.index, found, strict=True)
    ]
    kinds = {"round": "int64", **dict.fromkeys(NUMBERS, "float64")}
    return pd.DataFrame(rows, columns=[*RUN_AND_ROUND, *WORDS, *NUMBERS]).astype(kinds)


def family_size(rounds: pd.DataFrame, score: Score = "test") -> int:
    """Return the number of testable pruned rounds: two seeds or more whose differences vary."""
    pruned = with_dense(rounds, score).query("round > 0")
    return verdicts.family_size(values for _, values in pruned.groupby(RUN_AND_ROUND)["difference"])


def dense_table(rounds: pd.DataFrame, score: Score = "test") -> pd.DataFrame:
    """Return mean, low, high and seeds of each run's dense model (round 0)."""
    dense = rounds[rounds["round"] == 0].assign(score=lambda rows: rows[score])
    table = mean_and_interval(dense.groupby(RUN_KEYS, sort=False)["score"])
    return table.rename(columns={"count": "seeds"}).reset_index()


def with_dense(rounds: pd.DataFrame, score: Score) -> pd.DataFrame:
    """Return the rounds with score, dense (round 0 of the same seed, or NaN), difference and val_difference."""
    first = rounds.loc[rounds["round"] == 0].set_index(["run", "seed"])[[score, "val"]]
    joined = rounds.join(first.set_axis(["dense", "dense_val"], axis=1), on=["run", "seed"])
    return joined.assign(
        score=joined[score],
        difference=joined[score] - joined["dense"],
        val_difference=joined["val"] - joined["dense_val"],
    ).drop(columns="dense_val")


def mean_and_interval(groups: pd.api.typing.SeriesGroupBy) -> pd.DataFrame:
    """Return mean, low, high (95% t interval, NaN below three values) and count of every group's values."""
    table = groups.agg(["mean", "std", "count"])
    half = half_width(table["std"], table["count"])
    return table.assign(low=table["mean"] - half, high=table["mean"] + half)[["mean", "low", "high", "count"]]


# The paper's points


def paper_table(curve: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve` that the paper prints, with paper, paper_macs, gap (ours minus the paper's), source.

    Rounds are matched by number. Runs at other pruning rates, whose round k has another sparsity, are left out.
    """
    printed = pd.DataFrame([asdict(point) for point in published.POINTS])
    printed = printed.drop(columns="weight_sparsity")
    printed = printed.rename(columns={"graph_sparsity": "printed", "score": "paper", "macs": "paper_macs"})
    joined = curve.merge(printed, on=["dataset", "task", "model", "method", "round"], how="inner")
    same = (joined["graph_sparsity"] - joined["printed"]).abs() <= SAME_RATES
    kept = joined[same].drop(columns="printed").reset_index(drop=True)
    return kept.assign(gap=kept["mean"] - kept["paper"])


# The Pareto front


def is_on_front(cost: ArrayLike, score: ArrayLike) -> NDArray[np.bool_]:
    """Return which points no other point dominates (at most their cost, at least their score, better in one).

    Points equal in both are all on the front; points with a NaN never are.

    >>> is_on_front([1, 2, 3, 3], [0.7, 0.8, 0.75, 0.9]).tolist()
    [True, True, False, True]
    """
    costs, scores = np.asarray(cost, dtype=np.float64), np.asarray(score, dtype=np.float64)
    known = np.isfinite(costs) & np.isfinite(scores)
    order = np.lexsort((-scores, costs))
    order = order[known[order]]
    best_before = np.maximum.accumulate(np.concatenate([[-np.inf], scores[order]]))[:-1]
    front = np.zeros(costs.shape, dtype=np.bool_)
    front[order] = scores[order] > best_before
    # Sorting marks only the first of several equal points.
    pairs = set(zip(costs[front], scores[front], strict=True))
    equal = np.fromiter((pair in pairs for pair in zip(costs, scores, strict=True)), np.bool_, costs.size)
    return np.asarray(front | equal)


def with_front(curve: pd.DataFrame, x: XAxis) -> pd.DataFrame:
    """Return a `curve_table` (made with the same x) with the column on_front, one front a data set, task and network.

    Fewer MACs, or more sparsity, cost less. MACs are compared by three digits and sparsities by tenths of a percent,
    as they are shown, because methods round their counts differently.
    """
    if x == "macs":
        unit = 10.0 ** (np.floor(np.log10(curve["x"].where(curve["x"] > 0))) - 2)
        cost = (curve["x"] / unit).round() * unit
    else:
        cost = -curve["x"].round(3)
    fronts = pd.Series(data=False, index=curve.index, dtype=np.bool_)
    for _, rows in curve.groupby(FRONT_KEYS, sort=False):
        fronts.loc[rows.index] = is_on_front(cost.loc[rows.index], rows["mean"])
    return curve.assign(on_front=fronts)
