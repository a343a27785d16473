"""Pruning by an edge score: counts, pairs, nesting, draws, its options, and rounds on Cora."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from glt.config import options_of
from glt.datasets import load_graph
from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.errors import ConfigError
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.base import Proposal, RoundContext
from glt.methods.score import SCORE_DRAWS, ScoreOptions
from glt.presets import resolve
from glt.scores import SCORES, Structure
from glt.seeds import stream
from tests.conftest import Compute, Watcher

SHAPES = {"layers.0.weight": (6, 4), "layers.1.weight": (4, 3)}
ROUNDS, RATE = 6, 0.23


@pytest.fixture
def graph() -> Graph:
    """Ninety nodes, some isolated, with two features."""
    drawn = nx.gnp_random_graph(80, 0.06, seed=4)
    edges, _, _ = simple_edges(np.array(drawn.edges).T, 90)
    nodes = np.arange(90)
    features = np.random.default_rng(0).random((90, 2)).astype(np.float32)
    split = Split(nodes[:30], nodes[30:60], nodes[60:])
    return Graph("ninety", edges, csr_array(features), nodes % 3, split, Provenance("by hand", edges.shape[1], 0, 0))


def context(graph: Graph, round_: int, previous: Masks, seed: int = 0, **settings: Any) -> RoundContext:
    """Return the context of a round without training: weights after round k are a draw of k."""
    rates = {"p_graph": RATE, "p_weight": RATE}
    config = resolve({"method": "score", "edge_mask": previous.edges.kind, **rates, **settings})
    draws = np.random.default_rng([round_, 7])
    trained = {name: draws.normal(size=size) for name, size in SHAPES.items()}

    def never(*_: object) -> Any:
        raise AssertionError("nothing is trained, and no other run is read")

    return RoundContext(
        SimpleNamespace(config=config, graph=graph),  # type: ignore[arg-type]
        seed,
        round_,
        {},
        previous,
        options_of(config.options, ScoreOptions),
        never,
        lambda stage, step, steps: None,
        never,
        lambda: trained,
    )


def proposals(graph: Graph, kind: Any = "directed", seed: int = 0, **settings: Any) -> Iterator[tuple[Masks, Proposal]]:
    """Yield the masks before each round, and its proposal."""
    masks = Masks(EdgeMask.full(kind, graph.num_edges), WeightMask.full(SHAPES))
    for number in range(1, ROUNDS + 1):
        proposal = METHODS.get("score").next_masks(context(graph, number, masks, seed, **settings))
        yield masks, proposal
        masks = proposal.masks


def one_way(mask: EdgeMask) -> int:
    return int((mask.either_way() & ~mask.both_ways()).sum())


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("score", SCORES.names())
def test_counts_are_exact_rounds_nested_and_edges_removed_in_pairs(
    graph: Graph, score: str, kind: str, recompute: bool, inverse: bool
) -> None:
    entries = graph.num_edges * (2 if kind == "directed" else 1)
    options = {"score": score, "recompute": recompute, "inverse": inverse}
    for number, (before, proposal) in enumerate(proposals(graph, kind, **options), 1):
        masks = proposal.masks
        assert masks.within(before)
        assert masks.edges.kept == remaining_after(RATE, entries, number)
        assert masks.weights.kept == remaining_after(RATE, 36, number)
        # A static order finishes the edge that the last round left one-way first.
        assert one_way(masks.edges) <= (1 if not recompute else one_way(before.edges) + 1)
        scores = proposal.edge_scores
        assert scores is not None
        assert scores.shape == (before.edges.kept,)
        removed = ~masks.edges.keep[before.edges.keep]
        assert scores[removed].max() <= scores[~removed].min()


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_static_scores_are_those_of_the_full_graph_in_every_round(graph: Graph, kind: str) -> None:
    known = SCORES.get("dspar").of(Structure.of(graph), stream(3, 0, SCORE_DRAWS)).astype(np.float32)
    whole = np.tile(known, 2) if kind == "directed" else known
    for before, proposal in proposals(graph, kind, seed=3, score="dspar"):
        assert np.array_equal(proposal.edge_scores, whole[before.edges.keep])


def test_the_inverse_removes_first_what_the_score_keeps_longest(graph: Graph) -> None:
    usual, inverse = (
        [proposal for _, proposal in proposals(graph, "undirected", score="dspar", inverse=inverse)]
        for inverse in (False, True)
    )
    assert np.array_equal(inverse[0].edge_scores, -usual[0].edge_scores)
    assert (usual[-1].masks.edges.keep & inverse[-1].masks.edges.keep).sum() == 0
    assert (usual[0].masks.edges.keep | inverse[0].masks.edges.keep).all()


def test_recomputed_scores_are_those_of_the_remaining_graph(graph: Graph) -> None:
    for before, proposal in proposals(graph, score="degree_product", recompute=True):
        alive = before.edges.either_way()
        left = Structure.of(graph, graph.edges[:, alive])
        known = np.full(graph.num_edges, np.nan)
        known[alive] = SCORES.get("degree_product").of(left, np.random.default_rng(0))
        assert np.array_equal(proposal.edge_scores, np.tile(known, 2)[before.edges.keep].astype(np.float32))


@pytest.mark.parametrize("recompute", [False, True])
def test_draws_depend_on_the_seed_alone(graph: Graph, recompute: bool) -> None:
    """Also between equal scores: all edges of a cycle have the same degree product."""
    edges, _, _ = simple_edges(np.array(nx.cycle_graph(60).edges).T, 90)
    cycle = replace(graph, edges=edges)

    def kept(seed: int) -> np.ndarray:
        *_, (_, last) = proposals(cycle, seed=seed, score="degree_product", recompute=recompute)
        return last.masks.edges.keep

    assert np.array_equal(kept(0), kept(0))
    assert not np.array_equal(kept(0), kept(1))


def test_scores_kept_from_another_seed_score_or_graph_are_not_used(graph: Graph) -> None:
    def first(graph: Graph, seed: int, score: str) -> np.ndarray:
        return np.asarray(next(proposals(graph, seed=seed, score=score))[1].edge_scores)

    cases = [(graph, 0, "random"), (graph, 1, "random"), (graph, 1, "dspar"), (replace(graph), 0, "random")]
    once = [first(*case) for case in cases]
    assert all(np.array_equal(first(*case), known) for case, known in zip(reversed(cases), reversed(once), strict=True))
    assert np.array_equal(once[0], once[3])
    assert not np.array_equal(once[0], once[1])


def test_weights_go_by_the_magnitude_that_retraining_left(graph: Graph) -> None:
    for number, (before, proposal) in enumerate(proposals(graph), 1):
        trained = context(graph, number, before).last_weights()
        kept, gone = list[np.ndarray](), list[np.ndarray]()
        for name, keep in proposal.masks.weights.keep.items():
            kept.append(np.abs(trained[name][keep]))
            gone.append(np.abs(trained[name][before.weights.keep[name] & ~keep]))
        assert np.concatenate(gone).max() < np.concatenate(kept).min()


def test_weights_by_a_draw_need_no_trained_weights(graph: Graph) -> None:
    found = [[p.masks.weights for _, p in proposals(graph, seed=seed, weights="random")] for seed in (0, 0, 1)]
    flat = [np.concatenate([keep.ravel() for keep in masks[-1].keep.values()]) for masks in found]
    assert np.array_equal(flat[0], flat[1])
    assert not np.array_equal(flat[0], flat[2])


def test_a_rate_of_zero_keeps_that_half_and_computes_nothing_for_it(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, (_, last) = proposals(graph, p_weight=0)
    assert last.masks.weights.sparsity == 0 < last.masks.edges.sparsity
    monkeypatch.setattr("glt.methods.score._of_edges", None)
    *_, (_, last) = proposals(graph, p_graph=0)
    assert last.masks.edges.sparsity == 0 < last.masks.weights.sparsity
    assert last.edge_scores is None


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("score", SCORES.names())
def test_a_graph_without_edges_keeps_its_empty_mask(graph: Graph, score: str, recompute: bool) -> None:
    empty = replace(graph, edges=graph.edges[:, :0])
    for _, proposal in proposals(empty, score=score, recompute=recompute):
        assert proposal.masks.edges.keep.shape == (0,)


# Settings.


def test_an_unknown_score_is_one_sentence_beside_other_errors() -> None:
    with pytest.raises(ConfigError, match=r"Unknown score 'local_degre': did you mean 'local_degree'\? Known: .*teddy"):
        resolve({"method": "score", "score": "local_degre"})
    with pytest.raises(ConfigError, match=r"2 settings .*rounds cannot be 'x'.*Unknown score 'q'"):
        resolve({"method": "score", "score": "q", "rounds": "x"})
    assert resolve({"method": "score"}).options == {
        "inverse": False, "recompute": False, "score": "local_degree", "weights": "magnitude",
    }  # fmt: skip


def test_a_data_set_that_is_too_large_is_refused_before_anything_starts() -> None:
    method, large = METHODS.get("score"), {"method": "score", "dataset": "ogbn-proteins", "model": "resgcn"}

    def never(name: str) -> Any:
        raise AssertionError("no other run is read")

    with pytest.raises(ConfigError, match="effective_resistance is limited to 5,000,000 edges"):
        method.check(resolve({**large, "score": "effective_resistance"}), [0], never)
    method.check(resolve({**large, "score": "dspar"}), [0], never)
    method.check(resolve({**large, "score": "effective_resistance", "p_graph": 0}), [0], never)
    method.check(resolve({"method": "score", "score": "effective_resistance"}), [0], never)


# Real rounds.


@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
def test_two_rounds_on_cora(compute: Compute, edge_mask: str) -> None:
    run = compute(method="score", edge_mask=edge_mask)
    graph = load_graph("cora")
    scores = SCORES.get("local_degree").of(Structure.of(graph), stream(0, 0, SCORE_DRAWS))
    for number in (1, 2):
        kept = run.masks(number).edges.either_way()
        assert scores[~kept].max() <= scores[kept].min()
        stored = run.edge_scores(number)
        assert stored is not None
        assert stored.size == run.masks(number - 1).edges.kept
        trained, weights = run.weights(number - 1), run.masks(number).weights
        largest = max(np.abs(trained[name][~keep]).max() for name, keep in weights.keep.items())
        assert largest <= min(np.abs(trained[name][keep]).min() for name, keep in weights.keep.items())
    assert audit(run, 2).passed
    assert {event.stage for event in run.events()[0]} == {"retrain"}


@pytest.mark.parametrize(
    "settings", [{"score": "jaccard", "recompute": True}, {"score": "dspar", "recompute": True}], ids=str
)
def test_stopping_in_any_round_and_resuming_gives_the_same_bytes(compute: Compute, settings: dict[str, Any]) -> None:
    whole = compute(store="whole", method="score", **settings)
    # The seventh report of Jaccard comes from the score itself.
    for stop in (4, 7, 8, 15):
        store = f"cut {stop}"
        with pytest.raises(Stopped):
            compute(store=store, observer=Watcher(stop), method="score", **settings)
        resumed = compute(store=store, method="score", **settings)
        for path in whole.path.glob("*.safetensors"):
            assert (resumed.path / path.name).read_bytes() == path.read_bytes()
