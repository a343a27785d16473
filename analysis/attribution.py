"""Attribution: how much of a ticket's accuracy and of its saved MACs is due to its edges, and how much to its weights.

`attributions` finds the runs of `glt reproduce attribution`. `cells_table` has one row a cell, round and seed;
`effects_table` tests contrasts between cells, paired by seed; `variance_shares` splits the variance between cells, and
`macs_table` the saved MACs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from analysis.statistics import significances
from analysis.tables.curves import Score, mean_and_interval
from analysis.tables.rounds import rounds_table
from glt.config import RunConfig, options_of
from glt.errors import StoreError
from glt.formats import as_typed, number_of, points_interval
from glt.methods import METHODS
from glt.methods.combine import START_WORDS, CombineOptions, rounds_of
from glt.reproduction.attribution import (
    EDGE_WORDS,
    EDGES,
    STARTS,
    WEIGHT_WORDS,
    WEIGHTS,
    Cell,
    cell_of,
    cells,
)
from glt.store import MacConvention, Run, run_name

Kind = Literal["loss", "paired", "main effect", "interaction"]
KIND_WORDS: dict[Kind, str] = {
    "loss": "Loss against dense",
    "paired": "Paired differences",
    "main effect": "Main effects",
    "interaction": "Interactions",
}
COMMAND = ("reproduce", "attribution", "--dataset", "cora", "--seeds", "0-4")
# Options that distinguish the cells of one attribution.
OF_CELL = ("edges_from", "weights_from", "counts_from", "start")
UGS = Cell("ugs", "ugs", "theta_0")
DENSE = Cell("all", "all", "theta_0")


@dataclass(frozen=True, eq=False)
class Attribution:
    """The runs of one attribution: its source run, the rounds of it, and a run by cell; no other has its `name`."""

    name: str
    source: str
    config: RunConfig
    rounds: tuple[int, ...]
    runs: Mapping[Cell, Run]
    missing: tuple[Cell, ...] = ()


def attributions(runs: Iterable[Run]) -> list[Attribution]:
    """Return the attributions among some runs, by settings and source run; each has a cell with a finished round."""
    by_settings: dict[str, list[tuple[Cell, Run]]] = {}
    for run in runs:
        cell = cell_of(run.config)
        if cell is not None and any(run.seed(seed).whole_rounds() > 1 for seed in run.seeds()):
            by_settings.setdefault(run_name(_shared(run.config)), []).append((cell, run))
    found = []
    for shared, members in by_settings.items():
        rounds = tuple(rounds_of(options_of(members[0][1].config.options, CombineOptions).at_rounds))
        sources = {name for _, run in members for name in METHODS.get("combine").reads(run.config)}
        for source in sorted(sources) if rounds else ():
            # The cell of all edges and all weights has no source, and belongs to each.
            own = {cell: run for cell, run in members if set(METHODS.get("combine").reads(run.config)) <= {source}}
            in_order = {cell: own[cell] for cell in cells() if cell in own}
            missing = tuple(cell for cell in cells() if cell not in own)
            found.append(Attribution(f"{source} in {shared}", source, members[0][1].config, rounds, in_order, missing))
    return found


def _shared(config: RunConfig) -> RunConfig:
    """Return the settings that the cells of one attribution share."""
    options = {name: value for name, value in config.options.items() if name not in OF_CELL}
    return config.model_copy(update={"options": options})


def chosen_attribution(
    found: Sequence[Attribution], dataset: str | None, model: str | None, rounds: Sequence[int] | None
) -> Attribution:
    """Return the attribution with these names and rounds; raise StoreError unless there is exactly one."""
    if not found:
        raise StoreError(
            f"There is no attribution here: name a run of its method combine, or compute one by `{as_typed(*COMMAND)}`."
        )
    wanted = {"dataset": dataset, "model": model}
    fits = [
        each
        for each in found
        if all(value in (None, getattr(each.config, name)) for name, value in wanted.items())
        and (not rounds or tuple(rounds) == each.rounds)
    ]
    if len(fits) == 1:
        return fits[0]
    names = "; ".join(
        f"{each.config.dataset} {each.config.model}, rounds {', '.join(map(str, each.rounds))}"
        for each in fits or found
    )
    if not fits:
        asked = [f"--{name} {value}" for name, value in wanted.items() if value]
        asked += [f"--rounds {','.join(map(str, rounds))}"] if rounds else []
        command = as_typed("reproduce", "attribution", *" ".join(asked).split(), "--seeds", "0-4")
        raise StoreError(f"No attribution has {' '.join(asked)}: there is {names}. `{command}` computes another.")
    raise StoreError(f"There are {len(fits)} attributions ({names}): choose one by --dataset, --model and --rounds.")


COLUMNS = ("edges", "weights", "start", "round", "seed", "score", "graph_sparsity", "weight_sparsity")


def cells_table(attribution: Attribution, score: Score = "test") -> pd.DataFrame:
    """Return one row per cell, round of the source and seed; round 0 is the dense network from theta_0.

    Columns: edges, weights, start, round (of the source), seed, score (the chosen test score), graph_sparsity,
    weight_sparsity (fractions) and the macs columns of `rounds_table`.
    """
    runs = list(attribution.runs.values())
    table = rounds_table(runs)
    cell = dict(zip((run.reference for run in runs), attribution.runs, strict=True))
    for name in Cell._fields:
        table[name] = [getattr(cell[run], name) for run in table["run"]]
    dense = (table["round"] == 0) & (table["start"] == "theta_0")
    # Round 0 is the same in all cells that start from theta_0.
    table = table[
        (table["round"] > 0) | (dense & ~table[dense].duplicated("seed").reindex(table.index, fill_value=True))
    ]
    table["round"] = [(0, *attribution.rounds)[number] for number in table["round"]]
    table["score"] = table[score]
    macs = [name for name in table.columns if name.startswith("macs_")]
    return table[[*COLUMNS, *macs]].reset_index(drop=True)


def cell_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score of every cell and round of a `cells_table`, as a fraction.

    Columns: round, start, edges, weights, cell (in words), and those of `mean_and_interval`, with `seeds` for count.
    """
    groups = table[table["round"] > 0].groupby(["round", *_FACTORS], sort=False)["score"]
    means = mean_and_interval(groups).rename(columns={"count": "seeds"}).reset_index()
    means["cell"] = [Cell(*levels).words for levels in means[list(_FACTORS)].itertuples(index=False)]
    return means.sort_values("round", kind="stable").reset_index(drop=True)


