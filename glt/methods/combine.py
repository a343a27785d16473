"""Combinations: edges from one source, weights from another, to see which half of a ticket carries its accuracy.

`Combination.next_masks` takes each half from its own source. Draws are fixed by seed and `draw`: every entry has one
random number for all rounds, and the highest are kept. So runs with the same source of edges have the same edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, Field

from glt.config import RunConfig, options_of
from glt.datasets import DATASETS
from glt.errors import ConfigError, StoreError, quoted, unknown_name
from glt.formats import inside
from glt.masks import EdgeMask, Masks, WeightMask
from glt.methods import METHODS
from glt.methods.base import EdgeDecision, FindRun, Method, Proposal, RoundContext, TakenEdges
from glt.methods.score import static_ranks, without_lowest, without_smallest
from glt.methods.source_run import Half, check_source
from glt.random_masks import degree_bins, draw_with_degrees, end_pairs, highest_by_group
from glt.scores import SCORES
from glt.seeds import stream

RUN, SCORE, INVERSE = "run", "score", "inverse"
START_WORDS = {"theta_0": "theta_0", "fresh": "fresh weights"}
WHOLE = ("all", "none")
# Draws with as many entries in each group as the run `counts_from` keeps.
MATCHED_EDGES = ("random_class_pairs", "random_degree_bins", "random_degrees")
MATCHED_WEIGHTS = ("random_layers",)
MATCHED_WORDS = {
    "class_pairs": "per pair of classes",
    "degree_bins": "per pair of degree bins",
    "degrees": "with equal degrees",
    "layers": "per layer",
}
PLAIN: dict[Half, tuple[str, ...]] = {
    "edges": ("all", "none", "random", *MATCHED_EDGES),
    "weights": ("all", "random", "magnitude", *MATCHED_WEIGHTS),
}
NAMED: dict[Half, tuple[str, ...]] = {"edges": (RUN, SCORE, INVERSE), "weights": (RUN,)}


@dataclass(frozen=True)
class Source:
    """Where one half of the masks comes from: a kind, and the name of a run or score."""

    kind: str
    name: str = ""

    @classmethod
    def of(cls, half: Half, text: str) -> Source:
        """Read `kind` or `kind:name`; raise ConfigError for an unknown kind or score.

        >>> Source.of("edges", "score:teddy")
        Source(kind='score', name='teddy')
        """
        kind, colon, name = text.partition(":")
        if not colon and kind in PLAIN[half]:
            return cls(kind)
        if colon and kind in NAMED[half] and name:
            return cls(kind, name if kind == RUN else SCORES.get(name).name)
        field, known = f"{half}_from", [*PLAIN[half], *(f"{kind}:NAME" for kind in NAMED[half])]
        if kind in NAMED[half]:
            raise ConfigError(f"{field} is {quoted(text)} and lacks a name: write {kind}:NAME.")
        raise ConfigError(f"{field}: {unknown_name('source', text, known)}")

    @property
    def method(self) -> str:
        """The method of a run, which is in its name before the hash; "" for other kinds.

        >>> Source("run", "cora-node-gcn-ugs-df8e8f72").method
        'ugs'
        """
        parts = self.name.split("-") if self.kind == RUN else []
        return parts[-2] if len(parts) > 1 and parts[-2] in METHODS.names() else ""

    def words(self, half: Half) -> str:
        """Write the source of one half.

        >>> Source.of("edges", "run:cora-node-gcn-ugs-df8e8f72").words("edges")
        'UGS edges'
        >>> Source.of("weights", "random_layers").words("weights"), Source.of("edges", "none").words("edges")
        ('random weights per layer', 'no edges')
        >>> Source.of("edges", "score:degree_product").words("edges")
        'edges by degree product'
        """
        if self.kind == RUN:
            return f"{METHODS.get(self.method).label if self.method else self.name} {half}"
        if self.kind in (SCORE, INVERSE):
            inverse = "inverse " if self.kind == INVERSE else ""
            return f"{half} by {inverse}{inside(SCORES.get(self.name).label)}"
        drawn, _, matched = self.kind.partition("_")
        if matched:
            return f"{drawn} {half} {MATCHED_WORDS[matched]}"
        return {"none": f"no {half}", "magnitude": f"{half} by magnitude"}.get(self.kind, f"{self.kind} {half}")


def _source_text(half: Half, text: str) -> str:
    Source.of(half, text)
    return text


def _round_list(text: str) -> str:
    rounds_of(text)
    return text


class CombineOptions(BaseModel):
    """Source of each half, and the start of retraining."""

    edges_from: Annotated[str, AfterValidator(partial(_source_text, "edges"))] = Field(
        "all",
        description="all; none (an MLP); run:NAME, a finished run; score:NAME (inverse:NAME keeps the lowest scores); "
        "random; random_class_pairs, random_degree_bins, random_degrees: random with as many entries in each pair of "
        "classes, in each pair of degree bins, or at each node, as the run counts_from keeps",
    )
    weights_from: Annotated[str, AfterValidator(partial(_source_text, "weights"))] = Field(
        "all",
        description="all; run:NAME, a finished run; magnitude of the last round's retrained weights; random; "
        "random_layers: random with as many weights in each tensor as the run counts_from keeps",
    )
    counts_from: str = Field(
        "",
        description="Finished run that fixes how many entries a random, scored or magnitude half keeps; empty = rates",
    )
    start: Literal["theta_0", "fresh"] = Field(
        "theta_0", description="Weights at the start of each retraining: theta_0, or a fresh initialisation"
    )
    draw: int = Field(0, ge=0, le=1_000, description="Number of the random draw of masks and fresh initialisation")
    source_seed: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Seed of the source runs; empty = the seed itself"
    )
    at_rounds: Annotated[str, AfterValidator(_round_list)] = Field(
        "", description="Rounds whose counts or masks rounds 1, 2, ... of this run take, as in 4,9,13; empty = the same"
    )

    @property
    def sources(self) -> dict[Half, Source]:
        """The source of each half."""
        return {"edges": Source.of("edges", self.edges_from), "weights": Source.of("weights", self.weights_from)}

    @property
    def runs(self) -> dict[str, str]:
        """The runs that are read, by the option that names each."""
        named = {f"{half}_from": source.name for half, source in self.sources.items() if source.kind == RUN}
        return named | ({"counts_from": self.counts_from} if self.counts_from else {})

    def round_of(self, number: int) -> int:
        """Return the round whose counts or masks round `number` takes."""
        return rounds_of(self.at_rounds)[number - 1] if self.at_rounds else number


def rounds_of(text: str) -> list[int]:
    """Return the rounds in a text; raise ConfigError unless they are positive and ascend.

    >>> rounds_of("4, 9,13")
    [4, 9, 13]
    """
    parts = [part.strip() for part in text.split(",")] if text else []
    rounds = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 5]
    if len(rounds) < len(parts) or any(low >= high for low, high in zip([0, *rounds], rounds, strict=False)):
        raise ConfigError(f"at_rounds is {quoted(text)}: give rounds in ascending order, as in 4,9,13.")
    return rounds


class Combination(Method):
    """Edges from one source and weights from another, retrained from theta_0 or afresh."""

    name = "combine"
    label = "Combination"
    description = "Takes edges from one source and weights from another: finished runs, scores, draws, or everything."
    nested = False
    reads_runs = True
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight"})
    Options = CombineOptions

    def next_masks(self, context: RoundContext) -> Proposal:
        """Return the edges of one source and the weights of the other."""
        half = _Halves(context, self)
        return Proposal(Masks(half.edges(), half.weights()))

    def search_epochs(self, config: RunConfig) -> int:
        """Return 0: nothing is searched."""
        return 0

    def edge_decision(self, config: RunConfig) -> EdgeDecision:
        """Return what decides about edges in their source; None if all or none are kept."""
        options = options_of(config.options, CombineOptions)
        source = options.sources["edges"]
        if source.kind == RUN:
            return TakenEdges(source.name, tuple(rounds_of(options.at_rounds)))
        if source.kind in (SCORE, INVERSE):
            return "score"
        return "random" if source.kind in ("random", *MATCHED_EDGES) else None

    def settings_fix_counts(self, config: RunConfig) -> tuple[bool, bool]:
        """Return False for a half of a run, or with the counts of one."""
        options = options_of(config.options, CombineOptions)
        halves = [options.sources[half].kind for half in ("edges", "weights")]
        edges, weights = (kind in WHOLE or not (kind == RUN or options.counts_from) for kind in halves)
        return edges, weights

    def remaining(self, config: RunConfig, round: int, entries: int, weights: int) -> tuple[int, int]:
        """Return what is left after `round`: all, nothing, or what the rates leave at the round it stands for."""
        options = options_of(config.options, CombineOptions)
        left = super().remaining(config, options.round_of(round) if round else 0, entries, weights)
        kinds = options.sources["edges"].kind, options.sources["weights"].kind
        wholes = ({"all": entries, "none": 0}, {"all": weights})
        by_edges, by_weights = (
            whole.get(kind, count) if round else size
            for whole, kind, count, size in zip(wholes, kinds, left, (entries, weights), strict=True)
        )
        return by_edges, by_weights

    def initialisation(self, config: RunConfig) -> int:
        """Return 0 for theta_0, else the number of the draw plus 1."""
        options = options_of(config.options, CombineOptions)
        return 1 + options.draw if options.start == "fresh" else 0

    def seed_read(self, config: RunConfig, seed: int) -> int:
        """Return `source_seed`, by default the seed itself."""
        other = options_of(config.options, CombineOptions).source_seed
        return seed if other is None else other

    def reads(self, config: RunConfig) -> Mapping[str, int]:
        """Return the source runs, and the last round that is taken from them."""
        options = options_of(config.options, CombineOptions)
        return dict.fromkeys(options.runs.values(), (rounds_of(options.at_rounds) or [config.rounds])[-1])

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError if a source is missing, unsuitable or incomplete, or options contradict each other."""
        options = options_of(config.options, CombineOptions)
        sources = options.sources
        rounds = rounds_of(options.at_rounds)
        if rounds and len(rounds) != config.rounds:
            raise ConfigError(
                f"at_rounds names {len(rounds)} rounds, but rounds is {config.rounds}: add --set rounds={len(rounds)}."
            )
        _check_draws(config, options)
        sizes = DATASETS.get(config.dataset).sizes
        if sources["edges"].kind in (SCORE, INVERSE):
            SCORES.get(sources["edges"].name).check(sizes.edges, sizes.features)
        read = list(dict.fromkeys(self.seed_read(config, seed) for seed in seeds))
        for name, last in self.reads(config).items():
            halves: list[Half] = [half for half, source in sources.items() if source == Source(RUN, name)]
            if name == options.counts_from:
                halves = [half for half in sources if half in halves or sources[half].kind not in (*WHOLE, RUN)]
            try:
                source = find_run(name)
            except StoreError as error:
                named = " and ".join(option for option, known in options.runs.items() if known == name)
                raise ConfigError(f"{named}: {error}") from None
            check_source(config, source, halves, read, last)


