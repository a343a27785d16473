"""Losses by class and degree: the share removed of each group, beside random removal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import palette
from analysis.drawing.description import Axis, Description, Grid, Key, Layer, Marks, Panel, Ranges
from analysis.figures.base import FIGURES, Figure, FigureChoices, RunLooks, Use, shown_round
from analysis.labels import dataset_label, run_labels
from analysis.palette import escape
from analysis.removal.edges import no_classes
from analysis.removal.groups import chance_words, loss_table, outside
from analysis.runs import shared_graph
from analysis.subgraphs.panel import class_names, has_classes
from glt import formats
from glt.errors import StoreError
from glt.removal_causes import search_steps
from glt.store import Run

EDGE_GROUPS = {
    "relation": "Classes of both ends",
    "smaller_degree": "Smaller degree of both ends",
    "larger_degree": "Larger degree of both ends",
}
NODE_GROUPS = {"class": "Class"}
TITLES = {**EDGE_GROUPS, "class": "Nodes left without an edge, by class"}
CHANCE, CHANCE_INK = "By chance, middle 95 %", "axis"
# Of the largest share: what holds half a mark beside the axis.
MARGIN = 0.05
# Pixels of the screen: a row, what stands around rows, a mark, half a bar.
SCREEN_ROW, SCREEN_HEAD, SCREEN_FOOT, SIZE, BAR = 31, 74, 60, 11.0, 11.0
# Inches: a row of one run, what each further run adds, title and axis of a part, and its foot.
ROW, MORE, AROUND, FOOT = 0.15, 0.07, 0.24, 0.35


@dataclass(frozen=True, eq=False)
class Losses:
    """`loss_table` of every run that lost edges, with run, label, method and color; the graph's classes."""

    table: pd.DataFrame
    classes: tuple[str, ...]
    caption: str

    @property
    def runs(self) -> list[pd.DataFrame]:
        """The rows of each run."""
        return [rows for _, rows in self.table.groupby("run", sort=False)]


def losses_of(runs: Sequence[Run], choices: FigureChoices) -> Losses:
    """Return who lost edges by the chosen round; raises StoreError when nobody did, ConfigError for several graphs."""
    graph, labels = shared_graph(runs, "A figure of losses"), run_labels(runs)
    parts, told = [], []
    compared: dict[str, list[str]] = {}
    for run in runs:
        seed, number = shown_round(run, choices)
        mask = seed.edge_mask(number)
        if not mask.either_way().all():
            about: dict[str, Any] = {"run": run.reference, "label": labels[run.reference], "method": run.config.method}
            about |= {"color": run.annotation.color, "round": number}
            steps = search_steps(seed, graph, number) if choices.chance == "reach" else []
            parts.append(loss_table(graph, mask, steps=steps).assign(**about))
            told.append(f"{labels[run.reference]}, seed {seed.seed}, round {number}")
            compared.setdefault(chance_words(graph, bool(steps)), []).append(labels[run.reference])
    if not parts:
        raise StoreError("No edge has lost both directions yet. Choose a later round.")
    words = (
        f"{dataset_label(graph.name)}: {'; '.join(told)}. An edge is removed when neither direction is left. "
        f"By chance: {_of_chance(compared)}."
        f"{'' if has_classes(graph) else ' ' + no_classes(graph)}"
    )
    return Losses(pd.concat(parts, ignore_index=True), class_names(graph), words)


def _of_chance(compared: Mapping[str, Sequence[str]]) -> str:
    """Say what the losses are compared with, by the labels of runs where that differs."""
    parts = [(f"the middle 95% of {words}", ", ".join(labels)) for words, labels in compared.items()]
    return "; ".join(words if len(parts) == 1 else f"{words} ({labels})" for words, labels in parts)


def edge_losses(table: pd.DataFrame, method: str, color: str = "") -> Description:
    """Describe the share of edges cut in each group of classes and degrees beside what chance gives.

    `color` is the run's own, a name of `glt.store.COLORS`, in place of its method's.
    """
    return _of_one(table[table["kind"] == "edges"], EDGE_GROUPS, "Edges removed (%)", method, color)


def node_losses(table: pd.DataFrame, method: str, color: str = "") -> Description:
    """Describe the share of nodes of each class that lost their last edge beside what chance gives."""
    return _of_one(table[table["kind"] == "nodes"], NODE_GROUPS, "Nodes left without an edge (%)", method, color)


def _of_one(table: pd.DataFrame, groups: Mapping[str, str], title: str, method: str, color: str) -> Description:
    rows = table.assign(run=method, label=palette.label(method), method=method, color=color)
    return _describe(rows, groups, [title] * len(groups))


