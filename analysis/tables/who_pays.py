"""Who pays for pruning: accuracy by original degree and by class, nodes left without an edge, flipped predictions.

A round is compared with the dense network (round 0) of the same seed, on the test nodes. Differences by group are
paired by seed and tested as in `analysis.statistics`. Within a seed, McNemar's exact test compares how many predictions
turned wrong with how many turned right. Each of the two tables is one family of tests (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.labels import run_labels
from analysis.removal.edges import degrees
from analysis.removal.groups import DEGREE_STEPS, Grouping
from analysis.runs import last_common_round, runs_with_predictions, shared_graph
from analysis.statistics import WORDS, mcnemar, significances
from analysis.subgraphs.panel import class_names
from analysis.tables.curves import mean_and_interval
from glt import formats
from glt.datasets.graph import Graph, IntArray
from glt.errors import StoreError, no_round
from glt.lottery.predictions import can_predict, predictions_of
from glt.masks import BoolArray
from glt.store import Run, SeedRun
from glt.verdicts import Family

RUN_KEYS = ["run", "label", "method", "color", "round"]
GROUP_KEYS = [*RUN_KEYS, "grouping", "group", "name"]
ALL, DEGREE, CLASS, LEFT, GAP = "all", "degree", "class", "left", "gap"
LEFT_NAMES = ("No edge left", "Some edge left")
GAP_NAME = "Highest minus lowest degrees"
# A bin of degrees has at least this share of the test nodes.
FEWEST_OF_BIN = 0.05


class WhoPays(NamedTuple):
    """The groups of every run (`groups_table`), and the flips of every seed (`flips_table`)."""

    groups: pd.DataFrame
    flips: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which test nodes [n] the dense network and a round classify rightly, and the edges that these nodes have left."""

    dense: BoolArray
    pruned: BoolArray
    left: IntArray

    @classmethod
    def of(cls, seed_run: SeedRun, round: int, graph: Graph) -> Outcomes:
        """Compare a round with round 0; raises as `predictions_of`."""
        nodes = graph.split.test
        dense, pruned = (
            predictions_of(seed_run, number).test.argmax(axis=1) == graph.labels[nodes] for number in (0, round)
        )
        return cls(dense, pruned, degrees(graph, seed_run.edge_mask(round))[nodes])


def who_pays(runs: Sequence[Run], rounds: Sequence[int] = ()) -> WhoPays:
    """Compare rounds (default: the last one that all have) with the dense network of every seed with predictions.

    Raises ConfigError for links or several graphs, StoreError without a pruned round, or without both weights and
    predictions.
    """
    runs = runs_with_predictions(runs)
    graph, labels = shared_graph(runs, "A comparison by degree and class"), run_labels(runs)
    numbers = sorted(set(rounds)) or [last_common_round(runs)]
    if 0 in numbers:
        raise StoreError("Round 0 is the dense network itself: choose a later round, or wait for round 1.")
    groups, flips = [], []
    for run, number in product(runs, numbers):
        about: dict[str, Any] = {"run": run.reference, "label": labels[run.reference], "method": run.config.method}
        about |= {"color": run.annotation.color, "round": number}
        for seed_run in map(run.seed, run.seeds()):
            if can_predict(seed_run, 0) and can_predict(seed_run, number):
                found = Outcomes.of(seed_run, number, graph)
                groups += [{**about, "seed": seed_run.seed, **row} for row in group_rows(graph, found)]
                flips.append({**about, "seed": seed_run.seed, **flip_counts(found)})
    if not flips:
        last = max(run.seed(seed).whole_rounds() for run in runs for seed in run.seeds()) - 1
        if max(numbers) > last:
            raise StoreError(no_round(max(numbers), "these runs", last))
        # Reading raises the error that says what is missing.
        predictions_of(runs[0].existing_seed(), numbers[0])
    return WhoPays(groups_table(pd.DataFrame(groups)), flips_table(pd.DataFrame(flips)))


# Groups of nodes


