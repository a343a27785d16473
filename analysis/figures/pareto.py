"""All rounds of all runs as points, and the Pareto front over them: the best score to be had at each cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis import palette
from analysis.drawing.description import EVEN, STAR, Description, Grid, Key, Layer, Line, Marks, Panel, Ranges
from analysis.figures.base import FIGURES, Figure, FigureChoices, rounds_caption
from analysis.figures.curves import Curves, Window, baselines, points, round_text, score_window, ticket_key, x_values
from analysis.palette import MOST_POINTS
from analysis.runs import must_have_rows
from analysis.tables.curves import FRONT_KEYS, Score, XAxis, curve_table, with_front
from analysis.tables.rounds import rounds_table
from glt import formats
from glt.store import MacConvention, Run

HEIGHT = 440
QUIET = 0.35
FRONT = "Pareto front"
FRONT_WORDS = (
    "Full points and the stepped line: the Pareto front, which no other mean dominates. It is a statement about means: "
    "nothing is tested. Strokes: 95% intervals."
)
# A ticket file that is none of the store's: its name, its mark, and where its numbers are.
GUEST, GUEST_SIZE = "Ticket file", 19.0
AT: Mapping[XAxis, str] = {
    "graph": "graph_sparsity",
    "weight": "weight_sparsity",
    "edges": "edges_kept_either_way",
    "macs": "macs.dense_features",
}
Guest = tuple[Mapping[str, Any], float]
_GUEST_KEY = Key(label=GUEST, ink="text", shape="circle", size=GUEST_SIZE, filled=False)


def pareto_front(
    table: pd.DataFrame,
    rounds: pd.DataFrame,
    *,
    x: XAxis = "macs",
    score: Score = "test",
    macs: MacConvention = "dense_features",
    guest: Guest | None = None,
) -> Description:
    """Describe a `curve_table` with the column on_front (`with_front`), made with the same x, score and macs.

    A point a round with its 95% interval: full on the front, faint where another mean is as high at no more cost; stars
    on tickets. The front is that of the means, whatever their intervals. A `guest`
    is a ticket file, drawn as a ring: its numbers by name (see AT) and its test score, a fraction. A point's key is
    [run, round]. Raises ConfigError for runs of several tasks.
    """
    curves = Curves(table, rounds, x, score, macs, score_window(table), most=MOST_POINTS, sized=False)
    panel, keys = _panel(curves), _keys(curves)
    if guest is not None:
        panel, keys = _with_guest(curves, panel, guest), [*keys, _GUEST_KEY]
    return Description(panels=[panel], keys=keys, height=HEIGHT)


def pareto(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the rounds of runs and their fronts; raises StoreError without rounds, ConfigError for several tasks."""
    rounds = must_have_rows(rounds_table(runs))
    several = [_curves(rounds, x, choices) for x in choices.axes]
    return Description(
        panels=[_panel(curves) for curves in several],
        keys=_keys(several[0]),
        points=pd.concat([curves.table.assign(axis=curves.x) for curves in several], ignore_index=True),
        caption=f"{FRONT_WORDS} {rounds_caption(rounds, choices)}",
        grid=Grid(across=len(several), same_y=True),
        height=HEIGHT,
    )


def _curves(rounds: pd.DataFrame, x: XAxis, choices: FigureChoices) -> Curves:
    table = with_front(curve_table(rounds, choices.score, x, choices.macs, choices.margin), x)
    shown = score_window(table, near=choices.near)
    return Curves(table, rounds, x, choices.score, choices.macs, shown, most=MOST_POINTS, sized=False)


def _panel(curves: Curves) -> Panel:
    layers: list[Layer] = [*_intervals(curves), *_fronts(curves), *_points(curves)]
    return Panel(x=curves.x_axis(), y=curves.y_axis(), layers=layers, rules=baselines(curves))


def _fronts(curves: Curves) -> Iterator[Layer]:
    for _, curve in curves.table.groupby(FRONT_KEYS, sort=False):
        front = curve[curve["on_front"]].sort_values(["x", "mean"], ascending=[curves.x == "macs", True])
        where = {"x": curves.place(front["x"]), "y": 100 * front["mean"].to_numpy()}
        # From one cost to the next, the score to be had is still the cheaper round's.
        yield Line(**where, ink="text", width=1.4, step="hv", name=FRONT, group=FRONT)


def _intervals(curves: Curves) -> Iterator[Layer]:
    for run, look, rows in curves.runs:
        known = rows.dropna(subset=["low", "high"])
        for shown, opacity in ((known[known["on_front"]], 0.7), (known[~known["on_front"]], QUIET / 2)):
            ends = {"low": 100 * shown["low"].to_numpy(), "high": 100 * shown["high"].to_numpy()}
            if len(shown):
                yield Ranges(at=curves.place(shown["x"]), **ends, ink=look, opacity=opacity, group=run)


def _points(curves: Curves) -> Iterator[Layer]:
    for _, look, rows in curves.runs:
        dense = rows["round"] == 0
        for chosen, ink, shape, size in (
            (dense & ~rows["is_ticket"], palette.style(palette.DENSE), "circle", EVEN),
            (~dense & ~rows["is_ticket"], look, look.symbol, EVEN),
            (rows["is_ticket"], look, palette.TICKET_SYMBOL, STAR),
        ):
            mine = rows[chosen]
            seen: dict[str, Any] = {"opacity": np.where(mine["on_front"], 1.0, QUIET)}
            sizes = np.where(mine["on_front"] | mine["is_ticket"], size, 0.8 * size)
            yield from points(
                curves, mine, ink, shape, sizes, hover=[_text(row) for row in mine.to_dict("records")], **seen
            )


def _text(row: Mapping[Hashable, Any]) -> str:
    place = "On the Pareto front" if row["on_front"] else "Another mean is higher at no more cost"
    return f"{round_text({str(name): value for name, value in row.items()})}<br>{place}"


def _keys(curves: Curves) -> list[Key]:
    front = Key(label=FRONT, ink="text", dash="solid", width=1.4, group=FRONT, about="marks")
    return [*curves.looks.keys(lines=False), *ticket_key(curves), front]


def _with_guest(curves: Curves, panel: Panel, guest: Guest) -> Panel:
    stated, score = guest
    value = stated[AT[curves.x]]
    place, height = x_values(curves.x, [1 - value if curves.x == "edges" else value]), 100 * score
    shares = f"{formats.percent(stated[AT['graph']])} graph, {formats.percent(stated[AT['weight']])} weight sparsity"
    told = f"<b>{GUEST}</b><br><b>{formats.percent(score)}</b><br>{shares}<br>{formats.macs(stated[AT['macs']])} MACs"
    look: dict[str, Any] = {"shape": "circle", "size": GUEST_SIZE, "filled": False, "rim": 2.5, "ink": "text"}
    ring = Marks(x=place, y=[height], name=GUEST, hover=[told], **look)
    low, high = curves.shown
    curves.shown = Window(min(low, height - 1), max(high, height + 1))
    layers = [*panel.layers, ring]
    return replace(panel, x=curves.x_axis(place.tolist()), y=curves.y_axis(), layers=layers)


FIGURES.register(
    Figure("pareto", "Pareto front of score and cost", "curves", pareto, frozenset({"axis", "score", "near"}))
)
