"""What decided the removals of every round: stacked shares of the causes, a panel a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.drawing.description import Axis, Band, Description, Grid, Key, Layer, Line, Marks, Panel
from analysis.figures.base import FIGURES, Figure, FigureChoices
from analysis.palette import escape
from analysis.removal.causes import LABELS, ORDER, cause_table, mean_shares, name_of, style_of
from analysis.removal.edges import CAUSE_WORDS
from analysis.runs import runs_with_rounds
from glt import formats
from glt.errors import StoreError
from glt.store import Run

# Where a reader of the screen may point: shares in percent.
POINTED = np.arange(5, 100, 10)
SEPARATOR, SEED_MARK, KEY_MARK = 1.4, 5.0, 11.0
HEIGHT = 380
# Inches of a panel; percent, with room for a dot at the top.
NARROWEST, LIMITS = 2.2, (0, 103)
TITLE = "Share of removed entries (%)"


def causes(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the causes of the removals of every run; raises StoreError when nothing is removed yet."""
    return describe(cause_table(runs_with_rounds(runs)))


def describe(table: pd.DataFrame) -> Description:
    """Describe a `cause_table`: the mean over seeds, stacked, and single seeds as dots at the borders."""
    if table.empty:
        raise StoreError("No edge entry has been removed yet: wait for round 1, or choose other runs.")
    means = mean_shares(table)
    keys = [
        Key(label=LABELS[name], short=LABELS[name], ink=style_of(name), shape="square", size=KEY_MARK, about="marks")
        for name in _occurring(means)
    ]
    if means["seeds"].max() > 1:
        keys.append(Key(label="One seed", ink="text", shape="circle", size=SEED_MARK, filled=False, about="marks"))
    panels = [_panel(rows, table[table["run"] == run]) for run, rows in means.groupby("run", sort=False)]
    return Description(
        panels=panels,
        keys=keys,
        points=means,
        caption=caption_of(means),
        grid=Grid(narrowest=NARROWEST, ratio=0.72),
        height=HEIGHT,
    )


def _occurring(means: pd.DataFrame) -> list[str]:
    """Return the causes that removed an entry, in the order they are stacked."""
    return [name for name in map(name_of, ORDER) if (means.loc[means["cause"] == name, "mean"] > 0).any()]


def _panel(means: pd.DataFrame, seeds: pd.DataFrame) -> Panel:
    last = int(means["round"].max())
    return Panel(
        x=Axis(title="Round", limits=(0.5, last + 0.5), whole=10),
        y=Axis(title=TITLE, limits=LIMITS, ticks=range(0, 101, 20)),
        layers=[*_stack(means), *_single_seeds(seeds), _hover(means)],
        title=means["label"].iloc[0],
    )


def _stack(means: pd.DataFrame) -> Iterator[Layer]:
    """Yield the area of every cause, a bar a round, and the lines between them."""
    borders = []
    below = np.zeros(2 * means["round"].nunique())
    for cause, rows in means.groupby("cause", sort=False):
        places = np.repeat(rows["round"].to_numpy(dtype=np.float64), 2) + np.tile([-0.5, 0.5], len(rows))
        top = 100 * np.repeat(rows["top"].to_numpy(), 2)
        ink = style_of(str(cause))
        yield Band(x=places, low=below, high=top, ink=ink, name=LABELS[str(cause)], opacity=1.0)
        borders.append(Line(x=places, y=top, ink="ground", width=SEPARATOR))
        below = top
    yield from borders


def _single_seeds(table: pd.DataFrame) -> Iterator[Layer]:
    """Yield a dot for each seed at the upper border of every cause but the last."""
    if table["seed"].nunique() < 2:
        return
    tops = table.groupby(["seed", "round"], sort=False)["share"].cumsum()
    last = table["cause"].iloc[-1]
    inner = (table["cause"] != last).to_numpy()
    shown = table[inner]
    places = {"x": shown["round"].to_numpy(dtype=np.float64), "y": 100 * tops[inner].to_numpy()}
    # A light rim stands out from dark areas; on paper open marks have one.
    yield Marks(**places, ink="ground", size=SEED_MARK + 3, rim=0.0, on="screen")
    yield Marks(**places, ink="text", size=SEED_MARK, filled=np.zeros(len(shown), dtype=np.bool_), rim=1.0)


def _hover(means: pd.DataFrame) -> Layer:
    """Return unseen points all over the panel that tell the shares of their round."""
    rounds = means["round"].unique()
    texts = [_text(means[means["round"] == number].to_dict("records")) for number in rounds]
    return Marks(
        x=np.repeat(rounds.astype(np.float64), POINTED.size),
        y=np.tile(POINTED, rounds.size),
        opacity=0.0,
        hover=[text for text in texts for _ in POINTED],
        on="screen",
    )


def _text(rows: Sequence[Mapping[Any, Any]]) -> str:
    first = rows[0]
    seeds = f", mean of {first['seeds']} seeds" if first["seeds"] > 1 else ""
    lines = [f"<b>{escape(first['label'])}, round {first['round']}</b>"]
    lines += [f"{formats.count(first['removed'])} entries removed{seeds}"]
    for row in rows:
        spread = f" ({formats.percent(row['low'])} to {formats.percent(row['high'])})" if row["seeds"] > 1 else ""
        lines.append(f"{LABELS[row['cause']]}: {formats.percent(row['mean'])}{spread}")
    return "<br>".join(lines)


def caption_of(means: pd.DataFrame) -> str:
    """Say what a figure of `mean_shares` shows, and what its causes mean."""
    occurring = _occurring(means)
    several = " Dots: single seeds." if means["seeds"].max() > 1 else ""
    meanings = {name: words for name, words in CAUSE_WORDS.items() if name in occurring}
    told = " ".join(f"{LABELS[name]}: {words[0].lower()}{words[1:]}" for name, words in meanings.items())
    least, most = means["seeds"].min(), means["seeds"].max()
    seeds = "one seed" if most == 1 else f"mean over {most if least == most else f'{least} to {most}'} seeds"
    return f"Causes of the removals of edge entries, as shares of each round's; {seeds}.{several} {told}".strip()


FIGURES.register(Figure("causes", "Causes of removals by round", "structure", causes, frozenset(), slow=True))