def degree_bins(degree: IntArray) -> Grouping:
    """Bin test nodes [n] by original degree: 0, 1, 2, 3, 4 to 5, 6 to 10 and so on, small bins joined with the next.

    Every bin has at least 5 % of the nodes.

    >>> degree_bins(np.array([1, 1, 2, 2, 3, 8, 9])).names
    ('1', '2', '3', '4 or more')
    """
    starts = (0, *DEGREE_STEPS)
    counts = np.bincount(np.searchsorted(starts, degree, side="right") - 1, minlength=len(starts))
    # Fewest members, rounded up.
    least, lows, held = max(1, -int(-FEWEST_OF_BIN * degree.size // 1)), list[int](), 0
    for start, count in zip(starts, counts.tolist(), strict=True):
        if not lows or held >= least:
            lows, held = [*lows, start], 0
        held += count
    if held < least and len(lows) > 1:
        lows.pop()
    if len(lows) > 1 and not (degree < 1).any():
        lows[0] = max(lows[0], 1)
    names = [_span(low, high - 1) for low, high in pairwise(lows)]
    names.append(f"{lows[-1]} or more" if lows[-1] else "any")
    return Grouping(DEGREE, "Original degree", np.searchsorted(lows, degree, side="right") - 1, tuple(names))


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def groupings(graph: Graph, left: IntArray) -> list[Grouping]:
    """Return the groupings of test nodes [n], of which `left` edges remain: all, degree, class, edges left."""
    nodes = graph.split.test
    degree = degrees(graph)[nodes]
    lost = np.where(degree == 0, -1, np.where(left == 0, 0, 1))
    return [
        Grouping(ALL, "All", np.zeros(nodes.size, dtype=np.int64), ("All test nodes",)),
        degree_bins(degree),
        Grouping(CLASS, "Class", graph.labels[nodes], class_names(graph)),
        Grouping(LEFT, "Edges left", lost, LEFT_NAMES),
    ]


def group_rows(graph: Graph, found: Outcomes) -> Iterator[dict[str, Any]]:
    """Yield size and accuracies of each group that has test nodes, and the gap between the extreme bins of degrees."""
    for grouping in groupings(graph, found.left):
        sizes = grouping.sizes
        right = [grouping.count(side) for side in (found.dense, found.pruned)]
        there = np.flatnonzero(sizes).tolist()
        rows = [
            {
                "grouping": grouping.name,
                "group": group,
                "name": grouping.names[group],
                "size": int(sizes[group]),
                "dense": right[0][group] / sizes[group],
                "accuracy": right[1][group] / sizes[group],
            }
            for group in there
        ]
        yield from rows
        if grouping.name == DEGREE and len(rows) > 1:
            gap = {name: rows[-1][name] - rows[0][name] for name in ("dense", "accuracy")}
            size = rows[0]["size"] + rows[-1]["size"]
            yield {"grouping": GAP, "group": 0, "name": GAP_NAME, "size": size, **gap}


def groups_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run and group over the seeds of `group_rows`.

    Columns: run, label, method, color, round, `grouping` (all, degree, class, left, gap), group, name, `size` (mean
    number of test nodes), `seeds` that have such nodes, mean `dense` and `accuracy` (of the round; a fraction, for the
    gap a difference), `accuracy_low` and `accuracy_high`, paired `difference` (round minus dense) with `low` and `high`
    (95% t intervals, NaN below three seeds), two-sided `p`, `p_adjusted` (Holm over all rows that have a test, `family`
    of them) and `verdict` (higher, lower, none, no test).
    """
    rows = rows.assign(difference=rows["accuracy"] - rows["dense"])
    groups = rows.groupby(GROUP_KEYS, sort=False)
    accuracy, difference = (mean_and_interval(groups[name]) for name in ("accuracy", "difference"))
    tests = significances([part.to_numpy() for _, part in groups["difference"]])
    return pd.DataFrame(
        {
            "size": groups["size"].mean(),
            "seeds": groups.size(),
            "dense": groups["dense"].mean(),
            "accuracy": accuracy["mean"],
            "accuracy_low": accuracy["low"],
            "accuracy_high": accuracy["high"],
            "difference": difference["mean"],
            "low": difference["low"],
            "high": difference["high"],
            "p": [test.p for test in tests],
            "p_adjusted": [test.p_adjusted for test in tests],
            "family": [test.family for test in tests],
            "verdict": [test.word for test in tests],
        }
    ).reset_index()


# Flips


def flip_counts(found: Outcomes) -> dict[str, int]:
    """Return the numbers of test nodes by outcome: both right, right to wrong, wrong to right, and all."""
    dense, pruned = found.dense, found.pruned
    return {
        "nodes": dense.size,
        "right_in_both": int((dense & pruned).sum()),
        "right_to_wrong": int((dense & ~pruned).sum()),
        "wrong_to_right": int((~dense & pruned).sum()),
    }


def flips_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the `flip_counts` of every run and seed with McNemar's exact test.

    Adds two-sided `p`, `p_adjusted` (Holm over all rows, `family` of them) and `verdict`: higher (more turned right
    than wrong), lower, or none.
    """
    p = [mcnemar(*flips) for flips in zip(rows["right_to_wrong"], rows["wrong_to_right"], strict=True)]
    family = Family(p)
    net = rows["wrong_to_right"] - rows["right_to_wrong"]
    word = np.where(~family.shown, "none", np.where(net > 0, "higher", "lower"))
    return rows.assign(p=p, p_adjusted=family.adjusted, family=family.size, verdict=word)


def flips_summary(flips: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run of a `flips_table`: means over seeds with intervals, and how many seeds a test decides.

    Columns: run, label, method, color, round, seeds, nodes, `right_to_wrong`, `wrong_to_right` and `net` (right minus
    wrong turns), each with `..._low` and `..._high` (95% t interval, NaN below three seeds), `lower` and `higher`
    (numbers of seeds with a significant loss or gain at 5 %, Holm), family.
    """
    flips = flips.assign(net=flips["wrong_to_right"] - flips["right_to_wrong"])
    groups = flips.groupby(RUN_KEYS, sort=False)
    columns: dict[str, Any] = {"seeds": groups.size(), "nodes": groups["nodes"].first()}
    for name in ("right_to_wrong", "wrong_to_right", "net"):
        found = mean_and_interval(groups[name])
        columns |= {name: found["mean"], f"{name}_low": found["low"], f"{name}_high": found["high"]}
    for word in ("lower", "higher"):
        columns[word] = (flips["verdict"] == word).groupby([flips[key] for key in RUN_KEYS], sort=False).sum()
    return pd.DataFrame({**columns, "family": groups["family"].first()}).reset_index()


def flip_words(summary: pd.DataFrame) -> list[str]:
    """Return a sentence per run of a `flips_summary`: predictions that turn, and seeds with a significant change."""
    return [_flip_words(row) for row in summary.to_dict("records")]


def _flip_words(row: Mapping[Any, Any]) -> str:
    wrong, right = (formats.figures(row[name], 3) for name in ("right_to_wrong", "wrong_to_right"))
    mean = f" (means of {row['seeds']} seeds)" if row["seeds"] > 1 else ""
    turned = f"of {formats.count(row['nodes'])} test predictions {wrong} turn wrong and {right} turn right{mean}"
    lost, gained = int(row["lower"]), int(row["higher"])
    words = [f"the loss is significant in {lost} of {formats.number_of(row['seeds'], 'seed')}"]
    words += [f"the gain in {gained}"] if gained else []
    return (
        f"{row['label']}, round {row['round']}: {turned}; {', '.join(words)} (McNemar's exact test, Holm over "
        f"{row['family']})."
    )


def gap_words(groups: pd.DataFrame) -> list[str]:
    """Return a sentence per run of a `groups_table` on the gap between degrees, and one on nodes without edges."""
    found = []
    for row in groups[groups["grouping"] == GAP].to_dict("records"):
        change = formats.points_interval(row["difference"], row["high"] - row["difference"])
        found.append(
            f"{row['label']}, round {row['round']}: the gap between the highest and the lowest degrees changes from "
            f"{formats.points(row['dense'])} to {formats.points(row['accuracy'])} ({change}, {WORDS[row['verdict']]})."
        )
    alone = groups[(groups["grouping"] == LEFT) & (groups["group"] == 0)]
    return found + [
        f"{row['label']}, round {row['round']}: on {formats.figures(row['size'], 3)} test nodes left without an edge "
        f"accuracy goes from {formats.percent(row['dense'])} to {formats.percent(row['accuracy'])} "
        f"({WORDS[row['verdict']]})."
        for row in alone.to_dict("records")
    ]
