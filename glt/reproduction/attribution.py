"""The experiment `attribution`: which half of a ticket carries its accuracy, by a full factorial of masks and starts.

Edges and weights are taken from UGS, from draws, from a rule or not pruned at all, each with the counts of UGS at the
chosen rounds, and every pair is retrained from theta_0 and from a fresh initialisation (method `combine`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple, get_args

from glt.config import RunConfig, options_of
from glt.methods.combine import RUN, START_WORDS, CombineOptions, Source, rounds_of
from glt.presets import resolve
from glt.reproduction.experiments import (
    EXPERIMENTS,
    NETWORKS,
    PRESET,
    SMALL_GRAPHS,
    UGS,
    Arm,
    Experiment,
    Setting,
    grid,
)
from glt.store import run_name

EdgesFrom = Literal["ugs", "random", "degree", "all"]
WeightsFrom = Literal["ugs", "random", "random_layers", "all"]
Start = Literal["theta_0", "fresh"]
EDGES: tuple[EdgesFrom, ...] = get_args(EdgesFrom)
WEIGHTS: tuple[WeightsFrom, ...] = get_args(WeightsFrom)
STARTS: tuple[Start, ...] = get_args(Start)
# The degree rule: keep the edges with the largest 1 / sqrt(d_i d_j), where ADMM starts.
DEGREE = "score:degree_product"
EDGE_WORDS: dict[EdgesFrom, str] = {
    "ugs": "UGS edges",
    "random": "random edges",
    "degree": "edges by degree product",
    "all": "all edges",
}
WEIGHT_WORDS: dict[WeightsFrom, str] = {
    "ugs": "UGS weights",
    "random": "random weights",
    "random_layers": "random weights per layer",
    "all": "all weights",
}
AT_ROUNDS = (4, 9, 13, 16)


class Cell(NamedTuple):
    """One cell of the factorial: the sources of edges and weights, and the start of retraining."""

    edges: EdgesFrom
    weights: WeightsFrom
    start: Start

    @property
    def words(self) -> str:
        """The cell in words."""
        return f"{EDGE_WORDS[self.edges]}, {WEIGHT_WORDS[self.weights]}, {START_WORDS[self.start]}"


def cells() -> Iterator[Cell]:
    """Yield all cells, those that start from theta_0 first."""
    for start, edges, weights in product(STARTS, EDGES, WEIGHTS):
        yield Cell(edges, weights, start)


def attribution(rounds: Sequence[int] = AT_ROUNDS) -> Experiment:
    """Return the experiment at the given rounds of UGS; raise ConfigError unless they are positive and ascend."""
    at_rounds = ",".join(map(str, rounds_of(",".join(map(str, rounds)))))

    def arms(setting: Setting) -> tuple[Arm, ...]:
        ugs = Arm("UGS", {**UGS.settings, "rounds": max(rounds)})
        source = run_name(resolve({**setting._asdict(), **UGS.settings}, PRESET))
        of_cells = [Arm(cell.words, _settings(cell, source, at_rounds), stage=1, reads=source) for cell in cells()]
        return ugs, *of_cells

    about = f"Edges and weights of UGS, drawn, by a rule, or all of them, at rounds {', '.join(map(str, rounds))}."
    settings = grid(SMALL_GRAPHS, NETWORKS)
    return Experiment("attribution", "Attribution", "Beyond the paper", about, settings, arms, len(rounds))


def _settings(cell: Cell, source: str, at_rounds: str) -> dict[str, str]:
    """Return the settings of a cell's run; every half that is not whole has the counts of the source."""
    of_run = f"{RUN}:{source}"
    edges = {"ugs": of_run, "degree": DEGREE}.get(cell.edges, cell.edges)
    weights = {"ugs": of_run}.get(cell.weights, cell.weights)
    settings = {"method": "combine", "edges_from": edges, "weights_from": weights, "at_rounds": at_rounds}
    if cell.start != "theta_0":
        settings["start"] = cell.start
    counted = {cell.edges, cell.weights} & {"random", "random_layers", "degree"}
    return settings | ({"counts_from": source} if counted else {})


def cell_of(config: RunConfig) -> Cell | None:
    """Return the cell that a run computes; None if it is of no attribution.

    Masks and counts of a cell are those of one run of UGS and of the seed itself, and its draws have number 0.
    """
    if config.method != "combine":
        return None
    options = options_of(config.options, CombineOptions)
    sources = set(options.runs.values())
    if len(sources) > 1 or any(Source(RUN, name).method != "ugs" for name in sources):
        return None
    if options.draw or options.source_seed is not None:
        return None
    halves = (options.edges_from, options.weights_from)
    edges, weights = ("ugs" if text.startswith(f"{RUN}:") else text for text in halves)
    wanted = ("degree" if edges == DEGREE else edges, weights, options.start)
    return next((cell for cell in cells() if cell == wanted), None)


EXPERIMENTS.register(attribution())
