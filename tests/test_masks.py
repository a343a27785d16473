"""Masks, the receptive field of their gradients, and causes of removal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from glt.config import RunConfig
from glt.datasets import load_graph
from glt.datasets.graph import Graph, Provenance, Split
from glt.masks import EdgeMask, Masks, WeightMask, as_binary, lowest, prune_count, remaining_after
from glt.methods import METHODS
from glt.methods.base import MaskSearch, TakenEdges
from glt.presets import resolve
from glt.receptive_field import values_in_reach
from glt.removal_causes import (
    CAUSES,
    Cuts,
    cuts_of,
    cuts_without_gradient,
    had_gradient,
    removed_in,
    search_steps,
    seed_source,
    why_underived,
)
from glt.seeds import stream
from glt.sparse import Dropout, GraphOperator, features_of
from glt.store import SeedRun, Store
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.tasks import TASKS, TrainingPass
from glt.training.trainer import Schedule, Stage

# Rates as users write them: decimals between 0 and 1.
rates = st.integers(1, 9999).map(lambda ten_thousandths: ten_thousandths / 10_000)
# Few distinct values, so that ties are common.
tied_scores = arrays.arrays(np.float32, st.integers(1, 60), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0]))


@given(st.integers(1, 9999), st.integers(0, 10**12))
def test_prune_count_is_the_floor_of_the_exact_decimal(ten_thousandths: int, remaining: int) -> None:
    assert prune_count(ten_thousandths / 10_000, remaining) == ten_thousandths * remaining // 10_000


@given(tied_scores, st.data())
def test_lowest_is_a_stable_sort(scores: np.ndarray, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, scores.size))
    assert np.flatnonzero(lowest(scores, count)).tolist() == sorted(np.argsort(scores, kind="stable")[:count].tolist())


def test_lowest_refuses_nan() -> None:
    with pytest.raises(ValueError, match="NaN"):
        lowest(np.array([1.0, np.nan]), 1)


@given(tied_scores, rates)
def test_edge_mask_removes_exactly_its_share_and_nests(scores: np.ndarray, rate: float) -> None:
    full = EdgeMask.full("undirected", scores.size)
    once = full.prune(scores, rate)
    twice = once.prune(scores[once.keep], rate)
    assert once.kept == scores.size - prune_count(rate, scores.size)
    assert twice.kept == once.kept - prune_count(rate, once.kept)
    assert twice.within(once)
    assert once.within(full)
    if once.kept < full.kept:
        assert not full.within(once)
        assert scores[~once.keep].max() <= scores[once.keep].min()


def test_directed_mask_counts_both_ways_and_either_way() -> None:
    # Edges a, b, c: a survives both ways, b one way, c not at all.
    mask = EdgeMask("directed", np.array([1, 1, 0, 1, 0, 0]))
    assert mask.num_edges == 3
    assert mask.either_way().tolist() == [True, True, False]
    assert mask.both_ways().tolist() == [True, False, False]
    assert mask.sparsity == 0.5


def test_a_mask_over_no_edges_is_not_sparse() -> None:
    assert EdgeMask.full("directed", 0).sparsity == 0.0
    assert WeightMask.full({}).sparsity == 0.0


@pytest.mark.parametrize("values", [[0.5, 1.0], [2, 1], [np.nan, 1.0], [-1, 0]])
def test_masks_accept_only_zero_and_one(values: list[float]) -> None:
    for make in (as_binary, lambda v: EdgeMask("undirected", v), lambda v: WeightMask({"w": v})):
        with pytest.raises(ValueError, match="only 0 and 1"):
            make(np.array(values))


def test_edge_mask_refuses_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="two values per edge"):
        EdgeMask("directed", np.ones(3))
    with pytest.raises(ValueError, match="scores for 4 surviving"):
        EdgeMask.full("directed", 2).prune(np.ones(3), 0.5)


def test_masks_are_immutable() -> None:
    values = np.ones(4, dtype=bool)
    mask = EdgeMask("undirected", values)
    values[:] = False
    assert mask.kept == 4


@given(tied_scores, tied_scores, rates)
def test_weights_share_one_threshold(first: np.ndarray, second: np.ndarray, rate: float) -> None:
    scores = {"a": first, "b": second}
    full = WeightMask.full({name: array.shape for name, array in scores.items()})
    pruned = full.prune(scores, rate)
    assert pruned.kept == full.total - prune_count(rate, full.total)
    assert pruned.within(full)
    together = EdgeMask.full("undirected", full.total).prune(np.concatenate([first, second]), rate)
    assert np.concatenate([pruned.keep["a"], pruned.keep["b"]]).tolist() == together.keep.tolist()


def test_weight_mask_keeps_shapes_and_prunes_only_survivors() -> None:
    scores = {"w": np.arange(6.0).reshape(2, 3), "v": np.array([9.0, -9.0])}
    pruned = WeightMask.full({"w": (2, 3), "v": (2,)}).prune_exactly(scores, 3)
    assert pruned.keep["w"].tolist() == [[False, False, True], [True, True, True]]
    assert pruned.keep["v"].tolist() == [True, False]
    again = pruned.prune_exactly(scores, 1)
    assert again.keep["w"].tolist() == [[False, False, False], [True, True, True]]
    assert again.sparsity == 0.5


def test_a_pair_nests_if_both_masks_nest() -> None:
    edges, weights = EdgeMask.full("undirected", 4), WeightMask.full({"w": (4,)})
    fewer_edges = edges.prune(np.zeros(4), 0.5)
    fewer_weights = weights.prune({"w": np.zeros(4)}, 0.5)
    assert Masks(fewer_edges, fewer_weights).within(Masks(edges, fewer_weights))
    assert not Masks(fewer_edges, weights).within(Masks(edges, fewer_weights))
    assert not weights.within(WeightMask.full({"other": (4,)}))


def test_many_rounds_remove_exact_counts() -> None:
    left = 100_000
    for number in range(200):
        assert remaining_after(0.05, 100_000, number) == left
        left -= prune_count(0.05, left)


DRAWS = 6
# In double precision what cancels is left with 1e-16 of the largest gradient; the smallest true one here has 1e-7.
ZERO = 1e-12
DOUBLE = torch.float64
NODES = 44

GCN = [{"degree": degree} for degree in ("source", "target", "both", "fixed")]
GIN = [
    {"model": "gin"},
    {"model": "gin", "gin_aggregation": "mean", "gin_degree": "original", "gin_mlp": "one"},
    {"model": "gin", "gin_aggregation": "mean", "gin_degree": "surviving"},
    {"model": "gin", "gin_aggregation": "mean", "gin_read_out": "jumping", "gin_last_relu": True},
]
GAT = [{"model": "gat", "gat_heads": 2}, {"model": "gat", "gat_heads": 2, "gat_mask": "logit"}]
RESGCN = [
    {"model": "resgcn", "gen_norm": norm, "gen_mask": mask, "gen_gradient": gradient, "gen_self_loops": loops}
    for norm, mask, gradient, loops in (
        ("layer", "absent", "full", False),
        ("layer", "absent", "stopped", True),
        ("layer", "message", "full", False),
        ("layer", "message", "full", True),
        ("layer", "message", "stopped", False),
        ("batch", "absent", "full", False),
    )
]
RESGCN += [{"model": "resgcn", "gen_norm": "layer", "gen_mlp": 2, "edge_features": 2}]
LINKS = [{"task": "link", "link_objective": objective} for objective in ("gic", "bce", "hadamard")]


def graph_of(draw: int, edge_features: int = 0) -> Graph:
    """A long path with a few short cuts, and a part that no training node reaches."""
    rng = np.random.default_rng(draw)
    path = np.stack([np.arange(32), np.arange(1, 33)])
    apart = np.stack([np.arange(34, NODES - 1), np.arange(35, NODES)])
    low, step = rng.integers(0, 24, 8), rng.integers(2, 6, 8)
    edges = np.unique(np.concatenate([path, apart, np.stack([low, low + step])], axis=1), axis=1)
    return Graph(
        name="path",
        edges=edges,
        features=csr_array(rng.random((NODES, 5), dtype=np.float32) + np.float32(0.1)),
        labels=rng.integers(0, 3, NODES),
        split=Split(np.array([4, 5, 21]), np.arange(24, 30), np.arange(30, 36)),
        provenance=Provenance("by hand", edges.shape[1], 0, 0),
        edge_features=rng.random((edges.shape[1], edge_features), dtype=np.float32) if edge_features else None,
    )


def problem_of(settings: dict[str, Any]) -> Problem:
    values = {"hidden": 6, "layers": 2, "link_dimension": 4, "gic_clusters": 3, **settings}
    features = values.pop("edge_features", 0)
    if values.get("task") != "link":
        del values["link_dimension"], values["gic_clusters"]
    return Problem(resolve({"dataset": "cora", **values}), graph_of(len(str(settings)), features))


def pruned(graph: Graph, kind: str, draw: int = 0) -> EdgeMask:
    full = EdgeMask.full(kind, graph.num_edges)  # type: ignore[arg-type]
    return full.prune(np.random.default_rng(draw).random(full.kept), 0.3)


def by_autograd(problem: Problem, mask: EdgeMask) -> np.ndarray:
    """Return for each surviving value whether the loss has a gradient there for any of some random weights."""
    found = np.zeros(mask.kept, dtype=np.bool_)
    for draw in range(DRAWS):
        gradient = np.abs(_gradient(problem, mask, draw))
        found |= gradient > ZERO * gradient.max()
    return found


def _gradient(problem: Problem, mask: EdgeMask, draw: int) -> np.ndarray:
    config, model = problem.config, problem.model
    torch_rng = torch.Generator().manual_seed(draw)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=DOUBLE, generator=torch_rng)

    soft = (1 + 0.1 * normal(mask.kept)).clamp(min=0.5).requires_grad_()
    values, structure = soft, mask
    if model.keeps_pruned_edges(config):
        structure = problem.full_masks().edges
        values = soft.new_zeros(structure.kept).index_put((torch.from_numpy(np.flatnonzero(mask.keep)),), soft)
    operator = GraphOperator(problem.graph, structure, dtype=DOUBLE)
    start = {spec.name: 1.0 if spec.start is None else spec.start for spec in problem.specs}
    weights = {
        spec.name: normal(*spec.shape) if spec.start is None else start[spec.name] + 0.2 * normal(*spec.shape)
        for spec in problem.specs
    }
    features = features_of(problem.graph, dtype=DOUBLE, keep_product=True)

    def output(order: torch.Tensor | None = None) -> torch.Tensor:
        rows = features if order is None else features.shuffled(order)
        stem = model.stem(operator, values, rows, weights, config)
        return model.head(stem, weights, Dropout(0, None), config)

    rng = np.random.default_rng(draw)
    loss = problem.task.loss(TrainingPass(output(), weights, rng, output))
    (gradient,) = torch.autograd.grad(loss, soft)
    return gradient.numpy()


def assert_field_equals_autograd(settings: dict[str, Any]) -> np.ndarray:
    problem = problem_of(settings)
    mask = pruned(problem.graph, settings["edge_mask"])
    loss_nodes = TASKS.get(problem.config.task).loss_nodes(problem.graph)
    effect = problem.model.mask_effect(problem.config)
    found = values_in_reach(problem.graph, mask, loss_nodes, problem.config.layers, effect)[mask.keep]
    assert np.array_equal(by_autograd(problem, mask), found)
    return found


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("settings", [*GCN, *GIN, *GAT, *RESGCN])
def test_mask_gradients_match_the_receptive_field(settings: dict[str, Any], layers: int, kind: str) -> None:
    expected = assert_field_equals_autograd({**settings, "layers": layers, "edge_mask": kind})
    assert expected.any()
    # The part apart has none, unless a statistic over all nodes joins it to the rest.
    assert settings.get("gen_norm") == "batch" or not expected.all()


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("model", [{}, {"model": "gin", "gin_aggregation": "mean"}, {"model": "gat", "gat_heads": 2}])
@pytest.mark.parametrize("settings", LINKS)
def test_in_link_prediction_every_node_has_a_gradient(
    settings: dict[str, Any], model: dict[str, Any], kind: str
) -> None:
    """Only where a mean has one edge left does its mask learn nothing."""
    expected = assert_field_equals_autograd({**settings, **model, "edge_mask": kind})
    assert expected.all() == (model.get("model") != "gin")


def test_receptive_field_of_degrees_by_hand() -> None:
    """A path 0 - 1 - 2 - 3 - 4 with node 0 trained on, two layers: each entry by hand."""
    edges = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    path = Graph(
        name="path",
        edges=edges,
        features=csr_array(np.ones((5, 2), dtype=np.float32)),
        labels=np.zeros(5, dtype=np.int64),
        split=Split(np.array([0]), np.array([1]), np.array([2])),
        provenance=Provenance("by hand", 4, 0, 0),
    )
    full = EdgeMask.full("directed", 4)

    def told_with(degree: str) -> list[list[int]]:
        config = resolve({"dataset": "cora", "degree": degree})
        effect = Problem(config, path).model.mask_effect(config)
        found = values_in_reach(path, full, np.array([0]), 2, effect)
        source, target = path.entries()[:, found]
        return sorted(map(list, zip(source.tolist(), target.tolist(), strict=True)))

    # Messages reach node 0 from 2 and 1; the row of node 2 counts what 2 sends, to 3 as well.
    assert told_with("fixed") == [[0, 1], [1, 0], [2, 1]]
    assert told_with("source") == told_with("both") == [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3]]
    assert told_with("target") == [[0, 1], [1, 0], [1, 2], [2, 1], [3, 2]]


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("settings", [*GCN, *GIN, *GAT])
def test_a_removed_entry_is_in_reach_if_it_has_a_gradient_once_it_is_back(settings: dict[str, Any], kind: str) -> None:
    problem = problem_of({**settings, "edge_mask": kind})
    mask = pruned(problem.graph, kind)
    loss_nodes = TASKS.get(problem.config.task).loss_nodes(problem.graph)
    about = loss_nodes, problem.config.layers, problem.model.mask_effect(problem.config)
    found = values_in_reach(problem.graph, mask, *about)
    removed = np.flatnonzero(~mask.keep)
    assert removed.size
    for entry in removed.tolist():
        keep = mask.keep.copy()
        keep[entry] = True
        assert found[entry] == values_in_reach(problem.graph, EdgeMask(kind, keep), *about)[entry]


EXAMPLES = Path(__file__).parents[1] / "examples" / "runs"
ROUND = 13


@pytest.fixture(scope="module")
def example() -> SeedRun:
    return Store(EXAMPLES).find("cora-node-gcn-ugs-df8e8f72").seed(0)


def shares_of(config: RunConfig, graph: Graph, masks: list[EdgeMask]) -> list[float | None]:
    """Return `cuts_without_gradient` of rounds 1, 2, ... with the masks of rounds 0, 1, ..."""
    return [cuts_without_gradient(config, graph, before, after) for before, after in pairwise(masks)]


def test_late_removals_of_the_bundled_run_had_no_gradient(example: SeedRun) -> None:
    shares = shares_of(example.config, load_graph("cora"), [example.edge_mask(number) for number in range(21)])
    assert shares[:9] == [0.0] * 9
    assert {number: round(shares[number - 1] or 0, 4) for number in (13, 17, 20)} == {13: 0.4, 17: 0.9095, 20: 0.9799}


def test_steps_of_a_search_count_the_edges_it_removed(example: SeedRun) -> None:
    cora = load_graph("cora")
    steps = search_steps(example, cora, ROUND)
    kept = [example.edge_mask(number).either_way() for number in range(ROUND + 1)]
    assert [sum(step.lost) for step in steps] == [int((a & ~b).sum()) for a, b in pairwise(kept)]
    assert sum(step.lost[0] for step in steps[:9]) == 0
    assert steps[-1].lost[0] > 0
    gradient = had_gradient(example.config, cora, example.edge_mask(ROUND - 1))
    assert gradient is not None
    assert (steps[-1].in_reach >= gradient.reshape(2, -1).sum(axis=0)).all()
    ticket = Store(EXAMPLES).find("cora-node-gcn-reinit-f5de2516").seed(0)
    assert [step.lost for step in search_steps(ticket, cora, ROUND)] == [step.lost for step in steps]
    random = Store(EXAMPLES).find("cora-node-gcn-random-113e68a9").seed(0)
    assert search_steps(random, cora, ROUND) == search_steps(example, cora, 0) == []


def test_data_gradients_in_a_search_match_the_receptive_field(example: SeedRun) -> None:
    config, number = example.config, ROUND
    problem = Problem(config, load_graph("cora"))
    before = example.masks(number - 1)
    # The weights are few, so that the test is quick; edges and field are those of the example.
    small = problem.under(config.model_copy(update={"hidden": 16}))
    masks = Masks(before.edges, small.full_masks().weights)
    soft = SoftMasks.around_one(masks, 1e-5, stream(0, number, "mask start"), "cpu")
    network = Network(small, masks, small.initial_weights(0), soft)
    largest = np.zeros(before.edges.kept)
    penalty = network.add_penalty_gradient

    def watched(gamma_graph: float, gamma_weight: float) -> None:
        assert soft.edges.grad is not None
        np.maximum(largest, soft.edges.grad.abs().numpy(), out=largest)
        penalty(gamma_graph, gamma_weight)

    network.add_penalty_gradient = watched  # type: ignore[method-assign]
    schedule = Schedule(20, 0.01, 5e-4, 0.01, 5e-4, config.gamma_graph, config.gamma_weight)
    Stage(network, schedule, stream(0, number, "search")).run(lambda epoch: None)
    gradient = had_gradient(config, problem.graph, before.edges)
    assert gradient is not None
    assert np.array_equal(largest > 0, gradient[before.edges.keep])


def some_masks(graph: Graph) -> list[EdgeMask]:
    masks, rng = [EdgeMask.full("directed", graph.num_edges)], np.random.default_rng(0)
    for _ in range(3):
        masks.append(masks[-1].prune(rng.random(masks[-1].kept), 0.3))
    return masks


@pytest.mark.parametrize("schedule", ["one_run", "one_shot"])
def test_causes_of_schedules_from_the_full_network(small_graph: Graph, schedule: str) -> None:
    masks = some_masks(small_graph)
    config = resolve({"dataset": "cora", "schedule": schedule})
    assert removed_in(config, masks[1], masks[2]).sum() == masks[0].kept - masks[2].kept
    whole = had_gradient(config, small_graph, masks[2])
    assert whole is not None
    # Nodes 4 and 5 stand apart, with an edge of their own.
    assert whole.tolist() == [True] * 4 + [False] + [True] * 4 + [False]
    share = cuts_without_gradient(config, small_graph, masks[1], masks[2])
    assert share == (~masks[2].keep & ~whole).sum() / (~masks[2].keep).sum()


@pytest.mark.parametrize("method", ["ace_glt", "fast_glt", "wd_glt"])
def test_searches_with_exchanges_or_a_distance_have_causes(method: str, small_graph: Graph) -> None:
    """FastGLT begins with the whole graph, ACE-GLT with the survivors; WD-GLT's loss reads all nodes."""
    config, masks = resolve({"dataset": "cora", "method": method}), some_masks(small_graph)
    # An entry returns in the last round.
    returned = masks[3].keep.copy()
    returned[np.flatnonzero(~masks[2].keep)[0]] = True
    masks[3] = EdgeMask("directed", returned)
    for cuts, (before, after) in zip(cuts_of(config, small_graph, masks), pairwise(masks), strict=True):
        first = masks[0] if method == "fast_glt" else before
        assert cuts.removed.tolist() == (first.keep & ~after.keep).tolist()
        assert not cuts.codes[after.keep].any()
        gradient = had_gradient(config, small_graph, before)
        assert gradient is not None
        assert gradient.tolist() == (first.keep & (gradient | (method == "wd_glt"))).tolist()
        fresh = before.keep & ~after.keep
        words = [CAUSES[code] for code in cuts.codes[fresh]]
        assert words == ["gradient" if known else "no gradient" for known in gradient[fresh]]


