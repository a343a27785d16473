"""What a mark says when the pointer rests on it: every number of the round, escaped for HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis import palette, published
from analysis.drawing.description import (
    EVEN,
    LARGEST,
    LEAST_STAR,
    STAR,
    Audience,
    Axis,
    Band,
    Key,
    Layer,
    Line,
    Marks,
    Note,
    Rule,
)
from analysis.drawing.labels import log_ticks
from analysis.figures.base import RunLooks
from analysis.palette import MOST_DASHED, crowd_styles, escape
from analysis.statistics import seeds_words
from analysis.tables.captions import check_shared_data, shared_metric
from analysis.tables.curves import Score, XAxis, dense_table, x_of
from glt import formats, verdicts
from glt.methods.admm import EDGES_CHANGED
from glt.store import MacConvention


def round_text(row: Mapping[str, Any]) -> str:
    """Return the hover text of one row of `curve_table`, with what `with_diagnoses` adds where it did."""
    rank = "sparsest ticket" if row["is_extreme"] else row["verdict"]
    lines = [
        f"<b>{escape(row['label'])}</b>, round {row['round']}" + (f" \N{EM DASH} {rank}" if rank else ""),
        f"<b>{formats.percent_interval(row['mean'], row['high'] - row['mean'])}</b> ({seeds_words(int(row['seeds']))})",
    ]
    if row["round"] and not math.isnan(row["difference"]):
        difference = formats.points_interval(row["difference"], row["difference_high"] - row["difference"])
        lines.append(f"{difference} against dense {formats.percent(row['dense'])}")
    if row["verdict"] and math.isnan(row["p_adjusted"]):
        lines.append(row["verdict_short"])
    elif row["verdict"]:
        family = formats.number_of(int(row["family"]), "round")
        lines.append(f"{row['verdict_short']} ({formats.p_value(row['p_adjusted'])}, Holm over {family})")
    lines += [
        _sparsities(row["graph_sparsity"], row["weight_sparsity"]),
        f"Undirected edges kept: {formats.percent(row['edges_kept_either_way'])} either way, "
        f"{formats.percent(row['edges_kept_both_ways'])} both ways",
        f"{formats.macs(row['macs'])} MACs",
    ]
    changed, cut, chance = (
        row.get(name, math.nan) for name in (EDGES_CHANGED, "cuts_without_gradient", "seeds_at_chance")
    )
    if not math.isnan(changed):
        lines.append(f"Kept edges that differ from the solver's start: {formats.count(changed)}")
    if not math.isnan(cut):
        lines.append(f"Edge entries removed without a gradient: {formats.percent(cut)}")
    if not math.isnan(chance) and chance:
        late, epoch = int(row["seeds_read_late"]), int(row["search_at_chance"])
        read = f"masks read after that in {late} of them" if late else "masks read before that"
        lines.append(f"Search at chance by epoch {epoch} ({formats.number_of(int(chance), 'seed')}); {read}")
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


# The axes of a curve: titles, units, the stretch of scores that is shown, and where curves leave it.


MAC_NAMES: dict[MacConvention, str] = {
    "dense_features": "dense features",
    "sparse_features": "sparse features",
    "published": "as published",
}
SHORT_TITLES: dict[XAxis, str] = {
    "graph": "Graph sparsity (%)",
    "weight": "Weight sparsity (%)",
    "edges": "Undirected edges removed (%)",
    "macs": "Inference MACs (M, log scale)",
}
# A method that collapses would flatten all that matters, so the near view ends this far (fraction) under dense.
NEAR = 0.20
# An interval over two seeds is twelve times their spread: beyond this far (fraction) from all means it is cut off.
INTERVALS = 0.05
MOST_TICKS = 5


class Window(NamedTuple):
    """The stretch of the y axis that is shown, in percent."""

    low: float
    high: float


def x_values(x: XAxis, values: ArrayLike) -> verdicts.FloatArray:
    """Return x as drawn: percent for sparsities, millions for MACs."""
    return np.asarray(values, dtype=np.float64) * (1e-6 if x == "macs" else 100.0)


def x_axis(table: pd.DataFrame, x: XAxis, macs: MacConvention, also: Sequence[float] = ()) -> Axis:
    """Return the x axis of a `curve_table`, with room for values that are `also` drawn; pruning goes right."""
    titles: dict[XAxis, str] = {
        "graph": "Graph sparsity (% of edge entries removed)",
        "weight": "Weight sparsity (% of weights removed)",
        "edges": "Undirected edges removed, in both directions (%)",
        "macs": f"Inference MACs ({MAC_NAMES[macs]}, log scale)",
    }
    title, short = titles[x], SHORT_TITLES[x]
    if x != "macs" or table.empty:
        return Axis(title=title, short=short, margin=0.04)
    drawn = np.concatenate([x_values(x, table["x"]), np.asarray(also, dtype=np.float64)])
    low, high = float(drawn.min()), float(drawn.max())
    ticks = log_ticks(low, 1.02 * high)[::-1]
    marked: dict[str, Any] = {"ticks": ticks, "every": 1 + (len(ticks) - 1) // MOST_TICKS, "unit": "M"}
    return Axis(title=title, short=short, limits=(1.25 * high, 0.8 * low), log=True, **marked)


def score_title(table: pd.DataFrame, score: Score) -> str:
    """Return the title of the y axis; raises ConfigError for several metrics, or different data of one name."""
    check_shared_data(table, "One figure")
    return f"Test {shared_metric(table)}{', last epoch' if score == 'test_last' else ''} (%)"


def score_window(table: pd.DataFrame, extra: Sequence[float] = (), near: bool = True) -> Window:
    """Return the y range of a `curve_table`, wide enough for its means and for `extra` scores (fractions).

    Intervals widen it by INTERVALS at most. `near` ends it NEAR below the lowest dense mean.
    """
    means = _finite(table["mean"], table["dense"], extra)
    if not means.size:
        return Window(0.0, 100.0)
    ends = _finite(table["low"], table["high"]).clip(means.min() - INTERVALS, means.max() + INTERVALS)
    shown = np.concatenate([means, ends])
    low, high = max(shown.min(), 0.0), min(shown.max(), 1.0)
    dense = table["dense"].min()
    if near and dense - NEAR > low:
        low = dense - NEAR
    pad = 0.05 * max(high - low, 0.01)
    return Window(100 * (low - pad), 100 * (high + pad))


def _finite(*columns: ArrayLike) -> verdicts.FloatArray:
    values: verdicts.FloatArray = np.concatenate([np.asarray(column, dtype=np.float64) for column in columns])
    finite: verdicts.FloatArray = values[np.isfinite(values)]
    return finite


class Exit(NamedTuple):
    """Where (x as drawn) a run's mean leaves the window, and its lowest score (fraction) below it.

    For several `runs` of a crowd, or several `seeds` of a run whose mean stays: the first of them, and the lowest score
    of all.
    """

    run: str
    method: str
    x: float
    lowest: float
    runs: int = 1
    seeds: int = 0

    @property
    def text(self) -> str:
        """Say what falls, and how deep.

        >>> Exit("run", "ugs", 0.5, 0.265).text, Exit("run", "ugs", 0.5, 0.265, seeds=2).text
        ('falls to 26.5 %', '2 seeds fall, one to 26.5 %')
        """
        lowest = formats.percent(self.lowest)
        who = formats.number_of(self.seeds, "seed") if self.seeds else str(self.runs)
        if max(self.seeds, self.runs) > 1:
            return f"{who} fall, one to {lowest}"
        return f"{who} falls to {lowest}" if self.seeds else f"falls to {lowest}"

    @property
    def short(self) -> str:
        """Say the same in few letters.

        >>> Exit("run", "ugs", 0.5, 0.265).short, Exit("run", "ugs", 0.5, 0.265, seeds=2).short
        ('to 26.5%', '2 seeds to 26.5%')
        """
        several = f"{formats.number_of(self.seeds, 'seed')} " if self.seeds else f"{self.runs} " * (self.runs > 1)
        return f"{several}to {formats.percent(self.lowest).replace(' ', '')}"


def exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    """Return an exit for every run of a `curve_table` whose mean falls below the window, and one for a whole crowd."""
    crowd = crowd_styles(table)
    found = _single_exits(table, x, shown)
    alone = [gone for gone in found if gone.run not in crowd]
    methods = dict.fromkeys(gone.method for gone in found if gone.run in crowd)
    together = [[gone for gone in found if gone.run in crowd and gone.method == method] for method in methods]
    return [*alone, *(_first(each, x) for each in together)]


def seed_exits(
    table: pd.DataFrame, rounds: pd.DataFrame, x: XAxis, score: Score, macs: MacConvention, shown: Window
) -> list[Exit]:
    """Return an exit for every run of a `curve_table` whose mean stays in the window while seeds fall below it."""
    fallen = {gone.run for gone in _single_exits(table, x, shown)}
    staying = rounds[rounds["run"].isin(set(table["run"]) - fallen)]
    drawn = pd.DataFrame(
        {**staying[["run", "method", "seed"]], "x": x_of(staying, x, f"macs_{macs}"), "mean": staying[score]}
    )
    found = []
    for _, seeds in drawn.groupby("run", sort=False):
        leaving = [gone for _, seed in seeds.groupby("seed") for gone in _single_exits(seed, x, shown)]
        if leaving:
            found.append(_first(leaving, x)._replace(runs=1, seeds=len(leaving)))
    return found


def _first(several: list[Exit], x: XAxis) -> Exit:
    nearest = (max if x == "macs" else min)(several, key=lambda gone: gone.x)
    return nearest._replace(lowest=min(gone.lowest for gone in several), runs=len(several))


def _single_exits(table: pd.DataFrame, x: XAxis, shown: Window) -> list[Exit]:
    found = []
    for run, curve in table.groupby("run", sort=False):
        mean = 100 * curve["mean"].to_numpy()
        below = np.flatnonzero(mean < shown.low)
        if below.size:
            index, places = int(below[0]), x_values(x, curve["x"])
            place = places[0]
            if index:
                share = (mean[index - 1] - shown.low) / (mean[index - 1] - mean[index])
                ends = places[index - 1 : index + 1]
                ends = np.log(ends) if x == "macs" else ends
                place = ends[0] + share * (ends[1] - ends[0])
                place = np.exp(place) if x == "macs" else place
            found.append(Exit(str(run), curve["method"].iloc[0], float(place), float(mean.min()) / 100))
    return found


# Rounds of runs in a panel: lines with bands, seeds and marks, dense baselines, printed points, and their keys.

# A round of no MACs still has this share of the largest area.
SMALLEST_AREA = 0.12
# Shares of the most MACs whose areas the legend explains: on the screen, on paper.
SHARES, PAPER_SHARES = (1.0, 0.25, 0.05), (1.0, 0.1)
NAMED = 2


class PaperMark(NamedTuple):
    """A printed point, its x (fraction or count), and whether its mean is at least the dense mean.

    By the paper's criterion that makes it a ticket; it tests nothing.
    """

    point: published.PublishedPoint
    x: float
    is_ticket: bool


@dataclass(eq=False)
class Curves:
    """A `curve_table` over the `rounds_table` it came from, with the choices that shape its picture.

    `shown` is the window of scores. `sized` lets marker area follow MACs up to a mark of `largest` pixels. More than
    `most` runs of a method are a crowd, drawn without seeds and bands.
    """

    table: pd.DataFrame
    rounds: pd.DataFrame
    x: XAxis
    score: Score
    macs: MacConvention
    shown: Window
    styles: Mapping[str, palette.Style] | None = None
    most: int = MOST_DASHED
    sized: bool = True
    largest: float = LARGEST

    @cached_property
    def looks(self) -> RunLooks:
        """How the runs look beside each other."""
        return RunLooks(self.table, self.styles, self.most)

    @property
    def most_macs(self) -> float:
        """The most MACs of any round: those of the largest mark."""
        return float(self.table["macs"].max()) if len(self.table) else 1.0

    @property
    def runs(self) -> Iterator[tuple[str, palette.Style, pd.DataFrame]]:
        """Name, look and rows of every run."""
        for run, rows in self.table.groupby("run", sort=False):
            yield str(run), self.looks.style(run, rows["method"].iloc[0]), rows.assign(run=run)

    def place(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return x values as drawn."""
        return x_values(self.x, values)

    def size(self, macs: ArrayLike) -> NDArray[np.float64]:
        """Return marker diameters in pixels."""
        if not self.sized:
            return np.full(np.shape(macs), EVEN)
        share = SMALLEST_AREA + (1 - SMALLEST_AREA) * np.asarray(macs, dtype=np.float64) / self.most_macs
        return np.asarray(self.largest * np.sqrt(share))

    def x_axis(self, also: Sequence[float] = ()) -> Axis:
        """Return the axis of sparsity or MACs."""
        return x_axis(self.table, self.x, self.macs, also)

    def y_axis(self) -> Axis:
        """Return the axis of scores; raises ConfigError for runs that share none."""
        title = score_title(self.table, self.score)
        return Axis(title=title, limits=(self.shown.low, self.shown.high), grid=True)


