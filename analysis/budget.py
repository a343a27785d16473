"""Methods at an equal budget: the same directed entries, undirected edges or MACs kept, or the same round.

At equal directed entries, methods keep different numbers of undirected edges and different MACs, so each of the three
is a comparison of its own. A target is met by the pruned round of a run that keeps nearest to it. Scores are never
interpolated between rounds: where no round keeps within the tolerance of a target, the table says so. Differences from
the reference are paired by seed and corrected by Holm's method over all that the table shows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from analysis.labels import dataset_label
from analysis.leaderboard import BOARD_KEYS, COMPARED, REFERENCE, comparison_of, comparison_words, difference_of
from analysis.palette import DENSE, label
from analysis.statistics import WORDS, family_words, significances_of
from analysis.tables.curves import RUN_KEYS, SAME_RATES, Score, mean_and_interval
from glt import formats
from glt.errors import ConfigError, quoted
from glt.store import MacConvention
from glt.verdicts import ROUNDING

Equal = Literal["round", "entries", "edges", "macs"]
EQUALS: dict[Equal, str] = {
    "round": "equal round",
    "entries": "equal directed entries",
    "edges": "equal undirected edges",
    "macs": "equal MACs",
}
# What a share of each is a share of.
KEPT: dict[Equal, str] = {
    "round": "directed entries",
    "entries": "directed entries",
    "edges": "undirected edges",
    "macs": "the dense MACs",
}
# The rounds whose budgets are the targets, as far as the runs have them.
ROUNDS = (4, 9, 13, 16)
# Of the target. Half a round at a rate of 5 % is 2.5 %.
TOLERANCE = 0.05
NO_ROUND = "no round"
NOTHING = pd.Series(dtype=np.float64)
DENSE_LABEL = label(DENSE)
SPENT = ["graph_sparsity", "weight_sparsity", "edges_kept_either_way", "macs"]
TARGETS = ["equal", "reference", "anchor", "tolerance", "target", "target_round"]
FOUND = ["round", "nearest_round", "kept", "mean", "low", "high", "seeds", "dense"]
COLUMNS = [*RUN_KEYS, *TARGETS, *FOUND, *SPENT, *COMPARED]
Scores = Mapping[Any, pd.Series]


@dataclass(frozen=True)
class Budget:
    """Where methods are compared, and with which reference.

    - `at`: what is equal; None for the round where all runs have equal sparsities in equal rounds, else entries.
    - `rounds`: the targets are what the reference keeps in these rounds (the run with most seeds where the reference is
      the dense model); none for ROUNDS, as far as it has them.
    - `shares`: targets as kept shares of the full graph, or of the dense MACs, in place of rounds.
    - `tolerance`: how far a round may be from a target, as a share of the target.
    - `reference`: "dense" (round 0 of each run), the name of a run, or a method with one run on each data set.
    """

    at: Equal | None = None
    rounds: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()
    tolerance: float = TOLERANCE
    reference: str = DENSE


USUAL = Budget()


class _Target(NamedTuple):
    """A kept share, and the round of the anchor that it comes from (NaN for a share that was given)."""

    share: float
    round: float


class _Entry(NamedTuple):
    """A row without its test: the scores by seed, and those of the reference (None for the reference itself)."""

    row: dict[Hashable, Any]
    scores: pd.Series
    against: pd.Series | None


def usual_equal(rounds: pd.DataFrame) -> Equal:
    """Return "round" where the runs of each data set have equal sparsities in equal rounds, else "entries"."""
    sparsities = rounds.groupby(["run", *BOARD_KEYS, "round"], sort=False)[["graph_sparsity", "weight_sparsity"]].mean()
    by_round = sparsities.groupby([*BOARD_KEYS, "round"])
    spread = by_round.max() - by_round.min()
    return "round" if bool((spread <= SAME_RATES).all(axis=None)) else "entries"


def budget_table(
    rounds: pd.DataFrame,
    budget: Budget = USUAL,
    score: Score = "test",
    macs: MacConvention = "dense_features",
) -> pd.DataFrame:
    """Return one row per target and run of a `rounds_table`, one data set after the other.

    Columns: RUN_KEYS; equal (see EQUALS), reference (its label), anchor (the label of the run whose rounds gave the
    targets, "" for given shares), tolerance, target (a kept share), target_round (the anchor's round, NaN for a given
    share), round (the run's pruned round nearest to the target, NaN where none is within the tolerance), nearest_round
    and kept (of the nearest round, whatever its distance), mean, low, high (95% t interval), seeds, dense (mean of
    round 0 of the same seeds), graph_sparsity, weight_sparsity, edges_kept_either_way, macs; then COMPARED as in
    `leader_table`, against the reference at the same target, with the verdict "no round" where there is none. `family`
    counts all tests of the table. Raises ConfigError for shares, rounds or a reference that do not exist.
    """
    _check(budget)
    equal = budget.at or usual_equal(rounds)
    groups = rounds.assign(score=rounds[score], macs=rounds[f"macs_{macs}"]).groupby([*RUN_KEYS, "round"], sort=False)
    curve = mean_and_interval(groups["score"]).rename(columns={"count": "seeds"})
    curve[SPENT] = groups[SPENT].mean()
    curve = curve.reset_index()
    by_seed = {key: rows.set_index("seed")[score] for key, rows in rounds.groupby(["run", "round"])}
    boards = [rows for _, rows in curve.groupby(BOARD_KEYS, sort=False)]
    entries = [entry for rows in boards for entry in _entries(rows, equal, budget, by_seed)]
    tested = [entry for entry in entries if entry.against is not None]
    tests = iter(significances_of([difference_of(entry.scores, entry.against) for entry in tested]))
    rows = [
        entry.row if entry.against is None else entry.row | comparison_of(next(tests), entry.scores, entry.against)
        for entry in entries
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _check(budget: Budget) -> None:
    if budget.at == "round" and budget.shares:
        raise ConfigError("At equal rounds a target is a round: give rounds, or compare entries, edges or macs.")
    if budget.rounds and budget.shares:
        raise ConfigError("Targets are rounds or shares: give one of them.")
    if not all(0 < share <= 1 for share in budget.shares):
        raise ConfigError("A target is a share kept, above 0 and at most 100 %.")
    if 0 in budget.rounds:
        raise ConfigError("Round 0 is the dense model, where nothing is pruned: give rounds from 1 on.")


def _entries(curve: pd.DataFrame, equal: Equal, budget: Budget, by_seed: Scores) -> Iterator[_Entry]:
    """Yield the rows of one data set, target by target."""
    reference = None if budget.reference == DENSE else _reference(curve, budget.reference)
    anchor = reference or str(curve.loc[curve["seeds"].idxmax(), "run"])
    labels = curve.drop_duplicates("run").set_index("run")["label"]
    curve = curve.assign(kept=_kept(curve, equal, anchor))
    about: dict[Hashable, Any] = {
        "equal": equal,
        "reference": labels[reference] if reference else DENSE_LABEL,
        "anchor": "" if budget.shares else labels[anchor],
        "tolerance": budget.tolerance,
    }
    pruned = dict(tuple(curve[curve["round"] > 0].groupby("run", sort=False)))
    given = [_Target(share, math.nan) for share in budget.shares]
    for target in given or _targets(curve[curve["run"] == anchor], labels[anchor], budget):
        aimed = {**about, "target": target.share, "target_round": target.round}
        met = {run: _met(own, target, equal, budget.tolerance) for run, own in pruned.items()}
        of_reference = _scores(by_seed, reference, met) if reference else None
        for run, row in met.items():
            scores, dense = _scores(by_seed, run, met), by_seed.get((run, 0), NOTHING)
            whole = {**aimed, **row, "dense": float(dense.reindex(scores.index).mean())}
            if scores.empty:
                yield _Entry({**whole, "verdict": NO_ROUND, "compared": ""}, scores, None)
            elif run == reference:
                yield _Entry({**whole, "verdict": REFERENCE, "compared": ""}, scores, None)
            else:
                yield _Entry(whole, scores, dense if of_reference is None else of_reference)


def _reference(curve: pd.DataFrame, name: str) -> str:
    """Return the run that a reference names: a run, or the only one of a method."""
    found = curve.loc[(curve["run"] == name) | (curve["method"] == name), "run"].unique()
    if len(found) == 1:
        return str(found[0])
    where = dataset_label(curve["dataset"].iloc[0])
    why = f"{len(found)} of the runs on {where} have this method" if len(found) else f"no run on {where} is called that"
    raise ConfigError(
        f"{quoted(name)} cannot be the reference: {why}. Name one of the runs, a method that one run has, or {DENSE}."
    )


def _kept(curve: pd.DataFrame, equal: Equal, anchor: str) -> pd.Series:
    if equal == "edges":
        return curve["edges_kept_either_way"]
    if equal == "macs":
        dense = curve.loc[(curve["run"] == anchor) & (curve["round"] == 0), "macs"]
        return curve["macs"] / dense.mean()
    return 1 - curve["graph_sparsity"]


def _targets(own: pd.DataFrame, label: str, budget: Budget) -> list[_Target]:
    """Return what the anchor keeps in the rounds of the budget."""
    kept = own.set_index("round")["kept"]
    last = int(kept.index.max())
    wanted = budget.rounds or [number for number in ROUNDS if number in kept.index] or [last]
    if not last:
        raise ConfigError(f"{label} has no pruned round yet: wait for round 1, or choose another reference.")
    if missing := [number for number in wanted if number not in kept.index]:
        raise ConfigError(f"{label} has no round {missing[0]}, which is to be a target: its last is round {last}.")
    return [_Target(float(kept[number]), float(number)) for number in wanted]


def _met(own: pd.DataFrame, target: _Target, equal: Equal, tolerance: float) -> dict[Hashable, Any]:
    """Return the pruned round of a run that is nearest to a target; its scores are NaN where it is too far."""
    distance = (own["round"] - target.round if equal == "round" else own["kept"] / target.share - 1).abs()
    if distance.isna().all():
        raise ConfigError("These runs do not tell what they keep of this: compare entries or edges instead of macs.")
    row: dict[Hashable, Any] = own.loc[distance.idxmin()].to_dict()
    row["nearest_round"] = row["round"]
    # Shares of equal counts may differ in their last bits.
    if distance.min() <= (0.0 if equal == "round" else tolerance + ROUNDING):
        return row
    return {**row, **dict.fromkeys(["round", "mean", "low", "high", "seeds", *SPENT], math.nan)}


def _scores(by_seed: Scores, run: str, met: Mapping[str, Mapping[Hashable, Any]]) -> pd.Series:
    """Return the scores by seed of the round that meets a target, none where no round does."""
    return by_seed.get((run, met[run]["round"]), NOTHING) if run in met else NOTHING


# The result in words


def target_words(row: Mapping[Hashable, Any]) -> str:
    """Name a target of a `budget_table`.

    >>> target_words({"target": 0.815, "target_round": 4.0, "equal": "macs"})
    'k = 4: 81.5 % of the dense MACs'
    >>> target_words({"target": 0.5, "target_round": math.nan, "equal": "edges"})
    '50.0 % of undirected edges'
    """
    share = f"{formats.percent(row['target'])} of {KEPT[row['equal']]}"
    return share if math.isnan(row["target_round"]) else f"k = {int(row['target_round'])}: {share}"


def result_words(row: Mapping[Hashable, Any]) -> str:
    """Write the result of one row of a `budget_table` against its reference.

    >>> row = {"verdict": "no round", "equal": "edges", "tolerance": 0.05, "nearest_round": 3, "kept": 0.857}
    >>> result_words(row), result_words({**row, "equal": "round", "target_round": 16.0})
    ('no round within 5 % of the target: the nearest, round 3, keeps 85.7 %', 'no round 16')
    """
    if row["verdict"] != NO_ROUND:
        return comparison_words(row)
    if row["equal"] == "round":
        return f"no round {int(row['target_round'])}"
    within, kept = f"{100 * row['tolerance']:g} %", formats.percent(row["kept"])
    return f"no round within {within} of the target: the nearest, round {int(row['nearest_round'])}, keeps {kept}"


def budget_words(table: pd.DataFrame) -> str:
    """Summarise a `budget_table` in one sentence: how many comparisons came out how, and the test."""
    references = " or ".join(dict.fromkeys(table["reference"]))
    counts = [(int((table["verdict"] == word).sum()), text) for word, text in WORDS.items()]
    found = ", ".join(f"{count} {text}" for count, text in counts if count) or "nothing to compare"
    tested = table[table["p_adjusted"].notna()]
    test = family_words(len(tested), tested["shared_seeds"].astype(int), "comparison")
    return f"At {EQUALS[table['equal'].iloc[0]]}, against {references}: {found}. {formats.opening(test)}."


def met_seeds(table: pd.DataFrame) -> list[int]:
    """Return the number of seeds behind every mean of a `budget_table`; raises ConfigError where no target is met."""
    seeds = [int(count) for count in table["seeds"].dropna()]
    if not seeds:
        raise ConfigError("No run has a round near one of these targets: choose other targets, or allow a larger gap.")
    return seeds


def budget_caption(table: pd.DataFrame) -> str:
    """Say how the targets of a `budget_table` were chosen and met."""
    first = table.iloc[0]
    anchors = " or ".join(dict.fromkeys(table["anchor"]))
    aimed = f"targets: what {anchors} keeps in these rounds" if anchors else "targets: the given shares"
    if first["equal"] == "round":
        return "runs are compared in the same round k"
    return (
        f"{aimed}; each run is shown at its pruned round nearest to the target, at most "
        f"{100 * first['tolerance']:g} % of it away; scores are not interpolated"
    )
