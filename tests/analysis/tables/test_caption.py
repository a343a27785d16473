from __future__ import annotations

from collections.abc import Callable

from analysis.tables import caption, rounds_table
from glt.store import Run


def test_it_says_runs_seeds_rounds_data_score_and_macs(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8, 0.8], [0.8, 0.79], [0.8, 0.8]]), make_scored("random", [[0.8, 0.8], [0.8]])]
    words = caption(rounds_table(runs), "test_last", "sparse_features", margin=0.005, paper=True)
    for part in (
        "Cora node classification with GCN",
        "UGS and Random pruning",
        "after the last epoch",
        "rounds 0 to 1",
        "over 1 to 3 seeds",
        "shown to lose less than 0.5 points against dense",
        "Holm over 1 round)",
        "by its own criterion, mean at least the dense mean",
        "sparse features",
        "paper's printed points",
    ):
        assert part in words
    assert words.count(".") == 2  # the decimal point and the full stop: one sentence


def test_one_seed_says_so(make_scored: Callable[..., Run]) -> None:
    words = caption(rounds_table([make_scored("ugs", [[0.8]])]))
    assert "1 seed, no interval" in words
    assert "no verdicts: they need two seeds or more" in words


def test_nothing_finished() -> None:
    assert caption(rounds_table([])) == "No finished rounds."
