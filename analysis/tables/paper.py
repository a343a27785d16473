"""Our rounds beside the paper's printed points, matched by round."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd

from analysis import published

# Round k means the paper's sparsity only at the paper's rates; whole entries stay this close to 1 - 0.95^k.
SAME_RATES = 0.005


def paper_table(curve: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve` that the paper prints too, with paper, paper_macs, gap (ours minus theirs) and source.

    Rows of runs at other pruning rates than the paper's are left out: their round k is another sparsity.
    """
    printed = pd.DataFrame([asdict(point) for point in published.POINTS])
    printed = printed.drop(columns="weight_sparsity")
    printed = printed.rename(columns={"graph_sparsity": "printed", "score": "paper", "macs": "paper_macs"})
    joined = curve.merge(printed, on=["dataset", "task", "model", "method", "round"], how="inner")
    same = (joined["graph_sparsity"] - joined["printed"]).abs() <= SAME_RATES
    kept = joined[same].drop(columns="printed").reset_index(drop=True)
    return kept.assign(gap=kept["mean"] - kept["paper"])
