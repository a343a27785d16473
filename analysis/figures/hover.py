"""What a mark says when the pointer rests on it: every number of the round, escaped for HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from analysis import published
from analysis.statistics import seeds_words
from analysis.style import palette
from analysis.style.theme import escape
from glt import formats
from glt.methods.admm import EDGES_CHANGED


def round_text(row: Mapping[str, Any]) -> str:
    """Return the hover text of one row of `curve_table`, with what `with_diagnoses` adds where it did."""
    lines = [
        f"<b>{escape(row['label'])}</b>, round {row['round']}{_rank(row)}",
        f"<b>{formats.percent_interval(row['mean'], row['high'] - row['mean'])}</b> {_seeds(row)}",
        *_against_dense(row),
        *_verdict(row),
        _sparsities(row["graph_sparsity"], row["weight_sparsity"]),
        f"Undirected edges kept: {formats.percent(row['edges_kept_either_way'])} either way, "
        f"{formats.percent(row['edges_kept_both_ways'])} both ways",
        f"{formats.macs(row['macs'])} MACs",
        *_off_start(row),
        *_cuts(row),
        *_collapse(row),
    ]
    return "<br>".join(lines)


def paper_text(point: published.PublishedPoint) -> str:
    """Return the hover text of one printed point, with its place in the paper."""
    lines = [
        f"<b>{escape(palette.label(point.method))}</b> in the paper, round {point.round}",
        f"<b>{formats.percent(point.score)}</b>",
        _sparsities(point.graph_sparsity, point.weight_sparsity),
        *([f"{formats.macs(point.macs)} MACs"] if point.macs else []),
        escape(point.source),
    ]
    return "<br>".join(lines)


def _sparsities(graph: float, weight: float) -> str:
    return f"Graph sparsity {formats.percent(graph)}, weight sparsity {formats.percent(weight)}"


def _rank(row: Mapping[str, Any]) -> str:
    if row["is_extreme"]:
        return " \N{EM DASH} sparsest ticket"
    return f" \N{EM DASH} {row['verdict']}" if row["verdict"] else ""


def _seeds(row: Mapping[str, Any]) -> str:
    return f"({seeds_words(int(row['seeds']))})"


def _off_start(row: Mapping[str, Any]) -> list[str]:
    changed = float(row.get(EDGES_CHANGED, math.nan))
    return [] if math.isnan(changed) else [f"Kept edges that differ from the solver's start: {formats.count(changed)}"]


def _cuts(row: Mapping[str, Any]) -> list[str]:
    share = float(row.get("cuts_without_gradient", math.nan))
    return [] if math.isnan(share) else [f"Edge entries removed without a gradient: {formats.percent(share)}"]


def _collapse(row: Mapping[str, Any]) -> list[str]:
    """Say from which epoch the search was at chance, and in how many seeds masks were read after that."""
    seeds = float(row.get("seeds_at_chance", math.nan))
    if math.isnan(seeds) or not seeds:
        return []
    late = int(row["seeds_read_late"])
    read = f"masks read after that in {late} of them" if late else "masks read before that"
    epoch = int(row["search_at_chance"])
    return [f"Search at chance by epoch {epoch} ({formats.number_of(int(seeds), 'seed')}); {read}"]


def _against_dense(row: Mapping[str, Any]) -> list[str]:
    if row["round"] == 0 or math.isnan(row["difference"]):
        return []
    difference = formats.points_interval(row["difference"], row["difference_high"] - row["difference"])
    return [f"{difference} against dense {formats.percent(row['dense'])}"]


def _verdict(row: Mapping[str, Any]) -> list[str]:
    if not row["verdict"]:
        return []
    if math.isnan(row["p_adjusted"]):
        return [row["verdict_short"]]
    tested = f"{formats.p_value(row['p_adjusted'])}, Holm over {formats.number_of(int(row['family']), 'round')}"
    return [f"{row['verdict_short']} ({tested})"]


def epoch_texts(stage: str, epochs: Iterable[int], name: str, values: Iterable[float]) -> list[str]:
    """Return the hover texts of epochs of a training stage: a loss, or a score in percent."""
    unit = "" if name == "Loss" else " %"
    return [
        f"{escape(stage)}, epoch {epoch}<br>{escape(name)} {formats.figures(value, 3)}{unit}"
        for epoch, value in zip(epochs, values, strict=True)
    ]