def _check_draws(config: RunConfig, options: CombineOptions) -> None:
    """Raise ConfigError if a matched draw has no run to match, or cannot be matched."""
    matched = [source.kind for source in options.sources.values() if source.kind in MATCHED_EDGES + MATCHED_WEIGHTS]
    if matched and not options.counts_from:
        raise ConfigError(f"{matched[0]} needs the run whose counts it keeps: add --set counts_from=RUN.")
    if "random_degrees" in matched and config.edge_mask != "directed":
        raise ConfigError(
            "random_degrees works on directed entries: add --set edge_mask=directed, or match degree bins."
        )
    if options.sources["edges"].kind == "random_class_pairs" and not DATASETS.get(config.dataset).classes:
        raise ConfigError(f"Data set {config.dataset} has no classes: match degree bins instead (random_degree_bins).")


class _Halves:
    """The two halves of the masks of one round."""

    def __init__(self, context: RoundContext, method: Method) -> None:
        self._context, self._method = context, method
        self._options: CombineOptions = context.options
        self._graph = context.problem.graph
        self._full = context.problem.full_masks()
        self._round = self._options.round_of(context.round)

    def edges(self) -> EdgeMask:
        """Return the mask of edges."""
        source, full = self._options.sources["edges"], self._full.edges
        if source.kind == RUN:
            return self._masks_of(source.name).edges
        if source.kind in WHOLE:
            return EdgeMask(full.kind, np.full_like(full.keep, source.kind == "all"))
        if source.kind in (SCORE, INVERSE):
            pulse, is_inverse = partial(self._context.pulse, "edge scores"), source.kind == INVERSE
            ranked = static_ranks(self._graph, source.name, self._context.seed, pulse, is_inverse)
            return without_lowest(full, *ranked, full.kept - self._counts()[0])[0]
        draw = self._draw("edges").random(full.keep.size)
        if source.kind == "random":
            return full.prune_exactly(draw, full.kept - self._counts()[0])
        matched = self._masks_of(self._options.counts_from).edges
        if source.kind == "random_degrees":
            return draw_with_degrees(self._graph, matched, draw)
        of_node = self._graph.labels if source.kind == "random_class_pairs" else degree_bins(self._graph)
        groups = end_pairs(self._graph, matched.kind, of_node)
        return EdgeMask(full.kind, highest_by_group(draw, groups, matched.keep))

    def weights(self) -> WeightMask:
        """Return the mask of weights."""
        source, full = self._options.sources["weights"], self._full.weights
        if source.kind == RUN:
            return self._masks_of(source.name).weights
        if source.kind == "all":
            return full
        if source.kind == "magnitude":
            return without_smallest(self._context, self._context.previous.weights.kept - self._counts()[1])
        generator = self._draw("weights")
        draws = {name: generator.random(keep.shape) for name, keep in full.keep.items()}
        if source.kind == "random":
            return full.prune_exactly(draws, full.kept - self._counts()[1])
        matched = self._masks_of(self._options.counts_from).weights.keep
        layer = {name: np.zeros(keep.size, dtype=np.int64) for name, keep in matched.items()}
        keep = {name: highest_by_group(draws[name].ravel(), layer[name], matched[name].ravel()) for name in matched}
        return WeightMask({name: values.reshape(matched[name].shape) for name, values in keep.items()})

    def _counts(self) -> tuple[int, int]:
        """Return how many edge entries and weights to keep: those of `counts_from`, or by the rates."""
        config, full = self._context.config, self._full
        if self._options.counts_from:
            masks = self._masks_of(self._options.counts_from)
            return masks.edges.kept, masks.weights.kept
        return self._method.remaining(config, self._context.round, full.edges.kept, full.weights.kept)

    def _masks_of(self, name: str) -> Masks:
        """Return a source run's masks at this round."""
        seed = self._options.source_seed
        return self._context.find_run(name).seed(self._context.seed if seed is None else seed).masks(self._round)

    def _draw(self, half: Half) -> np.random.Generator:
        return stream(self._context.seed, 0, f"combination {half} {self._options.draw}")


METHODS.register(Combination())
