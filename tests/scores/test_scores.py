"""Every score by hand on small graphs, under other node numbers, and against independent formulae."""

from __future__ import annotations

from math import log, sqrt

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from glt.errors import ConfigError, StudioError
from glt.scores import SCORES, EdgeScore, Structure, edge_ranks, resistance
from glt.scores.base import FloatArray
from glt.scores.resistance import exact_resistance, projected_resistance

NAMES = {
    "degree_product", "dspar", "effective_resistance", "feature_cosine", "jaccard", "k_neighbour", "local_degree",
    "local_similarity", "random", "spanning_forest", "teddy",
}  # fmt: skip
WITHOUT_DRAWS = ("degree_product", "effective_resistance", "feature_cosine", "jaccard", "teddy")
LIMITED = [score for score in SCORES if score.most_edges is not None]

# A triangle with a tail: 0, 1 and 2, then 3 and 4. Degrees 2, 2, 3, 2, 1.
TAIL = np.array([[0, 0, 1, 2, 3], [1, 2, 2, 3, 4]])
FEATURES = np.array([[1, 0], [1, 1], [0, 2], [0, 0], [3, 4]], dtype=np.float32)
G = [(1 / sqrt(2) + 1 / sqrt(3)) / 2] * 2 + [1 / sqrt(2), (1 / sqrt(3) + 1) / 2, 1 / sqrt(2)]
EXPECTED = {
    "degree_product": [1 / 2, 1 / sqrt(6), 1 / sqrt(6), 1 / sqrt(6), 1 / sqrt(2)],
    # Nodes 0 and 1 prefer node 2, node 3 too, and node 4 has no choice; the ties at node 2 decide nothing.
    "local_degree": [0, 1, 1, 1, 1],
    "jaccard": [1 / 3, 1 / 4, 1 / 4, 0, 0],
    "feature_cosine": [1 / sqrt(2), 0, 1 / sqrt(2), 0, 0],
    "teddy": [G[0] * G[1] / 4, G[0] * G[2] / 6, G[1] * G[2] / 6, G[2] * G[3] / 6, G[3] * G[4] / 2],
    "effective_resistance": [2 / 3, 2 / 3, 2 / 3, 1, 1],
}


def tail() -> Structure:
    return Structure(TAIL, 5, FEATURES)


def scored(name: str, structure: Structure, seed: int = 0) -> FloatArray:
    return SCORES.get(name).of(structure, np.random.default_rng(seed))


def structure_of(graph: nx.Graph, features: np.ndarray | None = None) -> Structure:
    pairs = np.sort(np.array(list(graph.edges)).reshape(-1, 2), axis=1)
    return Structure(pairs[np.lexsort(pairs.T[::-1])].T, graph.number_of_nodes(), features)


def graph_of(structure: Structure) -> nx.Graph:
    graph = nx.empty_graph(structure.num_nodes)
    graph.add_edges_from(structure.edges.T.tolist())
    return graph


@pytest.fixture
def mixed() -> Structure:
    """Several components, a tree hanging on, isolated nodes, and random features with a row of zeros."""
    graph = nx.disjoint_union_all([nx.gnp_random_graph(60, 0.1, seed=1), nx.cycle_graph(7), nx.empty_graph(3)])
    graph.add_edges_from([(0, 70), (70, 71), (70, 72)])
    features = (np.random.default_rng(0).random((graph.number_of_nodes(), 5)) < 0.4).astype(np.float32)
    features[3] = 0
    return structure_of(graph, features)


def relabelled(structure: Structure, seed: int) -> tuple[Structure, np.ndarray]:
    """Return the same graph under other numbers, and where each of its edges was."""
    numbers = np.random.default_rng(seed).permutation(structure.num_nodes)
    edges = np.sort(numbers[structure.edges], axis=0)
    places = np.lexsort(edges[::-1])
    features = None if structure.features is None else np.asarray(structure.features)[np.argsort(numbers)]
    return Structure(edges[:, places], structure.num_nodes, features), places