def run_layers(curves: Curves, seeds: bool = True) -> list[Layer]:
    """Return every run's layers, kind by kind, so that no run's stars lie under another's line."""
    kinds = [_line, _rounds, _dense, _tickets]
    if not curves.looks.crowd:
        kinds = [_band, *([_seed_series] if seeds else []), *kinds]
    return [layer for kind in kinds for run, look, rows in curves.runs for layer in kind(curves, run, look, rows)]


def _band(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    known = rows.dropna(subset=["low", "high"])
    if len(known):
        low, high = 100 * known["low"], 100 * known["high"]
        yield Band(x=curves.place(known["x"]), low=low, high=high, ink=look, opacity=0.16, group=run)


def _seed_series(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    if rows["seeds"].max() == 1:
        return
    mine = curves.rounds[curves.rounds["run"] == run]
    x = [[*curves.place(x_of(seed, curves.x, f"macs_{curves.macs}")), np.nan] for _, seed in mine.groupby("seed")]
    y = [[*(100 * seed[curves.score]), np.nan] for _, seed in mine.groupby("seed")]
    yield Line(x=np.concatenate(x), y=np.concatenate(y), ink=look, opacity=0.3, width=0.8, group=run)


def _line(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    where = {"x": curves.place(rows["x"]), "y": 100 * rows["mean"].to_numpy()}
    yield Line(**where, ink=look, dash=curves.looks.dash(run), name=rows["label"].iloc[0], group=run)


def _rounds(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    yield from points(curves, rows[(rows["round"] > 0) & ~rows["is_ticket"]], look, look.symbol)


def _dense(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    yield from points(curves, rows[rows["round"] == 0], palette.style(palette.DENSE), "circle")


def _tickets(curves: Curves, run: str, look: palette.Style, rows: pd.DataFrame) -> Iterator[Layer]:
    mine = rows[rows["is_ticket"]]
    # A star has less area than a disc of its width and carries the message, so it never gets small.
    size = np.maximum(curves.size(mine["macs"]) * STAR / LARGEST, LEAST_STAR)
    yield from points(curves, mine, look, palette.TICKET_SYMBOL, size)


def points(
    curves: Curves, rows: pd.DataFrame, ink: palette.Style, shape: str, size: Any = None, **looks: Any
) -> Iterator[Marks]:
    """Yield marks of rounds: a click on one selects its run and round."""
    if len(rows):
        yield Marks(
            x=curves.place(rows["x"]),
            y=100 * rows["mean"].to_numpy(),
            shape=shape,
            size=curves.size(rows["macs"]) if size is None else size,
            ink=ink,
            group=rows["run"].iloc[0],
            keys=rows[["run", "round"]].to_numpy(dtype=object),
            **{"hover": [round_text(row) for row in rows.to_dict("records")], **looks},
        )


def printed_layers(curves: Curves, printed: Sequence[PaperMark]) -> Iterator[Layer]:
    """Yield the printed points of every method as open marks, stars where the paper's criterion calls them tickets."""
    for method, star in dict.fromkeys((mark.point.method, mark.is_ticket) for mark in printed):
        mine = [mark for mark in printed if (mark.point.method, mark.is_ticket) == (method, star)]
        look = palette.style(method)
        yield Marks(
            x=curves.place([mark.x for mark in mine]),
            y=[100 * mark.point.score for mark in mine],
            shape=palette.TICKET_SYMBOL if star else look.symbol,
            size=STAR if star else LARGEST,
            filled=False,
            ink=look,
            hover=[paper_text(mark.point) for mark in mine],
        )


def paper_marks(table: pd.DataFrame, x: XAxis, macs: MacConvention) -> list[PaperMark]:
    """Return the paper's points for the settings and methods of a `curve_table`.

    Points without a printed place on the axis are left out: no MACs printed, or counted in another convention.
    """
    wanted = table[["dataset", "model", "task", "method"]].drop_duplicates().itertuples(index=False, name=None)
    found = []
    for dataset, model, task, method in wanted:
        dense = _paper_dense(dataset, model, task)
        for point in published.points(dataset, model, task):
            places = {"graph": point.graph_sparsity, "weight": point.weight_sparsity, "macs": point.macs}
            place = places.get(x)
            if point.method == method and place is not None and (x != "macs" or macs != "sparse_features"):
                found.append(PaperMark(point, place, dense is not None and point.score >= dense))
    return found


def paper_baselines(table: pd.DataFrame) -> list[float]:
    """Return the paper's dense scores (fractions) for the settings of a `curve_table`."""
    settings = table[["dataset", "model", "task"]].drop_duplicates().itertuples(index=False, name=None)
    found = [_paper_dense(*setting) for setting in settings]
    return [score for score in found if score is not None]


def _paper_dense(dataset: str, model: str, task: str) -> float | None:
    return next((p.score for p in published.points(dataset, model, task) if p.method == published.DENSE), None)


def baselines(curves: Curves) -> list[Rule]:
    """Return a dashed line for every distinct dense mean, with its owners where means differ."""
    dense = dense_table(curves.rounds, curves.score)
    means = [(float(mean), list(rows["label"])) for mean, rows in dense.groupby(dense["mean"].round(9))]
    rules = []
    for mean, labels in means:
        owner = f"{len(labels)} runs" if len(labels) > NAMED else ", ".join(labels)
        look: dict[str, Any] = {"ink": palette.style(palette.DENSE), "owner": owner if len(means) > 1 else ""}
        rules.append(Rule(at=100 * mean, name="Dense", value=formats.percent(mean), **look))
    return rules


def exit_notes(curves: Curves, seeds: bool = True) -> list[Note]:
    """Return how far curves fall that leave the window, and seeds whose mean stays in it."""
    leaving = exits(curves.table, curves.x, curves.shown)
    if seeds and not curves.looks.crowd:
        leaving += seed_exits(curves.table, curves.rounds, curves.x, curves.score, curves.macs, curves.shown)
    return [
        Note(
            x=gone.x,
            text=gone.text,
            short=gone.short,
            ink=curves.looks.style(gone.run, gone.method) if gone.runs == 1 else palette.style(gone.method),
        )
        for gone in sorted(leaving, key=lambda gone: gone.x)
    ]


def ticket_key(curves: Curves) -> list[Key]:
    """Return the key of stars, where there are any."""
    if not curves.table["is_ticket"].any():
        return []
    words = verdicts.key_words(float(curves.table["margin"].max()))
    return [Key(label=words, shape=palette.TICKET_SYMBOL, size=STAR, about="marks")]


def mark_keys(
    curves: Curves, printed: bool, screen: Sequence[float] = SHARES, paper: Sequence[float] = PAPER_SHARES
) -> list[Key]:
    """Return what stars, open marks and areas mean; shares are of the most MACs."""
    keys = ticket_key(curves)
    if printed:
        keys.append(Key(label="in the paper", short="Paper", shape="circle", size=LARGEST, filled=False, about="marks"))
    for share in sorted({*screen, *paper}, reverse=True) if len(curves.table) else ():
        count = share * curves.most_macs
        # Only the first says what it counts: a row of keys that must wrap covers the one above it.
        label = formats.macs(count) + ("" if share < 1 else " MACs")
        on: Audience = "both" if share in screen and share in paper else "screen" if share in screen else "paper"
        keys.append(Key(label=label, shape="circle", size=float(curves.size(count)), about="marks", on=on))
    return keys