class Contrast(NamedTuple):
    """A weighted sum of cells, in words; weights of a difference add up to 0."""

    kind: Kind
    words: str
    weights: Mapping[Cell, float]


def contrasts() -> list[Contrast]:
    """Return all contrasts: the loss of each half, paired differences, main effects and interactions.

    Levels are compared with those of UGS; a main effect averages over the other two factors.
    """
    return [*_losses(), *_paired(), *_main_effects(), *_interactions()]


def _losses() -> Iterator[Contrast]:
    edges, weights = Cell("ugs", "all", "theta_0"), Cell("all", "ugs", "theta_0")
    yield Contrast("loss", "UGS edges, all weights", {edges: 1, DENSE: -1})
    yield Contrast("loss", "all edges, UGS weights", {weights: 1, DENSE: -1})
    yield Contrast("loss", "UGS edges, UGS weights", {UGS: 1, DENSE: -1})
    yield Contrast("loss", "both minus the sum of each", {UGS: 1, edges: -1, weights: -1, DENSE: 1})


def _paired() -> Iterator[Contrast]:
    for edges in EDGES[1:]:
        words = f"{EDGE_WORDS[edges]} minus UGS edges, with UGS weights"
        yield Contrast("paired", words, {UGS._replace(edges=edges): 1, UGS: -1})
    for weights in WEIGHTS[1:]:
        words = f"{WEIGHT_WORDS[weights]} minus UGS weights, with UGS edges"
        yield Contrast("paired", words, {UGS._replace(weights=weights): 1, UGS: -1})
    words = f"{START_WORDS['fresh']} minus theta_0, with UGS edges and weights"
    yield Contrast("paired", words, {UGS._replace(start="fresh"): 1, UGS: -1})


