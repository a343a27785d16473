"""FastGLT (Yue et al., AAAI 2025): one cut to the target shares, then exchanges while training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, model_validator

from glt.config import Count, NonNegative, Note, OptionValue, Positive, RunConfig, Share, options_of
from glt.datasets.graph import Graph
from glt.errors import ConfigError
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask, prune_count
from glt.methods import METHODS
from glt.methods.base import FindRun, Method, Proposal, RoundContext, SearchedEdges
from glt.methods.ugs import MASKS_READ, searched_kinds
from glt.models import MODELS
from glt.training.rule import Rule

if TYPE_CHECKING:
    from torch import Tensor

    from glt.training.network import Network
    from glt.training.problem import Arrays
    from glt.training.tasks import TrainingPass

Floats = NDArray[np.floating]
EDGES = "edges"
# Keeps the logarithm of the variance finite where all masks are equal.
SMALLEST_VARIANCE = 1e-8
# The read-me's targets: shares kept of edges and of weights, by network and data set. Each run there prunes one half.
TARGETS: Mapping[tuple[str, str], tuple[float | None, float | None]] = {
    ("gcn", "cora"): (0.65, 0.07), ("gcn", "citeseer"): (None, 0.05), ("gcn", "pubmed"): (0.60, 0.01),
    ("gin", "cora"): (0.75, 0.10), ("gin", "citeseer"): (0.55, 0.02), ("gin", "pubmed"): (0.40, 0.02),
    ("gat", "cora"): (0.25, 0.015), ("gat", "citeseer"): (0.23, 0.01), ("gat", "pubmed"): (0.30, 0.01),
    ("resgcn", "ogbn-arxiv"): (0.52, 0.27),
}  # fmt: skip


class FastGLTOptions(BaseModel):
    """Targets, warm-up, exchanges and the terms on edge masks."""

    fast_edges_kept: Share | None = Field(
        None, description="Share of the edge entries kept, as published; empty = UGS's count of the round"
    )
    fast_weights_kept: Share | None = Field(
        None, description="Share of the weights kept, as published; empty = UGS's count of the round"
    )
    fast_warm_up: Annotated[int, Field(ge=0)] = Field(30, description="Epochs with soft masks before the cut")
    fast_interval: Count = Field(3, description="Epochs from one exchange to the next")
    fast_gradients: Count = Field(2, description="Epochs before an exchange whose gradients decide what returns")
    fast_share: Share = Field(0.3, description="Share of what is kept that the first exchange takes; it falls to 0")
    fast_spread: NonNegative = Field(
        0.1, description="Weight of the terms that spread the values of edge masks; 0 = off"
    )
    fast_penalty: NonNegative = Field(1e-4, description="L1 penalty on the edge masks while exchanging")
    fast_edge_step: Positive = Field(1e-3, description="Step size of the edge masks")
    fast_weight_step: Positive = Field(1e-2, description="Step size of the weight masks in the warm-up")
    mask_noise: NonNegative = Field(1e-5, description="Soft masks start at 1 + U(-noise, noise)")
    masks_from: Literal["best_validation", "last"] = Field(
        "best_validation", description="Epoch of the exchanges whose masks are kept"
    )

    @model_validator(mode="after")
    def _check_window(self) -> FastGLTOptions:
        if self.fast_gradients > self.fast_interval:
            raise ConfigError(
                f"fast_gradients cannot be {self.fast_gradients}: an exchange follows the last after "
                f"fast_interval = {self.fast_interval} epochs; choose at most that."
            )
        return self


class FastGLT(Method):
    """Each round cuts the full network once to its own targets, so rounds need not be nested.

    The publication has no rounds, only targets. Here the targets of round k are UGS's counts of round k, so that both
    can be compared at equal counts; `fast_edges_kept` and `fast_weights_kept` set the published ones, for a run of one
    round. `epochs` is the length T of the exchanges.
    """

    name = "fast_glt"
    label = "FastGLT"
    description = "Cuts once to the round's targets, then exchanges kept and pruned entries while training."
    nested = False
    ignores = frozenset({"gamma_graph", "gamma_weight"})
    Options = FastGLTOptions

    def starts_whole(self, config: RunConfig) -> bool:
        """Return True: each round starts from the full network."""
        return True

    def searched_edges(self, config: RunConfig) -> SearchedEdges | None:
        """Return all entries: each round starts from the full graph; None if p_graph is 0."""
        return "all" if config.p_graph else None

    def remaining(self, config: RunConfig, round: int, entries: int, weights: int) -> tuple[int, int]:
        """Return the targets of `round`: the shares that are set, rounded down, or UGS's counts.

        >>> FastGLT().remaining(RunConfig(options={"fast_edges_kept": 0.65}), 1, 10_556, 100)
        (6861, 80)
        """
        options = options_of(config.options, FastGLTOptions)
        left = super().remaining(config, round, entries, weights)
        if not round:
            return left
        edges_left, weights_left = left
        if options.fast_edges_kept and config.p_graph:
            edges_left = prune_count(options.fast_edges_kept, entries)
        if options.fast_weights_kept and config.p_weight:
            weights_left = prune_count(options.fast_weights_kept, weights)
        return edges_left, weights_left

    def next_masks(self, context: RoundContext) -> Proposal:
        """Warm up, cut to the targets, exchange while training, and return the masks of the epoch that is read."""
        from glt.training.network import Network, SoftMasks
        from glt.training.trainer import Schedule

        config, options, problem = context.config, context.options, context.problem
        kinds, full = searched_kinds(config), problem.full_masks()
        if not kinds:
            return Proposal(full)
        theta, values = _warm_up(context)
        targets = self.remaining(config, context.round, full.edges.kept, full.weights.kept)
        cut = _cut(full, values, theta, targets, config)
        theta = {name: value * cut.weights.keep.get(name, np.bool_(True)) for name, value in theta.items()}
        soft = None
        if values is not None:
            import torch

            soft = SoftMasks(torch.from_numpy(values * cut.edges.keep).to(problem.device).requires_grad_(), {})
        # Removed entries stay in the network with the value 0, which gives them a gradient without any message.
        network = Network(problem, full, theta, soft)
        rule = Exchange(cut, problem.graph, options, config)
        schedule = Schedule(
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            mask_learning_rate=options.fast_edge_step,
            mask_weight_decay=config.weight_decay,
            gamma_graph=options.fast_penalty,
            rule=rule,
        )
        result = context.train(network, schedule, "search")
        is_best = options.masks_from == "best_validation"
        notes: dict[str, Note] = {MASKS_READ: result.best_epoch if is_best else result.last_epoch}
        return Proposal(rule.masks(is_best), notes=notes)

    def search_epochs(self, config: RunConfig) -> int:
        """Count warm-up and exchanges."""
        warm_up = options_of(config.options, FastGLTOptions).fast_warm_up
        return warm_up + config.epochs if searched_kinds(config) else 0

    def published(self, dataset: str, model: str) -> Mapping[str, OptionValue]:
        """Return epochs, and the read-me's targets as one round; a half without a target stays whole.

        The read-me prunes either edges or weights in a run: add p_weight=0 or p_graph=0.
        """
        settings: dict[str, OptionValue] = {"epochs": 400, "retrain_epochs": 200}
        if (model, dataset) not in TARGETS:
            return settings
        edges, weights = TARGETS[model, dataset]
        settings |= {"rounds": 1} | ({"p_graph": 0.0} if edges is None else {"fast_edges_kept": edges})
        return settings if weights is None else {**settings, "fast_weights_kept": weights}

    def check(self, config: RunConfig, seeds: Sequence[int], find_run: FindRun) -> None:
        """Raise ConfigError for one target in several rounds, and for masks that restart with every cluster."""
        options = options_of(config.options, FastGLTOptions)
        if config.rounds > 1 and (options.fast_edges_kept or options.fast_weights_kept):
            raise ConfigError(
                f"Published targets are the same in every round, but rounds is {config.rounds}: set rounds to 1, or "
                "leave fast_edges_kept and fast_weights_kept empty."
            )
        clusters = MODELS.get(config.model).clusters(config)
        if clusters is not None and clusters.fresh_masks:
            raise ConfigError(
                "FastGLT exchanges edges by the values of their masks, which restart with every cluster: set "
                "cluster_masks to 'persistent'."
            )


def _warm_up(context: RoundContext) -> tuple[Arrays, NDArray[np.float32] | None]:
    """Train with soft masks; return the product of weights and masks by tensor, and the edge masks if there are any."""
    from glt.training.network import Network, SoftMasks
    from glt.training.trainer import Schedule

    config, options, problem = context.config, context.options, context.problem
    full, kinds = problem.full_masks(), searched_kinds(config)
    soft = SoftMasks.around_one(full, options.mask_noise, context.random("mask start"), problem.device, kinds)
    network = Network(problem, full, context.theta0, soft)
    if options.fast_warm_up:
        schedule = Schedule(
            epochs=options.fast_warm_up,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            mask_learning_rate=options.fast_weight_step,
            edge_learning_rate=options.fast_edge_step,
            mask_weight_decay=config.weight_decay,
            rule=Spread(options.fast_spread),
        )
        context.train(network, schedule, "warm-up")
    weights = {name: value.detach().cpu().numpy() for name, value in network.effective_weights().items()}
    return weights, None if soft.edges is None else soft.edges.detach().cpu().numpy()


def _cut(
    full: Masks, values: Floats | None, weights: Mapping[str, Floats], targets: tuple[int, int], config: RunConfig
) -> Masks:
    """Keep the largest edge masks and the largest weights down to the targets; a half with rate 0 stays whole."""
    edges, kept = full.edges, full.weights
    if values is not None:
        edges = edges.prune_exactly(np.abs(values), edges.kept - targets[0])
    if config.p_weight:
        magnitudes = {name: np.abs(weights[name]) for name in kept.keep}
        kept = kept.prune_exactly(magnitudes, kept.kept - targets[1])
    return Masks(edges, kept)


class Spread(Rule):
    """Terms that spread the values of kept edge masks: weight * (exp(-mean |m_i - m_j| / 2) - log var m).

    (In the public code removed entries count with the value 0. Their gradients then have a common part, which is larger
    than that of the training loss and decides with its sign what returns.)

    Masks start within 1e-5 of 1, where the logarithm is steep: it drives each mask away from the mean on the side where
    it started. After the warm-up on Cora (seed 0) the masks' rank correlation with their start is 0.70; without the
    terms it is 0.08.
    """

    def __init__(self, weight: float) -> None:
        self._weight = weight

    def terms(self, step: TrainingPass, network: Network) -> Tensor | None:
        """Return the terms; None with fewer than two edge masks."""
        edges = network.soft.edges if network.soft else None
        kept = None if edges is None else self._kept(edges)
        if kept is None or kept.numel() < 2 or not self._weight:
            return None
        return self._weight * ((-0.5 * mean_difference(kept)).exp() - (kept.var() + SMALLEST_VARIANCE).log())

    def _kept(self, edges: Tensor) -> Tensor:
        return edges


def mean_difference(values: Tensor) -> Tensor:
    """Return the mean of |m_i - m_j| over all n^2 pairs, from the sorted values: sum (2 i - n - 1) m_(i) * 2 / n^2.

    >>> import torch
    >>> float(mean_difference(torch.tensor([3.0, 0.0, 1.0])))  # (3 + 2 + 1) * 2 / 9
    1.3333333730697632
    """
    import torch

    count = values.numel()
    places = torch.arange(1 - count, count, 2, device=values.device, dtype=values.dtype)
    return (values.sort().values * places).sum() * (2 / count**2)


class Exchange(Spread):
    """Every `fast_interval` epochs exchanges alpha / 2 (1 + cos(pi t / T)) of what is kept, at equal counts.

    The lowest magnitudes go. The highest growth scores return, those just removed included: of weights the size of the
    mean gradient over the last epochs, of edges that plus (d_i d_j)^(-3/2), d the degrees in what is kept, 1 for a node
    without edges. New weights start at 0, new edges at the mean of the kept masks. Gradients of removed entries are
    those of the graph's own edges and the network's own weights; nothing else is a candidate.
    """

    def __init__(self, cut: Masks, graph: Graph, options: FastGLTOptions, config: RunConfig) -> None:
        super().__init__(options.fast_spread)
        self._options, self._epochs, self._kinds = options, config.epochs, searched_kinds(config)
        self._graph, self._start = graph, cut
        self._keep = {EDGES: cut.edges.keep.copy(), **{name: keep.copy() for name, keep in cut.weights.keep.items()}}
        self._best = dict(self._keep)
        self._gradients: dict[str, NDArray[np.float32]] = {}
        self._alive: dict[str, Tensor] = {}

    def masks(self, best: bool) -> Masks:
        """Return the masks of the best epoch, or of the last."""
        keep = dict(self._best if best else self._keep)
        edges = EdgeMask(self._start.edges.kind, keep.pop(EDGES))
        return Masks(edges, WeightMask(keep))

    def before_step(self, network: Network, epoch: int) -> None:
        """Add gradients up before an exchange; removed entries do not move."""
        wanted = self._options.fast_interval - epoch % self._options.fast_interval <= self._options.fast_gradients
        for name, tensor in self._tensors(network).items():
            if tensor.grad is None:
                continue
            if wanted:
                gradient = tensor.grad.cpu().numpy()
                self._gradients[name] = self._gradients[name] + gradient if name in self._gradients else gradient.copy()
            tensor.grad.mul_(self._left(name, tensor))

    def after_step(self, network: Network) -> None:
        """Keep removed entries at 0, whatever their momentum."""
        for name, tensor in self._tensors(network).items():
            tensor.data.mul_(self._left(name, tensor))

    def after_epoch(self, network: Network, epoch: int) -> bool:
        """Exchange, if it is time to."""
        done = epoch + 1
        if done % self._options.fast_interval or done >= self._epochs:
            return False
        share = self._options.fast_share / 2 * (1 + math.cos(math.pi * done / self._epochs))
        for names in ([EDGES], list(self._start.weights.keep)):
            tensors = {name: tensor for name, tensor in self._tensors(network).items() if name in names}
            if tensors:
                self._exchange(tensors, share)
        self._gradients.clear()
        self._alive.clear()
        return True

    def _exchange(self, tensors: Mapping[str, Tensor], share: float) -> None:
        """Exchange within some tensors, as if they were one."""
        import torch

        shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        values = np.concatenate([tensor.detach().cpu().numpy().ravel() for tensor in tensors.values()])
        keep = np.concatenate([self._keep[name].ravel() for name in tensors])
        growth = np.concatenate([self._growth(name, shapes[name]).ravel() for name in tensors])
        after = exchanged(keep, np.abs(values), growth, share)
        grown = after & ~keep
        start = values[keep].mean(dtype=np.float64) if EDGES in tensors and keep.any() else 0.0
        values = np.where(after, np.where(grown, np.float32(start), values), np.float32(0))
        ends = np.cumsum([tensor.numel() for tensor in tensors.values()])[:-1]
        for name, part, kept in zip(tensors, np.split(values, ends), np.split(after, ends), strict=True):
            self._keep[name] = kept.reshape(shapes[name])
            tensors[name].data.copy_(torch.from_numpy(part.reshape(shapes[name]).astype(np.float32)))

    def _growth(self, name: str, shape: tuple[int, ...]) -> Floats:
        found = self._gradients.get(name)
        size = np.zeros(shape) if found is None else np.abs(found).astype(np.float64) / self._options.fast_gradients
        if name != EDGES:
            return size
        kind = self._start.edges.kind
        entries = self._graph.entries() if kind == "directed" else self._graph.edges
        return size + degree_term(entries, self._keep[EDGES], kind == "undirected", self._graph.num_nodes)

    def on_best(self) -> None:
        """Note the masks."""
        self._best = dict(self._keep)

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return the masks of now and of the best epoch, and the gradients added up."""
        from glt.training.problem import named

        return {**named("keep", self._keep), **named("best", self._best), **named("gradients", self._gradients)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state`; raise Mismatch if it is of another network."""
        from glt.training.problem import part, under

        shapes = {name: keep.shape for name, keep in self._keep.items()}
        self._keep, self._best = (
            {name: part(name, shape, under(which, arrays), np.bool_).copy() for name, shape in shapes.items()}
            for which in ("keep", "best")
        )
        found = under("gradients", arrays)
        self._gradients = {name: part(name, shapes[name], found).copy() for name in shapes if name in found}
        self._alive.clear()

    def _kept(self, edges: Tensor) -> Tensor:
        return edges[self._left(EDGES, edges).bool()]

    def _tensors(self, network: Network) -> dict[str, Tensor]:
        """Return the tensors whose entries are exchanged, by the names of their masks."""
        edges = network.soft.edges if network.soft else None
        found = {} if edges is None else {EDGES: edges}
        if "weights" in self._kinds:
            found |= {name: network.theta[name] for name in self._start.weights.keep}
        return found

    def _left(self, name: str, tensor: Tensor) -> Tensor:
        import torch

        if name not in self._alive:
            self._alive[name] = torch.from_numpy(self._keep[name]).to(tensor)
        return self._alive[name]


def exchanged(keep: BoolArray, magnitudes: Floats, growth: Floats, share: float) -> BoolArray:
    """Return `keep` after an exchange: the lowest magnitudes go, the highest growth scores of all others return.

    >>> keep = np.array([True, True, True, False])
    >>> exchanged(keep, np.array([3.0, 1.0, 2.0, 0.0]), np.array([9.0, 5.0, 9.0, 6.0]), 0.5).tolist()
    [True, False, True, True]
    """
    count = int(share * np.count_nonzero(keep))
    kept = EdgeMask("undirected", keep).prune_exactly(magnitudes[keep], count).keep
    others = EdgeMask("undirected", ~kept)
    return kept | others.prune_exactly(growth[~kept], others.kept - count).keep


def degree_term(entries: NDArray[np.int64], keep: BoolArray, both_ends: bool, nodes: int) -> Floats:
    """Return (d_i d_j)^(-3/2) of every entry [2, n]; d counts the kept entries that a node sends, at least 1.

    >>> degree_term(np.array([[0, 0, 1], [1, 2, 2]]), np.array([True, True, False]), True, 3).round(3).tolist()
    [0.354, 0.354, 1.0]
    """
    ends = entries[:, keep].ravel() if both_ends else entries[0, keep]
    degrees = np.maximum(np.bincount(ends, minlength=nodes), 1).astype(np.float64)
    return np.asarray((degrees[entries[0]] * degrees[entries[1]]) ** -1.5)


METHODS.register(FastGLT())