def losers(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the groups of every run; raises StoreError when nobody lost an edge, ConfigError for several graphs."""
    losses = losses_of(runs, choices)
    table = losses.table[losses.table["grouping"].isin(list(TITLES))].reset_index(drop=True)
    described = _describe(table, TITLES, ["Edges removed (%)"] * len(EDGE_GROUPS) + ["Nodes (%)"])
    told = f"{losses.caption} Full marks lie outside what chance gives."
    return replace(described, points=table, caption=told)


def _describe(table: pd.DataFrame, groups: Mapping[str, str], titles: Sequence[str]) -> Description:
    by_name = dict(tuple(table.groupby("grouping", sort=False)))
    shown = [
        (by_name[name], group, title)
        for (name, group), title in zip(groups.items(), titles, strict=True)
        if name in by_name
    ]
    # Groups of edges share an axis, which the last of them names.
    alike = {title: [part for part, _, other in shown if other == title] for _, _, title in shown}
    ends = {}
    for title, parts in alike.items():
        # Room for a whole mark at 0 and at the largest share, in percent.
        most = 100 * float(pd.concat(parts)[["share", "null_high"]].max(axis=None)) or 1.0
        ends[title] = -MARGIN * most, (1 + MARGIN) * most
    panels = [
        _panel(part, group if len(shown) > 1 else "", title, ends[title], part is alike[title][-1])
        for part, group, title in shown
    ]
    chance = Key(label=CHANCE, short="By chance", ink=CHANCE_INK, dash="solid", width=8.0, about="marks")
    keys = [*RunLooks(table).keys(lines=False, size=SIZE), chance] if len(panels) > 1 else []
    return stacked(panels, keys, table["run"].nunique())


def stacked(panels: Sequence[Panel], keys: Sequence[Key], runs: int) -> Description:
    """Describe panels of categories below each other, with room for as many `runs` in every row."""
    rows, more = [len(panel.y.categories) for panel in panels], MORE * (runs - 1)
    return Description(
        panels=panels,
        keys=keys,
        grid=Grid(heights=[AROUND + count * (ROW + more) for count in rows], foot=2 * FOOT),
        height=(SCREEN_HEAD if len(panels) > 1 else 24) + SCREEN_FOOT + SCREEN_ROW * sum(rows) + 22 * len(panels),
    )


def lane(rows: pd.DataFrame, groups: Sequence[str], place: int, runs: int) -> NDArray[np.float64]:
    """Return the height of a run's marks in the rows of its groups, beside those of the other runs."""
    at = np.array([groups.index(name) for name in rows["name"]], dtype=np.float64)
    return at + 0.62 * ((place + 0.5) / runs - 0.5)


def _panel(part: pd.DataFrame, words: str, title: str, ends: tuple[float, float], is_last: bool) -> Panel:
    groups = list(dict.fromkeys(part.sort_values("group", kind="stable")["name"]))
    return Panel(
        x=Axis(title=title if is_last else "", limits=ends, grid=True, named=is_last),
        y=Axis(categories=groups),
        layers=list(_layers(part, groups)),
        title=words,
    )


def _layers(part: pd.DataFrame, groups: Sequence[str]) -> Iterator[Layer]:
    looks, marks = RunLooks(part), []
    for place, (run, rows) in enumerate(part.groupby("run", sort=False)):
        at = lane(rows, groups, place, len(looks))
        first = rows.iloc[0]
        ends = {"low": 100 * rows["null_low"].to_numpy(), "high": 100 * rows["null_high"].to_numpy()}
        yield Ranges(at=at, **ends, across=True, width=BAR, ink=CHANCE_INK, name=CHANCE)
        look = looks.style(run, first["method"])
        hover = [_text(each) for each in rows.to_dict("records")]
        filled = outside(rows).to_numpy()
        where = {"x": 100 * rows["share"].to_numpy(), "y": at}
        marks.append(
            Marks(**where, shape=look.symbol, size=SIZE, filled=filled, ink=look, name=first["label"], hover=hover)
        )
    yield from marks


def _text(row: Mapping[Any, Any]) -> str:
    return (
        f"{escape(row['name'])}: {row['lost']:,} of {row['size']:,}, {formats.percent(row['share'])}<br>"
        f"by chance {formats.percent(row['null_low'])} to {formats.percent(row['null_high'])}"
    )


USES: frozenset[Use] = frozenset({"round", "seed", "chance"})
FIGURES.register(Figure("losers", "Losses by class and degree", "structure", losers, USES))
