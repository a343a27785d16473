"""Stability of masks: how far two masks agree beyond chance, between seeds of a run and between runs.

Two masks that keep K1 and K2 of E entries share O of them. If each were drawn at random with its own count, O would
follow the hypergeometric law, with mean K1 K2 / E. The chance-corrected overlap is (O - mean) / (min(K1, K2) - mean):
1 where one mask holds the other, 0 on average by chance, and for K1 = K2 equal to Cohen's kappa. z is the distance of O
from its mean in standard deviations of that law. Entries of a mask may depend on each other (a score removes both
directions of an edge together, which widens the law of directed entries), so z of undirected edges is the safer one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.labels import run_labels
from analysis.runs import shared_graph
from analysis.tables.structure import layer_of
from glt import formats
from glt.errors import StoreError
from glt.masks import BoolArray, EdgeMask, Masks
from glt.store import Run

ENTRIES, EDGES, WEIGHTS = "directed entries", "undirected edges", "all weights"
ITEM = ["run", "label", "seed"]
COLUMNS = ["part", "round", *ITEM, *(f"other_{name}" for name in ITEM), "entries", "kept", "other_kept", "shared"]
COLUMNS += ["expected", "jaccard", "chance_jaccard", "corrected", "z"]
SUMMARY_KEYS = ["part", "round", "run", "label", "other_run", "other_label", "same_seed"]


class Overlap(NamedTuple):
    """Two masks of the same `entries`: what each keeps, what they share, and the law of that under independent draws.

    `most` is the largest possible overlap. Counts of several `Overlap`s may be added: see `stratified`.
    """

    entries: int
    one: int
    other: int
    shared: int
    expected: float
    variance: float
    most: int

    @classmethod
    def of(cls, one: BoolArray, other: BoolArray) -> Overlap:
        """Compare two masks of one shape; mean and variance are the hypergeometric law's.

        >>> Overlap.of(np.array([1, 1, 0, 0], dtype=bool), np.array([1, 0, 1, 0], dtype=bool)).corrected
        0.0
        """
        size, first, second = one.size, int(one.sum()), int(other.sum())
        expected = first * second / size if size else 0.0
        spread = (size - first) * (size - second) / (size * (size - 1)) if size > 1 else 0.0
        shared = int(np.count_nonzero(one & other))
        return cls(size, first, second, shared, expected, expected * spread, min(first, second))

    @property
    def jaccard(self) -> float:
        """The shared share of what either keeps; NaN where both keep nothing."""
        either = self.one + self.other - self.shared
        return self.shared / either if either else math.nan

    @property
    def chance_jaccard(self) -> float:
        """The same ratio at the expected overlap; for equal counts K / (2E - K)."""
        either = self.one + self.other - self.expected
        return self.expected / either if either else math.nan

    @property
    def corrected(self) -> float:
        """The overlap beyond chance, as a share of what is possible beyond chance; NaN where nothing is."""
        room = self.most - self.expected
        return (self.shared - self.expected) / room if room > 0 else math.nan

    @property
    def z(self) -> float:
        """Standard deviations of the hypergeometric law between the overlap and its mean; NaN without a spread."""
        return (self.shared - self.expected) / math.sqrt(self.variance) if self.variance > 0 else math.nan


def stratified(parts: Sequence[Overlap]) -> Overlap:
    """Add overlaps of separate groups, such as layers: chance then keeps what each mask has in each group.

    >>> parts = [Overlap.of(np.ones(4, dtype=bool), np.ones(4, dtype=bool)), Overlap.of(*np.eye(2, dtype=bool))]
    >>> stratified(parts).shared, stratified(parts).corrected
    (4, -1.0)
    """
    return Overlap(*(sum(values) for values in zip(*parts, strict=True)))


def overlaps(one: Masks, other: Masks) -> Iterator[tuple[str, Overlap]]:
    """Yield every part of two rounds' masks with its overlap; of weights only where all shapes are equal.

    Parts: ENTRIES (an undirected mask has both entries of each edge), EDGES (kept in either direction), the layers, and
    WEIGHTS (given the counts in each layer).
    """
    yield ENTRIES, Overlap.of(one.edges.directions().ravel(), other.edges.directions().ravel())
    yield EDGES, Overlap.of(one.edges.either_way(), other.edges.either_way())
    first, second = one.weights.keep, other.weights.keep
    if not first or {name: keep.shape for name, keep in first.items()} != {n: keep.shape for n, keep in second.items()}:
        return
    tensors: dict[str, list[str]] = defaultdict(list)
    for name in first:
        tensors[layer_of(name)].append(name)
    layers = {
        layer: Overlap.of(*(np.concatenate([keep[name].ravel() for name in names]) for keep in (first, second)))
        for layer, names in tensors.items()
    }
    yield from layers.items()
    yield WEIGHTS, stratified(list(layers.values()))


def stability_table(runs: Sequence[Run], rounds: Sequence[int]) -> pd.DataFrame:
    """Return one row per part, round and pair of masks: all pairs of seeds of these runs that have finished the round.

    Columns: part (see `overlaps`), round, run, label, seed, other_run, other_label, other_seed, entries, kept,
    other_kept, shared, expected (counts), jaccard, chance_jaccard, corrected, z. Raises ConfigError for runs on
    different graphs, StoreError where no two masks have one of these rounds.
    """
    shared_graph(runs, "A comparison of masks")
    labels = run_labels(runs)
    rows = [row for number in rounds for row in _pairs(runs, labels, number)]
    if not rows:
        listed = " or ".join(map(str, rounds))
        raise StoreError(
            f"No two masks of these runs have finished round {listed}: choose an earlier round or more seeds."
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def _pairs(runs: Sequence[Run], labels: Mapping[str, str], number: int) -> Iterator[tuple[Any, ...]]:
    items = [
        ((run.reference, labels[run.reference], seed), run.seed(seed).masks(number))
        for run in runs
        for seed in run.seeds()
        if run.seed(seed).whole_rounds() > number
    ]
    for (first, one), (second, other) in combinations(items, 2):
        for part, found in overlaps(one, other):
            counts = found.entries, found.one, found.other, found.shared, found.expected
            yield part, number, *first, *second, *counts, found.jaccard, found.chance_jaccard, found.corrected, found.z


def stability_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per part, round, two runs and whether their seeds are equal: means over the pairs of masks.

    Columns: SUMMARY_KEYS, pairs, kept and other_kept (shares), jaccard, chance_jaccard and corrected (means), lowest
    and highest (of `corrected`), lowest_z and highest_z.
    """
    share = table.assign(
        same_seed=table["seed"] == table["other_seed"],
        kept=table["kept"] / table["entries"],
        other_kept=table["other_kept"] / table["entries"],
    )
    groups = share.groupby(SUMMARY_KEYS, sort=False)
    summary = groups[["kept", "other_kept", "jaccard", "chance_jaccard", "corrected"]].mean()
    summary.insert(0, "pairs", groups.size())
    summary[["lowest", "highest"]] = groups["corrected"].agg(["min", "max"])
    summary[["lowest_z", "highest_z"]] = groups["z"].agg(["min", "max"])
    return summary.reset_index()