@pytest.mark.parametrize("method", ["random", "admm", "reinit", "score"])
def test_methods_without_a_mask_search_have_one_cause(method: str, small_graph: Graph) -> None:
    config, masks = resolve({"dataset": "cora", "method": method}), some_masks(small_graph)
    assert shares_of(config, small_graph, masks) == [None] * 3
    assert why_underived(config) == ""
    cause = {"random": "random", "admm": "solver", "reinit": None, "score": "score"}[method]
    for cuts, (before, after) in zip(cuts_of(config, small_graph, masks), pairwise(masks), strict=True):
        assert cuts.counts() == {cause: before.kept - after.kept}
        assert (cuts.codes == np.where(after.keep, 0, CAUSES.index(cause))).all()


def test_causes_of_an_iterative_search(small_graph: Graph) -> None:
    config, masks = resolve({"dataset": "cora"}), some_masks(small_graph)
    full = masks[0]
    assert cuts_without_gradient(config, small_graph, full, full) is None
    for cuts, (before, after) in zip(cuts_of(config, small_graph, masks), pairwise(masks), strict=True):
        gradient = had_gradient(config, small_graph, before)
        assert gradient is not None
        removed = before.keep & ~after.keep
        assert [CAUSES[code] for code in cuts.codes[removed]] == [
            "gradient" if known else "no gradient" for known in gradient[removed]
        ]
        assert not cuts.codes[after.keep].any()
    assert (cuts.codes[~after.keep] > 0).all()


