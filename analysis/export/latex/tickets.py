"""The extreme ticket of every run as a LaTeX table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis import names
from analysis.export.latex.writing import booktabs, number
from analysis.export.letters import escape
from analysis.tables.caption import MAC_WORDS, allowance, averaged_over
from analysis.tables.curve import Score
from analysis.tables.data import data_words
from analysis.tables.scores import metric_words, score_words
from glt import formats
from glt.store import MacConvention

HEADERS = (
    "Run",
    "Round",
    "Graph sp.",
    "Weight sp.",
    "Edges kept",
    "{metric}",
    "Against dense",
    "MACs",
    "Saved",
)


def tickets_latex(
    table: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    tolerance: float = 0.0,
    label: str = "tab:tickets",
) -> str:
    """Return a `tickets_table` made with these choices as LaTeX; best score and graph sparsity of tickets bold."""
    tickets = table[table["is_ticket"]]
    best = {name: tickets[name].max() for name in ("mean", "graph_sparsity")}
    rows = [_row(row, best) for row in table.to_dict("records")]
    metric = metric_words(table)
    headers = [header.replace("{metric}", metric[:1].upper() + metric[1:]) for header in HEADERS]
    return booktabs(headers, rows, caption=_caption(table, score, macs, tolerance), label=label)


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
        escape(formats.macs(row["macs"])),
        number(100 * row["macs_saved"]),
    ]


def _caption(table: pd.DataFrame, score: Score, macs: MacConvention, tolerance: float) -> str:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates().itertuples(index=False)
    where = "; ".join(f"{names.dataset(d)} {names.model(m)}, {names.task(t, o)}" for d, t, o, m in settings)
    parts = [
        f"Sparsest graph lottery ticket of every run ({escape(where)}): {_seeds(table)}",
        score_words(table, score),
        f"a ticket's mean is at least the dense mean{allowance(tolerance)}",
        r"sparsities, kept edges, scores and saved MACs in \%",
        "difference in points against the dense model of the same seeds",
        "edges kept are undirected ones, in either / in both directions",
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if mixed := data_words(table):
        parts.append(escape(mixed))
    if not table["is_ticket"].all():
        parts.append(r"$\dagger$: no round is a ticket, the closest one is shown")
    return "; ".join(parts) + "."


def _seeds(table: pd.DataFrame) -> str:
    return averaged_over(map(int, table["seeds"])).replace("95% t", r"95\% $t$")