def stability_words(summary: pd.DataFrame) -> str:
    """Write the overlaps of the first two runs of a `stability_summary`, for edges and weights.

    >>> row = {"part": EDGES, "run": "a", "label": "UGS", "other_run": "a", "other_label": "UGS", "same_seed": False}
    >>> row |= {"round": 4, "pairs": 3, "corrected": 0.6, "lowest": 0.58, "highest": 0.63}
    >>> stability_words(pd.DataFrame([row]))
    'UGS, seeds against each other, round 4: undirected edges overlap by 0.60 (0.58 to 0.63, 3 pairs) beyond chance.'
    """
    first = summary.iloc[0]
    own = summary[(summary[SUMMARY_KEYS[1:]] == first[SUMMARY_KEYS[1:]]).all(axis="columns")]
    parts = [
        f"{row.part} overlap by {formats.fixed(row.corrected, 2)} ({formats.fixed(row.lowest, 2)} to "
        f"{formats.fixed(row.highest, 2)}, {formats.number_of(int(row.pairs), 'pair')})"
        for row in own[own["part"].isin([EDGES, WEIGHTS])].itertuples()
    ]
    same = "same seeds" if first["same_seed"] else "different seeds"
    who = f"{first['label']} against {first['other_label']}, {same}"
    who = f"{first['label']}, seeds against each other" if first["run"] == first["other_run"] else who
    return f"{who}, round {int(first['round'])}: {', '.join(parts)} beyond chance."


# Consensus of seeds on single edges


def consensus_counts(masks: Sequence[EdgeMask]) -> NDArray[np.int64]:
    """Return [E] in how many of these masks each undirected edge is kept, in either direction."""
    return np.asarray(np.sum([mask.either_way() for mask in masks], axis=0, dtype=np.int64))


def consensus_table(masks: Sequence[EdgeMask]) -> pd.DataFrame:
    """Return how many edges are kept in 0, 1, ... all of these masks, beside what independent masks would give.

    Columns: masks, edges, expected. With equal shares kept the expectation is the binomial's; else it is that of
    independent draws with each mask's own share (Poisson binomial).
    """
    law = np.ones(1)
    for mask in masks:
        share = float(mask.either_way().mean()) if mask.num_edges else 0.0
        law = np.convolve(law, [1 - share, share])
    counts = np.bincount(consensus_counts(masks), minlength=len(masks) + 1)
    return pd.DataFrame({"masks": np.arange(counts.size), "edges": counts, "expected": counts.sum() * law})


def consensus_words(table: pd.DataFrame) -> str:
    """Write the ends of a `consensus_table`.

    >>> consensus_words(pd.DataFrame({"masks": [0, 1, 2], "edges": [40, 10, 50], "expected": [25.0, 50.0, 25.0]}))
    'Of 100 edges, 50 are kept with all 2 seeds, 40 with none. Independent masks of these sizes would give 25 and 25.'
    """
    none, every = table.iloc[0], table.iloc[-1]
    return (
        f"Of {formats.count(int(table['edges'].sum()))} edges, {formats.count(int(every['edges']))} are kept with all "
        f"{int(every['masks'])} seeds, {formats.count(int(none['edges']))} with none. Independent masks of these "
        f"sizes would give {formats.count(round(every['expected']))} and {formats.count(round(none['expected']))}."
    )