def test_names_are_those_that_scripts_use() -> None:
    assert set(SCORES.names()) >= NAMES
    for score in SCORES:
        assert score.description.endswith(".")
        assert all((score.label, score.formula, score.source, score.cost))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_triangle_with_a_tail_by_hand(name: str) -> None:
    for seed in range(3):
        np.testing.assert_allclose(scored(name, tail(), seed), EXPECTED[name], rtol=1e-6, atol=1e-12)


def test_local_similarity_by_hand() -> None:
    """At node 2 the edges to 0 and 1 are equally similar, at node 3 both edges are: a draw puts one first."""
    found = {tuple(np.round(scored("local_similarity", tail(), seed), 12).tolist()) for seed in range(64)}
    second = -round(log(2) / log(3), 12)
    assert found == {(0, *pair, end, 0) for pair in [(0, second), (second, 0)] for end in (0, -1)}


def test_k_neighbour_by_hand() -> None:
    star = structure_of(nx.star_graph(4))
    assert scored("k_neighbour", star).tolist() == [-1] * 4
    path = {tuple(scored("k_neighbour", structure_of(nx.path_graph(4)), seed).tolist()) for seed in range(64)}
    # Both ends of a path have no choice; its middle edge goes at k = 1 if both inner nodes drew the other edge first.
    assert path == {(-1, -1, -1), (-1, -2, -1)}


def test_k_neighbour_keeps_k_edges_of_every_node(mixed: Structure) -> None:
    scores = scored("k_neighbour", mixed)
    for k in range(1, int(-scores.min()) + 1):
        kept = mixed.edges[:, scores >= -k]
        assert (np.bincount(kept.ravel(), minlength=mixed.num_nodes) >= np.minimum(mixed.degrees, k)).all()


def test_draws_by_hand() -> None:
    noise = np.random.default_rng(7).gumbel(size=5)
    chances = [1, 5 / 6, 5 / 6, 5 / 6, 3 / 2]
    np.testing.assert_allclose(scored("dspar", tail(), 7), np.log(chances) + noise)
    assert np.array_equal(scored("random", tail(), 7), np.random.default_rng(7).random(5))


def test_dspar_keeps_an_edge_as_often_as_its_chance() -> None:
    """Where one edge is kept, it is each edge in proportion to 1/d_i + 1/d_j; the seeds are fixed."""
    first = [int(scored("dspar", tail(), seed).argmax()) for seed in range(2_000)]
    chances = np.array([1, 5 / 6, 5 / 6, 5 / 6, 3 / 2])
    assert np.abs(np.bincount(first) / 2_000 - chances / chances.sum()).max() < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_a_spanning_forest_keeps_every_component_as_long_as_counts_allow(mixed: Structure, seed: int) -> None:
    scores = scored("spanning_forest", mixed, seed)
    components = nx.number_connected_components(graph_of(mixed))
    forest = mixed.num_nodes - components
    order = np.argsort(-scores)
    assert (scores[order[:forest]] > 1).all()
    assert (scores[order[forest:]] < 1).all()

    def components_of(count: int) -> int:
        return nx.number_connected_components(graph_of(Structure(mixed.edges[:, order[:count]], mixed.num_nodes)))

    assert [components_of(count) for count in (mixed.num_edges, forest + 9, forest)] == [components] * 3
    assert components_of(forest - 1) == components + 1
    assert not np.array_equal(scores, scored("spanning_forest", mixed, seed + 1))