def _main_effects() -> Iterator[Contrast]:
    for name, levels, words in _factors():
        for level in levels[1:]:
            yield Contrast("main effect", f"{words[level]} minus {words[levels[0]]}", _average({name: level}))


def _interactions() -> Iterator[Contrast]:
    for (one, ones, words), (other, others, other_words) in combinations(_factors(), 2):
        for level, second in product(ones[1:], others[1:]):
            yield Contrast(
                "interaction", f"{words[level]} x {other_words[second]}", _average({one: level, other: second})
            )


_FACTORS = Cell._fields
# No factor, each one, each pair, all three.
_SUBSETS: list[tuple[int, ...]] = [subset for size in range(4) for subset in combinations(range(3), size)]


def _factors() -> list[tuple[str, Sequence[str], Mapping[str, str]]]:
    """Return name, levels (the first is that of UGS) and words of each factor."""
    words: Sequence[Mapping[Any, str]] = (EDGE_WORDS, WEIGHT_WORDS, START_WORDS)
    return list(zip(_FACTORS, (EDGES, WEIGHTS, STARTS), words, strict=True))


def _average(levels: Mapping[str, str]) -> dict[Cell, float]:
    """Return the contrast of some levels with those of UGS, averaged over the other factors."""
    first = {name: known[0] for name, known, _ in _factors()}
    others = [known for name, known, _ in _factors() if name not in levels]
    share = 1 / int(np.prod([len(known) for known in others]))
    found = {}
    for cell in cells():
        sign = 1.0
        for name, level in levels.items():
            value = getattr(cell, name)
            sign *= 1 if value == level else -1 if value == first[name] else 0
        if sign:
            found[cell] = sign * share
    return found


EFFECT_COLUMNS = (
    "kind",
    "effect",
    "round",
    "seeds",
    "mean",
    "low",
    "high",
    "p",
    "p_adjusted",
    "family",
    "verdict",
    "detectable",
)


def effects_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return every contrast at every round of a `cells_table`, tested by paired t tests over seeds.

    Only seeds that have all cells of a contrast count; one without any seed is left out. Columns: kind, effect, round,
    seeds, mean, low, high (95% interval, uncorrected), p, p_adjusted (Holm over the contrasts of the kind at all
    rounds, `family`), verdict (see `statistics.Significance.word`) and detectable. Scores are fractions.
    """
    rows = table[table["round"] > 0]
    wide = {number: _by_cell(of_round) for number, of_round in rows.groupby("round")}
    found = []
    for kind in KIND_WORDS:
        of_kind = [
            (contrast, number, values)
            for contrast in contrasts()
            if contrast.kind == kind
            for number, scores in wide.items()
            if (values := _by_seed(contrast, scores)).size
        ]
        for (contrast, number, values), test in zip(of_kind, significances(v for *_, v in of_kind), strict=True):
            low, high = test.mean - test.half, test.mean + test.half
            tested = (test.mean, low, high, test.p, test.p_adjusted, test.family, test.word, test.detectable)
            found.append((kind, contrast.words, number, values.size, *tested))
    return pd.DataFrame(found, columns=list(EFFECT_COLUMNS))


def effects_by_round(effects: pd.DataFrame, kind: str) -> dict[str, dict[int, str]]:
    """Write the effects of one kind by contrast and round: points with their interval, a star if significant."""
    found: dict[str, dict[int, str]] = {}
    for row in effects[effects["kind"] == kind].to_dict("records"):
        points = points_interval(row["mean"], row["high"] - row["mean"]).removesuffix(" points")
        star = " *" if row["verdict"] in ("higher", "lower") else ""
        found.setdefault(row["effect"], {})[row["round"]] = points + star
    return found


def _by_cell(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of one round, a row a seed and a column a cell."""
    return rows.pivot_table("score", "seed", list(_FACTORS), aggfunc="first")