def test_a_loss_on_all_nodes_gives_every_entry_a_gradient(monkeypatch: pytest.MonkeyPatch, small_graph: Graph) -> None:
    config, masks = resolve({"dataset": "cora"}), some_masks(small_graph)
    assert any("no gradient" in cuts.counts() for cuts in cuts_of(config, small_graph, masks))
    reading = MaskSearch("survivors", reads_all_nodes=True)
    monkeypatch.setattr(type(METHODS.get("ugs")), "edge_decision", lambda self, config: reading)
    assert all([*cuts.counts()] == ["gradient"] for cuts in cuts_of(config, small_graph, masks))


def test_taken_edges_have_the_causes_of_their_source(monkeypatch: pytest.MonkeyPatch, small_graph: Graph) -> None:
    """Rounds 1 and 2 of the reader take rounds 1 and 3 of a search; an unknown source leaves causes unknown."""
    source, masks = resolve({"dataset": "cora"}), some_masks(small_graph)
    reader = resolve({"dataset": "cora", "method": "reinit"})
    monkeypatch.setattr(type(METHODS.get("reinit")), "edge_decision", lambda self, config: TakenEdges("SOURCE", (1, 3)))
    asked = []

    def removals(name: str) -> Iterator[Cuts]:
        asked.append(name)
        return cuts_of(source, small_graph, masks)

    theirs = list(removals("SOURCE"))
    first, second = cuts_of(reader, small_graph, [masks[0], masks[1], masks[3]], removals)
    assert asked == ["SOURCE"] * 2
    assert first.codes.tolist() == theirs[0].codes.tolist()
    assert second.codes.tolist() == theirs[2].codes.tolist()
    assert second.removed.tolist() == (masks[1].keep & ~masks[3].keep).tolist()
    (unknown,) = cuts_of(reader, small_graph, masks[:2])
    assert unknown.counts() == {None: masks[0].kept - masks[1].kept}


def test_a_random_ticket_in_the_store_has_the_causes_of_its_source(example: SeedRun) -> None:
    cora = load_graph("cora")
    ticket = Store(EXAMPLES).find("cora-node-gcn-reinit-f5de2516").seed(0)
    shown = [
        list(cuts_of(one.config, cora, map(one.edge_mask, range(ROUND + 1)), seed_source(one, cora)))
        for one in (ticket, example)
    ]
    assert "no gradient" in shown[1][-1].counts()
    for cuts, theirs in zip(*shown, strict=True):
        assert np.array_equal(cuts.codes, theirs.codes)


def test_causes_are_unknown_with_mini_batches(small_graph: Graph) -> None:
    config = resolve({"dataset": "cora", "model": "resgcn", "batch_clusters": 2})
    assert shares_of(config, small_graph, some_masks(small_graph)) == [None] * 3
    assert "mini-batches" in why_underived(config)