def test_similarities_are_those_of_independent_code(mixed: Structure) -> None:
    pairs = mixed.edges.T.tolist()
    known = [value for _, _, value in nx.jaccard_coefficient(graph_of(mixed), pairs)]
    np.testing.assert_allclose(scored("jaccard", mixed), known)
    features = np.asarray(mixed.features, dtype=np.float64)
    lengths = np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    cosines = ((features / lengths) @ (features / lengths).T)[tuple(mixed.edges)]
    np.testing.assert_allclose(scored("feature_cosine", mixed), cosines, rtol=1e-6, atol=1e-12)
    sparse = Structure(mixed.edges, mixed.num_nodes, csr_array(mixed.features))
    np.testing.assert_allclose(scored("feature_cosine", sparse), cosines, rtol=1e-6, atol=1e-12)


def test_the_size_of_a_block_changes_nothing(mixed: Structure, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {name: scored(name, mixed) for name in ("jaccard", "local_similarity", "feature_cosine")}
    monkeypatch.setattr("glt.scores.similarity.BLOCK", 7)
    steps: list[tuple[int, int]] = []
    for name, expected in whole.items():
        found = SCORES.get(name).of(mixed, np.random.default_rng(0), lambda step, of: steps.append((step, of)))
        assert np.array_equal(found, expected)
    assert len(steps) == 3 * -(-mixed.num_edges // 7)
    assert steps[-1] == (mixed.num_edges, mixed.num_edges)


# Node numbers.


@pytest.mark.parametrize("name", WITHOUT_DRAWS)
@pytest.mark.parametrize("seed", [1, 2])
def test_scores_without_draws_do_not_depend_on_node_numbers(mixed: Structure, name: str, seed: int) -> None:
    other, places = relabelled(mixed, seed)
    np.testing.assert_allclose(scored(name, other), scored(name, mixed)[places], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["local_degree", "local_similarity", "k_neighbour"])
def test_ties_between_neighbours_are_drawn_whatever_the_node_numbers(name: str) -> None:
    """In a cycle all neighbours tie: an edge is second at both its ends in one draw of four, under any numbers."""
    cycle = structure_of(nx.cycle_graph(8))
    for structure in (cycle, *(relabelled(cycle, seed)[0] for seed in (1, 2))):
        found = np.array([scored(name, structure, seed) for seed in range(400)])
        low = (found == found.min()).mean(axis=0)
        assert np.abs(low - 1 / 4).max() < 0.1


def test_equal_scores_are_ordered_by_the_draw_and_not_by_rounding() -> None:
    scores = np.array([0.3, 0.1 + 0.2, 0.3 * (1 + 1e-12), 0.1])
    orders = {tuple(edge_ranks(scores, np.random.default_rng(seed)).tolist()) for seed in range(64)}
    assert len(orders) == 6
    assert all(sorted(order) == [0, 1, 2, 3] and order[3] == 0 for order in orders)


@pytest.mark.parametrize("score", list(SCORES), ids=lambda score: score.name)
def test_a_seed_gives_the_same_scores_again(score: EdgeScore, mixed: Structure) -> None:
    first, again, other = (scored(score.name, mixed, seed) for seed in (0, 0, 1))
    assert first.dtype == np.float64
    assert np.array_equal(first, again)
    assert np.array_equal(first, other) == (score.name in WITHOUT_DRAWS)


@pytest.mark.parametrize("score", list(SCORES), ids=lambda score: score.name)
def test_graphs_without_edges_and_with_a_single_one_have_scores(score: EdgeScore) -> None:
    features = np.ones((4, 2), dtype=np.float32)
    assert scored(score.name, Structure(np.empty((2, 0), dtype=np.int64), 4, features)).shape == (0,)
    assert scored(score.name, Structure(np.array([[1], [3]]), 4, features)).shape == (1,)


# Effective resistance.


def test_bridges_have_resistance_1_and_the_sum_is_nodes_minus_components(mixed: Structure) -> None:
    graph = graph_of(mixed)
    found = exact_resistance(mixed)
    bridges = {tuple(sorted(edge)) for edge in nx.bridges(graph)}
    is_bridge = np.array([tuple(edge) in bridges for edge in mixed.edges.T.tolist()])
    assert is_bridge.sum() >= 3
    assert (found[is_bridge] == 1).all()
    assert (found[~is_bridge] < 1).all()
    assert found.sum() == pytest.approx(mixed.num_nodes - nx.number_connected_components(graph))
    laplacian = nx.laplacian_matrix(graph, range(mixed.num_nodes)).toarray().astype(float)
    difference = np.eye(mixed.num_nodes)[mixed.edges[0]] - np.eye(mixed.num_nodes)[mixed.edges[1]]
    known = np.einsum("ei,ij,ej->e", difference, np.linalg.pinv(laplacian), difference)
    np.testing.assert_allclose(found, known, atol=1e-9)


@pytest.mark.parametrize(("graph", "known"), [(nx.cycle_graph(9), 8 / 9), (nx.complete_graph(6), 2 / 6)])
def test_cycles_and_complete_graphs_have_the_known_resistance(graph: nx.Graph, known: float) -> None:
    np.testing.assert_allclose(scored("effective_resistance", structure_of(graph)), known, rtol=1e-9)


@pytest.fixture
def hundreds() -> Structure:
    """Three hundred nodes in two components of unequal density, and a tail."""
    graph = nx.disjoint_union(nx.barabasi_albert_graph(200, 3, seed=2), nx.random_regular_graph(3, 100, seed=3))
    graph.add_edges_from([(0, 300), (300, 301)])
    return structure_of(graph)


def test_the_projection_is_within_its_error_of_the_exact_resistance(
    hundreds: Structure, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = scored("effective_resistance", hundreds)
    monkeypatch.setattr(resistance, "MOST_EXACT", 0)
    steps: list[int] = []
    score, draws = SCORES.get("effective_resistance"), np.random.default_rng(0)
    found = score.of(hundreds, draws, lambda step, of: steps.append(step))
    error = found / exact - 1
    assert np.sqrt(np.mean(error**2)) < sqrt(2 / resistance.ROWS)
    assert np.abs(error).max() < 5 * sqrt(2 / resistance.ROWS)
    assert (found[exact == 1] == 1).all()
    assert ((found > 0) & (found <= 1)).all()
    assert steps == list(range(resistance.TOGETHER, resistance.ROWS + 1, resistance.TOGETHER))
    # 40 rows are a full block and a part of one, and their error is larger.
    rough = projected_resistance(hundreds, np.random.default_rng(0), lambda step, of: None, rows=40) / exact - 1
    assert 2 * np.sqrt(np.mean(error**2)) < np.sqrt(np.mean(rough**2)) < sqrt(2 / 40)


def test_a_projection_that_does_not_converge_says_so(hundreds: Structure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resistance, "MOST_EXACT", 0)
    monkeypatch.setattr(resistance, "MOST_STEPS", 2)
    with pytest.raises(StudioError, match=r"did not converge in 2 steps .* choose another score"):
        scored("effective_resistance", hundreds)


# Refusals.


@pytest.mark.parametrize("score", LIMITED, ids=lambda score: score.name)
def test_a_graph_that_is_too_large_is_refused_with_a_way_out(
    score: EdgeScore, mixed: Structure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(score), "most_edges", 100)
    with pytest.raises(ConfigError, match=rf"{score.name} is limited to 100 edges, .* has {mixed.num_edges}: choose"):
        scored(score.name, mixed)


def test_features_are_asked_for() -> None:
    for features in (None, np.empty((5, 0), dtype=np.float32)):
        with pytest.raises(ConfigError, match="feature_cosine needs node features"):
            scored("feature_cosine", Structure(TAIL, 5, features))


def test_a_score_that_is_not_finite_is_caught() -> None:
    class Broken(EdgeScore):
        name = "broken"

        def compute(self, structure: Structure, generator: np.random.Generator, pulse: object) -> FloatArray:
            return np.full(structure.num_edges, np.nan)

    with pytest.raises(ValueError, match="broken must return one finite number per edge"):
        Broken().of(tail(), np.random.default_rng(0))
