"""Paired differences of two runs: scores of the same seed are subtracted, so that what a seed gives both drops out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import names
from analysis.statistics import significances
from analysis.tables.curve import INTERVAL, Score, mean_and_interval
from analysis.tables.data import check_shared_data
from glt.errors import ConfigError

At = Literal["round", "graph", "weight"]
AT_WORDS: dict[At, str] = {"round": "equal round", "graph": "equal graph sparsity", "weight": "equal weight sparsity"}
SPARSITY: dict[At, str] = {"graph": "graph_sparsity", "weight": "weight_sparsity"}
# What two scores must be of, and how it is said.
SAME: dict[str, Callable[[str], str]] = {"dataset": names.dataset, "task": names.task, "objective": str}
# Sparsities of one round count as equal within this, whatever the last bits.
EQUAL = 1e-9
AVERAGED = ["graph_sparsity", "weight_sparsity", "one", "other"]
COLUMNS = ["round", "seed", *AVERAGED, "difference"]


def shared_seeds(rounds: pd.DataFrame, one: str, other: str) -> list[int]:
    """Return the seeds that have finished a round of both runs, in ascending order."""
    seeds = rounds.groupby("run")["seed"].agg(set)
    return sorted(int(seed) for seed in seeds.get(one, set()) & seeds.get(other, set()))


def paired_seeds(rounds: pd.DataFrame, one: str, other: str, score: Score = "test", at: At = "round") -> pd.DataFrame:
    """Return a row a round of `one` and shared seed of a `rounds_table`: both scores and their difference, one - other.

    Columns: round, seed, graph_sparsity, weight_sparsity (of `one`), one, other, difference. At an equal sparsity the
    other's score lies straight between its two nearest rounds of the same seed; where it was never that sparse there
    is no row. Raises ConfigError for runs whose scores are of different things.
    """
    mine, theirs = (rounds[rounds["run"] == run] for run in (one, other))
    _check(mine, theirs)
    if at == "round":
        matched = mine.merge(theirs[["seed", "round", score]], on=["seed", "round"], suffixes=("", "_other"))
        matched = matched.assign(one=matched[score], other=matched[f"{score}_other"])
    else:
        matched = mine.assign(one=mine[score], other=_at_sparsity(mine, theirs, score, SPARSITY[at]))
        matched = matched.dropna(subset=["other"])
    matched = matched.assign(difference=matched["one"] - matched["other"])
    return matched[COLUMNS].sort_values(["round", "seed"]).reset_index(drop=True)


def paired_table(rounds: pd.DataFrame, one: str, other: str, score: Score = "test", at: At = "round") -> pd.DataFrame:
    """Return a row a round: means over the shared seeds, and what they show about the difference (one - other).

    Columns: round, graph_sparsity, weight_sparsity, one, other, difference, low, high (95% t interval, NaN below three
    seeds), p_value (two-sided paired t test), p_adjusted (Holm over the `family` rounds of this table), family,
    detectable (the smallest difference that these seeds show with 80 % power in this family), seeds, and verdict
    ("higher" or "lower" where the first is significantly so, "none" for no significant difference, "no test"). Raises
    ConfigError as `paired_seeds`.
    """
    pairs = paired_seeds(rounds, one, other, score, at)
    groups = pairs.groupby("round", sort=True)
    table = groups[AVERAGED].mean()
    table[["difference", "low", "high"]] = mean_and_interval(groups["difference"])[INTERVAL]
    found = significances([values.to_numpy() for _, values in groups["difference"]])
    table["p_value"] = [each.p for each in found]
    table["p_adjusted"] = [each.p_adjusted for each in found]
    table["family"] = [each.family for each in found]
    table["detectable"] = [each.detectable for each in found]
    table["seeds"] = groups["difference"].count()
    table["verdict"] = [each.word for each in found]
    return table.reset_index()


def _at_sparsity(mine: pd.DataFrame, theirs: pd.DataFrame, score: Score, column: str) -> NDArray[np.float64]:
    found = np.full(len(mine), np.nan)
    for seed, rows in theirs.sort_values(column).groupby("seed"):
        here = (mine["seed"] == seed).to_numpy()
        wanted, known = mine.loc[here, column].to_numpy(), rows[column].to_numpy()
        inside = (wanted >= known[0] - EQUAL) & (wanted <= known[-1] + EQUAL)
        found[here] = np.where(inside, np.interp(wanted, known, rows[score].to_numpy()), np.nan)
    return found


def _check(mine: pd.DataFrame, theirs: pd.DataFrame) -> None:
    for name, words in SAME.items():
        values = [*mine[name].unique(), *theirs[name].unique()]
        if len(set(values)) > 1:
            told = " and ".join(dict.fromkeys(words(value) for value in values))
            raise ConfigError(f"Scores of {told} have no difference that means anything: choose two runs of one.")
    check_shared_data(pd.concat([mine, theirs]), "A comparison")
