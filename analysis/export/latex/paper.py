"""Our rounds beside the paper's printed points as a LaTeX table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.export.latex.writing import booktabs, number
from analysis.labels import dataset_label
from analysis.tables.captions import metric_words

HEADERS = ("Run", "Round", "Graph sp. (%)", "Weight sp. (%)", "Ours (%)", "Paper (%)", "Gap")
CAPTION = (
    "Test {metric} beside the values the paper prints, matched by round; "
    r"ours with the half-width of the 95\% $t$ interval over seeds where there are three and more; gap in points."
)


def paper_latex(table: pd.DataFrame, label: str = "tab:paper") -> str:
    """Return `paper_table` as LaTeX."""
    rows = list(map(_row, table.to_dict("records")))
    return booktabs(HEADERS, rows, caption=CAPTION.format(metric=metric_words(table)), label=label)


def _row(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{dataset_label(row['dataset'])} {row['label']}",
        str(row["round"]),
        number(100 * row["graph_sparsity"]),
        number(100 * row["weight_sparsity"]),
        number(100 * row["mean"], 100 * (row["high"] - row["mean"])),
        number(100 * row["paper"]),
        number(100 * row["gap"]),
    ]
