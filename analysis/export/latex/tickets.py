"""The sparsest ticket of every run, or its closest round, as a LaTeX table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.export.latex.writing import booktabs, number
from analysis.export.letters import escape
from analysis.labels import dataset_label, model_label, task_label
from analysis.tables.captions import MAC_WORDS, averaged_over, data_words, metric_words, score_words
from analysis.tables.curves import Score
from glt import formats
from glt.store import MacConvention
from glt.verdicts import DELTA, rule_words

HEADERS = (
    "Run",
    "Round",
    "Graph sp.",
    "Weight sp.",
    "Edges kept",
    "{metric}",
    "Against dense",
    "Verdict",
    "MACs (% dense)",
)


def tickets_latex(
    table: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    label: str = "tab:tickets",
) -> str:
    """Return a `tickets_table` made with these choices as LaTeX; best score and graph sparsity of tickets bold."""
    tickets = table[table["is_ticket"]]
    best = {name: tickets[name].max() for name in ("mean", "graph_sparsity")}
    rows = [_row(row, best) for row in table.to_dict("records")]
    metric = metric_words(table)
    headers = [header.replace("{metric}", metric[:1].upper() + metric[1:]) for header in HEADERS]
    return booktabs(headers, rows, caption=_caption(table, score, macs, margin), label=label)


def _row(row: Mapping[str, Any], best: Mapping[str, float]) -> list[str]:
    is_best = {name: row["is_ticket"] and row[name] == value for name, value in best.items()}
    return [
        row["label"],
        f"{row['round']}" + ("" if row["is_ticket"] else r"$^\dagger$"),
        number(100 * row["graph_sparsity"], bold=is_best["graph_sparsity"]),
        number(100 * row["weight_sparsity"]),
        " / ".join(formats.fixed(100 * row[f"edges_kept_{ways}"], 1) for ways in ("either_way", "both_ways")),
        number(100 * row["mean"], 100 * (row["high"] - row["mean"]), bold=is_best["mean"]),
        number(100 * row["difference"], 100 * (row["difference_high"] - row["difference"])),
        escape(row["verdict"]),
        _macs(row),
    ]


def _macs(row: Mapping[str, Any]) -> str:
    counted, share = escape(formats.macs(row["macs"])), 1 - row["macs_removed"]
    return counted if math.isnan(share) else f"{counted} ({formats.fixed(100 * share, 1)})"


def _caption(table: pd.DataFrame, score: Score, macs: MacConvention, margin: float) -> str:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates().itertuples(index=False)
    where = "; ".join(f"{dataset_label(d)} {model_label(m)}, {task_label(t, o)}" for d, t, o, m in settings)
    parts = [
        f"Sparsest round of every run that is shown to be a graph lottery ticket ({escape(where)}): {_seeds(table)}",
        score_words(table, score),
        f"a ticket is {escape(rule_words(margin, int(table['family'].max()))).replace('paired t', 'paired $t$')}",
        r"sparsities, kept edges, scores and MACs of dense in \%",
        "bold: highest mean and graph sparsity of the tickets (not tested)",
        "difference in points against the dense model of the same seeds",
        "edges kept are undirected ones, in either / in both directions",
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if mixed := data_words(table):
        parts.append(escape(mixed))
    if not table["is_ticket"].all():
        parts.append(r"$\dagger$: no round is shown to be a ticket; this one is closest by validation score")
    return "; ".join(parts) + "."


def _seeds(table: pd.DataFrame) -> str:
    return averaged_over(map(int, table["seeds"])).replace("95% t", r"95\% $t$")
