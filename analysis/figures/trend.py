"""A measure of the graph over the rounds, beside as dense a graph of random edges and the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis import palette
from analysis.drawing.description import Axis, Band, Description, Key, Layer, Line, Panel, Rule
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks
from analysis.labels import dataset_label
from analysis.measures import descriptions as wording
from analysis.measures.tables import trend_table
from analysis.palette import escape
from analysis.runs import runs_with_rounds
from analysis.statistics import seeds_words
from analysis.tables.captions import averaged_over
from glt import formats
from glt.store import Run

TrendAxis = Literal["round", "kept"]
AXES: dict[TrendAxis, str] = {"round": "Round", "kept": "Undirected edges kept (%)"}
NULL = "random, as dense"
WIDTH, THIN = 2.2, 1.6


def trend_curves(table: pd.DataFrame, name: str, x: TrendAxis = "round") -> Description:
    """Describe a `trend_table` of the measure or count `name`; pruning goes right, shares are in percent."""
    looks, scale = RunLooks(table), 100.0 if wording.is_share(name) else 1.0
    runs = list(table.groupby(["run", "kind"], sort=False))
    bands = [] if looks.crowd else [_band(rows, looks, x, scale) for _, rows in runs]
    original = float(table["original"].iloc[0])
    rule = Rule(
        at=scale * original, ink=palette.style(palette.DENSE), name="Original", value=wording.value(name, original)
    )
    panel = Panel(
        x=Axis(title=AXES[x], margin=0.04, flipped=x == "kept"),
        y=Axis(title=wording.label(name) + (" (%)" if scale > 1 else ""), grid=True),
        layers=[*bands, *(_line(rows, looks, x, name) for _, rows in runs)],
        rules=[] if np.isnan(original) else [rule],
        beside=True,
    )
    is_null = (table["kind"] == "null").any()
    null = [Key(label=NULL, dash="dot", width=THIN, about="marks")] if is_null else []
    return Description(panels=[panel], keys=[*looks.keys(), *null], points=table)


def trend(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe one measure of runs on one graph; raises ConfigError for several graphs or an unknown measure."""
    begun = runs_with_rounds(runs)
    table = trend_table(begun, choices.measure, null=choices.null)
    return replace(trend_curves(table, choices.measure, choices.over), caption=_caption(begun, table, choices))


def _places(rows: pd.DataFrame, x: TrendAxis) -> np.ndarray:
    return np.asarray(rows[x]) * (100.0 if x == "kept" else 1)


def _band(rows: pd.DataFrame, looks: RunLooks, x: TrendAxis, scale: float) -> Layer:
    first = rows.iloc[0]
    ends = {
        "low": scale * rows["low"].to_numpy(dtype=np.float64),
        "high": scale * rows["high"].to_numpy(dtype=np.float64),
    }
    opacity = 0.08 if first["kind"] == "null" else 0.16
    look = looks.style(first["run"], first["method"])
    return Band(x=_places(rows, x), **ends, ink=look, opacity=opacity, group=first["run"])


def _line(rows: pd.DataFrame, looks: RunLooks, x: TrendAxis, name: str) -> Layer:
    first, scale = rows.iloc[0], 100.0 if wording.is_share(name) else 1.0
    look, null = looks.style(first["run"], first["method"]), first["kind"] == "null"
    return Line(
        x=_places(rows, x),
        y=scale * rows["mean"].to_numpy(dtype=np.float64),
        ink=look,
        dash="dot" if null else looks.dash(first["run"]),
        width=THIN if null else WIDTH,
        shape="" if null else look.symbol,
        name=first["label"],
        group=first["run"],
        hover=[_text(row, name) for row in rows.to_dict("records")],
    )


def _text(row: Mapping[Any, Any], name: str) -> str:
    null, label = row["kind"] == "null", f"<b>{escape(row['label'])}</b>"
    who = f"As many edges as {label} kept, at random" if null else label
    over = seeds_words(int(row["seeds"]), "draw" if null else "seed")
    return "<br>".join(
        [
            f"{who}, round {row['round']}",
            f"{wording.label(name)} <b>{wording.interval(name, row['mean'], row['high'] - row['mean'])}</b> ({over})",
            f"Undirected edges kept, either way: {wording.value('edges_kept_either_way', row['kept'])}",
        ]
    )


def _caption(runs: Sequence[Run], table: pd.DataFrame, choices: FigureChoices) -> str:
    mine = table[table["kind"] == "run"]
    parts = [
        f"{dataset_label(runs[0].config.dataset)}: {formats.inside(wording.label(choices.measure))} of the graph that "
        f"is left in rounds 0 to {mine['round'].max()}, {averaged_over(mine['seeds'])}",
        "dashed: the original graph",
    ]
    if len(mine) < len(table):
        parts.append("dotted: as many undirected edges as each run kept, drawn at random (five draws or one a seed)")
    return "; ".join(parts) + "."


FIGURES.register(
    Figure("trend", "A measure of the graph over rounds", "structure", trend, frozenset({"measure"}), slow=True)
)
