"""Decisions of the rounds: the scores of the remaining edge entries and the threshold of removal.

`decisions_of` reads the `Decision` of every round of a seed, `score_table` follows an edge, `line_table` the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from glt.datasets import Graph
from glt.masks import BoolArray, EdgeMask
from glt.removal_causes import had_gradient
from glt.store import SeedRun

Scores = NDArray[np.float32]
# Quantiles of the scores in figures: minimum, quartiles and median.
QUANTILES = (0.0, 0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Decision:
    """One round's decision: its masks `before` and `after`, and the scores of the entries that `before` keeps.

    `ranks`: the stored scores are ranks in [0, 1), in 256 steps. `with_gradient` [scores]: whether the training loss
    depended on the entry's mask; None where unknown.
    """

    round: int
    before: EdgeMask
    after: EdgeMask
    scores: Scores
    ranks: bool = False
    with_gradient: BoolArray | None = None

    @property
    def cut(self) -> BoolArray:
        """Whether the entry of each score was removed."""
        return np.asarray(~self.after.keep[self.before.keep])

    @cached_property
    def cuts(self) -> int:
        """The number of removed entries."""
        return self.before.kept - int(np.count_nonzero(self.before.keep & self.after.keep))

    @cached_property
    def quantiles(self) -> tuple[float, ...]:
        """The QUANTILES of all scores."""
        ordered = np.sort(self.scores)
        places = np.array(QUANTILES) * (ordered.size - 1)
        below = places.astype(np.int64)
        low, high = (ordered[np.minimum(place, ordered.size - 1)].astype(np.float64) for place in (below, below + 1))
        return tuple((low + (places - below) * (high - low)).tolist())

    @cached_property
    def line(self) -> tuple[float, float]:
        """The highest removed and the lowest kept score; NaN where there is none."""
        gone = self.cut
        cut, kept = self.scores[gone], self.scores[~gone]
        return float(cut.max()) if cut.size else np.nan, float(kept.min()) if kept.size else np.nan

    @cached_property
    def cuts_without_gradient(self) -> float:
        """The share of removed entries without a gradient; NaN where unknown."""
        if self.with_gradient is None or not self.cuts:
            return np.nan
        return int(np.count_nonzero(self.cut & ~self.with_gradient)) / self.cuts

    @property
    def blurred(self) -> tuple[float, float] | None:
        """The range of stored scores shared by removed and kept entries, None where the threshold is sharp.

        Stored scores have half precision, and ranks have 256 steps, so removed and kept entries may share a value.
        Every score from the lowest kept to the highest removed one counts as equal.
        """
        highest_cut, lowest_kept = self.line
        return (lowest_kept, highest_cut) if lowest_kept <= highest_cut else None

    def standing(self, score: float) -> tuple[int, int]:
        """Return the numbers of entries with a lower and with an equal score (itself included)."""
        low = high = np.float32(score)
        if self.blurred is not None and self.blurred[0] <= score <= self.blurred[1]:
            low, high = np.float32(self.blurred[0]), np.float32(self.blurred[1])
        below = int(np.count_nonzero(self.scores < low))
        return below, int(np.count_nonzero(self.scores <= high)) - below


def decisions_of(seed_run: SeedRun, masks: Sequence[EdgeMask], graph: Graph | None = None) -> list[Decision]:
    """Return the decisions of rounds 1, 2, ... with stored scores; [] for a method without scores.

    `masks` are those of rounds 0, 1, ... of the same seed. `graph`, which carries the messages, adds gradients to the
    decisions. Scores have half precision; those of examples and large graphs are ranks. Raises StoreError when a round
    cannot be read.
    """
    decisions: list[Decision] = []
    for number in range(1, len(masks)):
        scores = seed_run.edge_scores(number)
        if scores is not None and scores.size == masks[number - 1].kept:
            before, ranks = masks[number - 1], seed_run.holds_ranks(number)
            gradient = None if graph is None else had_gradient(seed_run.config, graph, before)
            with_gradient = None if gradient is None else gradient[before.keep]
            decisions.append(Decision(number, before, masks[number], scores, ranks, with_gradient))
    return decisions


def score_table(decisions: Sequence[Decision], edge: int) -> pd.DataFrame:
    """Return the scores of both directions of an edge in every round before their removal.

    Columns: `round`, `way` (0: from the lower node; always 0 for an undirected mask), `score`, `below` and `equal`
    (`Decision.standing`), `entries` (remaining), `rank` (the share that scored lower, plus half of the equal ones),
    `cut`, and `gradient` (whether its mask had one; None where unknown).
    """
    rows = [row for decision in decisions for row in _rows(decision, edge)]
    return pd.DataFrame(rows, columns=["round", "way", "score", "below", "equal", "entries", "rank", "cut", "gradient"])


def _rows(decision: Decision, edge: int) -> list[tuple[int, int, float, int, int, int, float, bool, bool | None]]:
    mask, entries, rows = decision.before, decision.scores.size, []
    for way in range(mask.keep.size // mask.num_edges):
        entry = edge + way * mask.num_edges
        if mask.keep[entry]:
            place, known = int(np.count_nonzero(mask.keep[:entry])), decision.with_gradient
            score, gradient = float(decision.scores[place]), None if known is None else bool(known[place])
            below, equal = decision.standing(score)
            rank, cut = (below + (equal - 1) / 2) / entries, not decision.after.keep[entry]
            rows.append((decision.round, way, score, below, equal, entries, rank, cut, gradient))
    return rows


def line_table(decisions: Sequence[Decision]) -> pd.DataFrame:
    """Return the threshold of every round.

    Columns: `round`, `entries`, `cut` (number), `highest_cut`, `lowest_kept`, quantiles `q0` to `q75` of all scores,
    `blur_low` and `blur_high` (the shares of entries below and up to the scores that are stored as equal; NaN for a
    sharp threshold), and `cuts_without_gradient` (a share of the removed entries; NaN where unknown).
    """
    names = [f"q{100 * share:g}" for share in QUANTILES]
    columns = ["round", "entries", "cut", "highest_cut", "lowest_kept", *names, "blur_low", "blur_high"]
    columns.append("cuts_without_gradient")
    return pd.DataFrame([_line(decision) for decision in decisions], columns=columns)


def _line(decision: Decision) -> list[float]:
    blur = [np.nan, np.nan]
    if decision.blurred is not None:
        below, equal = decision.standing(decision.blurred[0])
        blur = [below / decision.scores.size, (below + equal) / decision.scores.size]
    numbers = [decision.round, decision.scores.size, decision.cuts, *decision.line, *decision.quantiles, *blur]
    return [*numbers, decision.cuts_without_gradient]
