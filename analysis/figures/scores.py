"""The scores of one edge over the rounds, beside those of all entries and the threshold of each cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis import palette
from analysis.drawing.description import (
    Axis,
    Band,
    Dash,
    Description,
    Grid,
    Ink,
    Key,
    Layer,
    Line,
    Marks,
    Panel,
    Ranges,
    Rule,
)
from analysis.figures.base import FIGURES, Figure, FigureChoices, shown_round
from analysis.labels import run_labels
from analysis.palette import escape
from analysis.removal.edges import Way, degrees, no_scores, removal_rounds
from analysis.removal.scores import Decision, decisions_of, line_table, score_table
from analysis.runs import shared_graph
from analysis.subgraphs.panel import node_name
from glt import formats
from glt.datasets import Graph
from glt.errors import ConfigError, StoreError, no_round
from glt.store import Run

HEIGHT = 340
REMOVED = palette.Style("#C2410C", "#FF8A5B", "#C2410C", "x")
CUT, MIDDLE, BLUR = "cut", "middle half of all scores", "tied at the threshold, as stored"
# The two directions: dash and marker, so that no colour is needed.
DASHES: tuple[Dash, Dash] = ("solid", "dash")
SHAPES = ("circle", "square")
SIZE, CROSS = 7.0, 11.0
STRONG, PALE = 0.3, 0.15


@dataclass(frozen=True, eq=False)
class Scored:
    """One run: the threshold of each cut, the scores of the edge in both directions, and if only ranks are known."""

    label: str
    style: palette.Style
    lines: pd.DataFrame
    scores: pd.DataFrame
    ranks: bool


def score_lines(
    decisions: Sequence[Decision],
    edge: int,
    ways: Sequence[Way],
    *,
    ranks: bool,
    shown: int,
    method: str = "ugs",
    color: str = "",
) -> Description:
    """Describe each direction's score (or rank, the share of entries that scored lower) in every round it stood.

    `ways` are the two directions, that from the lower node first. One shaded area is what was cut, the other the middle
    half of all scores or, where only ranks are known, those tied at the threshold as stored. `shown` is the round that
    a page shows. `color` is the run's own, in place of its method's.
    """
    scored = Scored("", palette.painted(method, color), line_table(decisions), score_table(decisions, edge), ranks)
    panel = _panel(scored, ways, [Rule(at=shown, vertical=True, width=1.0)])
    return Description(panels=[panel], keys=_keys(scored, ways), height=HEIGHT)


def scores(runs: Sequence[Run], choices: FigureChoices) -> Description:
    """Describe the scores of one edge in each run; raises StoreError without scores, ConfigError for no edge."""
    graph = shared_graph(runs, "A figure of scores")
    edge = _edge(graph, runs, choices)
    scored = list(_scored(runs, choices, edge, graph))
    if not scored:
        raise StoreError(no_scores(runs[0].config.method))
    one, other = (node_name(graph, node) for node in graph.edges[:, edge].tolist())
    ways = [Way(one, other, 0), Way(other, one, 1)]
    told = f"The edge of nodes {one} and {other}: its score in every round it stood, a cross where it was cut."
    tables = []
    for run in scored:
        joined = run.lines.rename(columns={"cut": "entries_cut"}).drop(columns="entries")
        tables.append(run.scores.merge(joined, on="round", how="right"))
        tables[-1].insert(0, "label", run.label)
    return Description(
        panels=[_panel(run, ways) for run in scored],
        keys=_keys(scored[0], ways),
        points=pd.concat(tables, ignore_index=True),
        caption=f"{told}{_causes(scored, ways)}",
        grid=Grid(each_named=True),
        height=HEIGHT,
    )


def _scored(runs: Sequence[Run], choices: FigureChoices, edge: int, graph: Graph) -> Iterator[Scored]:
    labels = run_labels(runs)
    for run in runs:
        seed, number = shown_round(run, choices)
        last = seed.whole_rounds() - 1
        if number > last:
            raise StoreError(no_round(number, seed.path, last))
        decisions = decisions_of(seed, [seed.edge_mask(each) for each in range(last + 1)], graph)
        if decisions:
            lines, rows = line_table(decisions), score_table(decisions, edge)
            ranks = any(decision.ranks for decision in decisions)
            style = palette.painted(run.config.method, run.annotation.color)
            yield Scored(labels[run.reference], style, lines, rows, ranks)


def _panel(scored: Scored, ways: Sequence[Way], rules: Sequence[Rule] = ()) -> Panel:
    title = "Entries that scored lower (%)" if scored.ranks else "Score"
    return Panel(
        x=Axis(title="Round", whole=12),
        y=Axis(title=title, grid=True),
        layers=[
            *_grounds(scored),
            *(layer for way, words in enumerate(_shown(scored, ways)) for layer in _way(scored, way, words)),
        ],
        rules=rules,
        title=scored.label,
    )


def _shown(scored: Scored, ways: Sequence[Way]) -> Sequence[Way]:
    return ways[: scored.scores["way"].nunique()]


def _grounds(scored: Scored) -> Iterator[Layer]:
    lines, rounds = scored.lines, scored.lines["round"].to_numpy()
    if scored.ranks:
        yield Band(x=rounds, low=100 * lines["blur_low"], high=100 * lines["blur_high"], opacity=PALE, name=BLUR)
        cut = 100 * lines["cut"] / lines["entries"]
        yield Band(x=rounds, low=0.0 * cut, high=cut, ink=REMOVED, opacity=STRONG, name=CUT)
    else:
        yield Band(x=rounds, low=lines["q25"], high=lines["q75"], opacity=PALE, name=MIDDLE)
        yield Band(x=rounds, low=lines["q0"], high=lines["highest_cut"], ink=REMOVED, opacity=STRONG, name=CUT)


def _way(scored: Scored, way: int, words: Way) -> Iterator[Layer]:
    rows = scored.scores[scored.scores["way"] == way]
    heights = (100 * rows["rank"] if scored.ranks else rows["score"]).to_numpy()
    look: dict[str, Any] = {"ink": _ink(scored, way), "group": _name(words)}
    if scored.ranks:
        # The ranks that an entry may have had among those of an equal score.
        half = (50 * (rows["equal"] - 1) / rows["entries"]).to_numpy()
        ends = {"low": heights - half, "high": heights + half}
        yield Ranges(at=rows["round"].to_numpy(), **ends, capped=True, opacity=0.45, on="screen", **look)
    where = {"x": rows["round"].to_numpy(), "y": heights}
    yield Line(**where, dash=DASHES[way], width=2.0, name=_name(words), **look)
    for chosen, shape, size in ((~rows["cut"], SHAPES[way], SIZE), (rows["cut"], "x", CROSS)):
        mine = chosen.to_numpy(dtype=np.bool_)
        hover = [_text(words, row, scored.ranks) for row in rows[mine].to_dict("records")]
        places = {name: values[mine] for name, values in where.items()}
        yield Marks(**places, shape=shape, size=size, rim=0, hover=hover, **look)


def _ink(scored: Scored, way: int) -> Ink:
    return scored.style if way == 0 else "text"


def _name(way: Way) -> str:
    return f"{way.sender} to {way.receiver}"


def _text(way: Way, row: Mapping[Any, Any], ranks: bool) -> str:
    score = "" if ranks else f"score {formats.figures(row['score'], 4)}, "
    verdict = ("cut" if row["cut"] else "kept") + (", no gradient" if row["gradient"] is False else "")
    return (
        f"{escape(_name(way))}, round {row['round']}: {verdict}<br>"
        f"{score}{row['below']:,} of {row['entries']:,} scored lower, {row['equal'] - 1:,} others the same as stored"
    )


def _keys(scored: Scored, ways: Sequence[Way]) -> list[Key]:
    keys = [
        Key(label=_name(words), ink=_ink(scored, way), dash=DASHES[way], shape=SHAPES[way], group=_name(words))
        for way, words in enumerate(_shown(scored, ways))
    ]
    grounds: list[tuple[str, Ink, float]] = [(CUT, REMOVED, STRONG)]
    grounds += [(MIDDLE, "muted", PALE)] if not scored.ranks else []
    grounds += [(BLUR, "muted", PALE)] if scored.ranks and scored.lines["blur_low"].notna().any() else []
    return [
        *keys,
        *(Key(label=name, ink=ink, dash="solid", width=10, opacity=o, about="marks") for name, ink, o in grounds),
    ]


def _causes(scored: Sequence[Scored], ways: Sequence[Way]) -> str:
    """Say which of the cuts had no gradient, "" where all had one or it is not known."""
    cuts = [(run, cut) for run in scored for cut in run.scores.to_dict("records") if cut["cut"]]
    without = [
        f"{_name(ways[cut['way']])} in round {cut['round']}{f' of {run.label}' if len(scored) > 1 else ''}"
        for run, cut in cuts
        if cut["gradient"] is False
    ]
    if not without:
        return ""
    return f" Cut without a gradient of the training loss, by the noise of the mask's start: {'; '.join(without)}."


def _edge(graph: Graph, runs: Sequence[Run], choices: FigureChoices) -> int:
    """Return the chosen edge, else that of the node with most neighbours which the first run cut first."""
    if choices.edge is not None:
        low, high = sorted(choices.edge)
        found = np.flatnonzero((graph.edges[0] == low) & (graph.edges[1] == high))
        if not found.size:
            raise ConfigError(f"There is no edge between nodes {low} and {high} of {graph.name}: choose another one.")
        return int(found[0])
    hub = int(degrees(graph).argmax())
    own = np.flatnonzero((graph.edges == hub).any(axis=0))
    seed, _ = shown_round(runs[0], choices)
    gone = removal_rounds([seed.edge_mask(number) for number in range(seed.whole_rounds())])[:, own]
    # Edges that survive come last.
    last = np.where((gone > 0).all(axis=0), gone.max(axis=0), np.iinfo(np.int64).max)
    return int(own[np.argmin(last)])


def _without_scores(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that keep no scores, where others do."""
    first = [(run, run.existing_seed()) for run in runs]
    kept = [run for run, seed in first if seed.whole_rounds() > 1 and seed.edge_scores(1) is not None]
    return [run for run in runs if run not in kept] if kept else []


FIGURES.register(
    Figure(
        "scores",
        "The scores of one edge over rounds",
        "structure",
        scores,
        frozenset({"seed", "edge"}),
        _without_scores,
        "keep no scores of edges",
    )
)