def _by_seed(contrast: Contrast, scores: pd.DataFrame) -> np.ndarray:
    """Return a contrast of each seed that has all its cells."""
    if any(cell not in scores.columns for cell in contrast.weights):
        return np.empty(0)
    columns = scores[list(contrast.weights)].dropna()
    return np.asarray(columns.to_numpy() @ np.array(list(contrast.weights.values())))


def variance_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return how the variance between cells splits over factors and interactions, by round.

    Sums of squares of the balanced factorial, means over the seeds that have all cells; a round without such a seed is
    left out. Columns: round, seeds, factor (as in "edges x weights"), share.
    """
    found = []
    shape = tuple(len(levels) for _, levels, _ in _factors())
    for number, rows in table[table["round"] > 0].groupby("round"):
        whole = _by_cell(rows).reindex(columns=list(cells())).dropna()
        if whole.empty:
            continue
        by_cell = whole.mean().to_numpy()
        # `cells` varies weights fastest, then edges, then starts.
        means = by_cell.reshape(shape[2], shape[0], shape[1]).transpose(1, 2, 0)
        effects: dict[tuple[int, ...], np.ndarray] = {}
        for axes in _SUBSETS:
            others = tuple(axis for axis in range(3) if axis not in axes)
            part = means.mean(axis=others, keepdims=True)
            effects[axes] = part - sum(known for below, known in effects.items() if set(below) < set(axes))
        sums = {axes: float((np.broadcast_to(effect, shape) ** 2).sum()) for axes, effect in effects.items() if axes}
        total = sum(sums.values())
        for axes, value in sums.items():
            words = " x ".join(_FACTORS[axis] for axis in axes)
            found.append((number, len(whole), words, value / total if total else 0.0))
    return pd.DataFrame(found, columns=["round", "seeds", "factor", "share"])


def macs_table(table: pd.DataFrame, macs: MacConvention) -> pd.DataFrame:
    """Return the share of the dense MACs that each half saves alone, and both together, by round (means over seeds).

    Columns: round, seeds, edges (UGS edges, all weights), weights (all edges, UGS weights), both.
    """
    column = f"macs_{macs}"
    dense = table[table["round"] == 0].set_index("seed")[column]
    halves = {"edges": ("ugs", "all"), "weights": ("all", "ugs"), "both": ("ugs", "ugs")}
    found = []
    for number, rows in table[(table["round"] > 0) & (table["start"] == "theta_0")].groupby("round"):
        saved = {}
        for name, pair in halves.items():
            of_pair = rows[(rows["edges"] == pair[0]) & (rows["weights"] == pair[1])].set_index("seed")[column]
            saved[name] = 1 - of_pair / dense
        shares = pd.DataFrame(saved).dropna()
        if len(shares):
            found.append((number, len(shares), *shares.mean()))
    return pd.DataFrame(found, columns=["round", "seeds", *halves])


def finding(effects: pd.DataFrame) -> str:
    """Return the losses of both halves at the last round in one sentence; "" where cells are missing."""
    losses = effects[effects["kind"] == "loss"]
    if losses.empty:
        return ""
    last = losses[losses["round"] == losses["round"].max()].set_index("effect")
    wanted = {
        "UGS edges, all weights": "UGS's edges alone",
        "all edges, UGS weights": "its weights alone",
        "UGS edges, UGS weights": "both together",
    }
    if any(name not in last.index for name in wanted):
        return ""
    parts = []
    for name, words in wanted.items():
        row = last.loc[name]
        parts.append(
            f"{words} {points_interval(row['mean'], row['high'] - row['mean'])} {_verdict_words(row['verdict'])}"
        )
    fewest, most = (int(pick(last.loc[list(wanted), "seeds"])) for pick in (min, max))
    seeds = number_of(most, "seed") if fewest == most else f"{fewest} to {most} seeds"
    return f"Round {int(last['round'].iloc[0])}, {seeds}, against dense: {'; '.join(parts)}."


def _verdict_words(word: str) -> str:
    return {"none": "(not significant)", "no test": "(no test)"}.get(word, "(significant)")
