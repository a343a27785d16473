"""Calibration over rounds: expected calibration error, Brier score and log-likelihood, with and without temperature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.drawing.description import Axis, Band, Description, Grid, Key, Layer, Line, Panel
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks
from analysis.labels import dataset_label
from analysis.palette import escape
from analysis.statistics import seeds_words
from analysis.tables.calibration import BINS, LABELS, SCALED, calibration_rows, calibration_table
from analysis.tables.captions import averaged_over
from glt import formats
from glt.lottery.predictions import NO_PREDICTIONS, without_predictions
from glt.store import Run

WIDTH, THIN = 2.2, 1.6


def calibration_curves(table: pd.DataFrame) -> Description:
    """Describe a `calibration_table`: a panel a measure; dotted at the fitted temperature."""
    looks = RunLooks(table)
    panels = [
        Panel(
            x=Axis(title="Round", margin=0.04),
            y=Axis(title=LABELS[str(name)], grid=True, from_zero=True),
            layers=list(_layers(rows, looks)),
        )
        for name, rows in table.groupby("measure", sort=False)
    ]
    scaled = Key(label=SCALED, dash="dot", width=THIN, about="marks")
    grid = Grid(across=len(panels), each_named=True)
    return Description(panels=panels, keys=[*looks.keys(), scaled], points=table, grid=grid, height=420, lettered=False)


def described(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe all rounds of every run; raises StoreError, ConfigError as `calibration_rows`."""
    table = calibration_table(calibration_rows(runs))
    told = (
        f"{dataset_label(runs[0].config.dataset)}: calibration on the test nodes in rounds 0 to "
        f"{table['round'].max()}, {averaged_over(table['seeds'])}; lower is better. Expected calibration error over "
        f"{BINS} bins of equal width, multi-class Brier score (0 to 2), negative log-likelihood in nats. Dotted: at "
        "the temperature with the lowest negative log-likelihood of the validation nodes, fitted for each seed and "
        "round."
    )
    return replace(calibration_curves(table), caption=told)


def _layers(rows: pd.DataFrame, looks: RunLooks) -> Iterator[Layer]:
    lines = list(rows.groupby(["run", "temperature"], sort=False))
    for (run, _), part in lines if not looks.crowd else ():
        look = looks.style(run, part["method"].iloc[0])
        places, ends = part["round"].to_numpy(), {"low": part["low"].to_numpy(), "high": part["high"].to_numpy()}
        yield Band(x=places, **ends, ink=look, opacity=0.12, group=str(run))
    for (run, temperature), part in lines:
        first, is_scaled = part.iloc[0], temperature == SCALED
        look = looks.style(run, first["method"])
        yield Line(
            x=part["round"].to_numpy(),
            y=part["mean"].to_numpy(),
            ink=look,
            dash="dot" if is_scaled else looks.dash(run),
            width=THIN if is_scaled else WIDTH,
            shape="" if is_scaled else look.symbol,
            name=first["label"],
            group=str(run),
            hover=[_text(row) for row in part.to_dict("records")],
        )


def _text(row: Mapping[Any, Any]) -> str:
    half = row["high"] - row["mean"]
    interval = "" if pd.isna(half) else f" \N{PLUS-MINUS SIGN} {formats.fixed(half, 3)}"
    return (
        f"<b>{escape(row['label'])}</b>, round {row['round']}, {row['temperature']}<br>"
        f"{LABELS[row['measure']]} <b>{formats.fixed(row['mean'], 3)}</b>{interval} ({seeds_words(int(row['seeds']))})"
    )


FIGURES.register(
    Figure(
        "calibration",
        "Calibration over rounds",
        "curves",
        described,
        frozenset(),
        without_predictions,
        NO_PREDICTIONS,
        slow=True,
    )
)
