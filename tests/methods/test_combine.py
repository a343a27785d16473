"""Combinations of edges and weights: sources, counts, matched draws, starts, refusals."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from glt.config import RunConfig
from glt.datasets import Graph, load_graph
from glt.errors import ConfigError, StoreError
from glt.jobs.launcher import start
from glt.jobs.queue import awaited
from glt.lottery.audit import audit
from glt.lottery.diagnosis import Diagnosis, cause_shares
from glt.lottery.lottery import compute_rounds
from glt.masks import EdgeMask, Masks, remaining_after
from glt.methods import METHODS
from glt.methods.base import Cause
from glt.methods.combine import CombineOptions, Source, rounds_of
from glt.presets import resolve
from glt.random_masks import degree_bins, draw_with_degrees, end_pairs, highest_by_group
from glt.removal_causes import Cuts, cuts_of, seed_source
from glt.scores import SCORES
from glt.store import Run, Store, sources_of
from tests.conftest import Watcher

SMALL = {"hidden": 8, "epochs": 2, "retrain_epochs": 2, "rounds": 3, "p_graph": 0.2, "p_weight": 0.3}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("combinations") / "store")


def computed(store: Store, config: RunConfig, seeds: tuple[int, ...] = (0,)) -> Run:
    run = store.create(config)
    for seed in seeds:
        with run.seed(seed).lock():
            compute_rounds(run.seed(seed), Watcher())
    return run


@pytest.fixture(scope="module")
def ugs(store: Store) -> Run:
    return computed(store, resolve(SMALL), (0, 1))


def combined(store: Store, **settings: object) -> Run:
    return computed(store, resolve({**SMALL, "method": "combine", **settings}))


def masks(run: Run, number: int, seed: int = 0) -> Masks:
    return run.seed(seed).masks(number)


def same_edges(one: Masks, other: Masks) -> bool:
    return np.array_equal(one.edges.keep, other.edges.keep)


def same_weights(one: Masks, other: Masks) -> bool:
    return all(np.array_equal(keep, other.weights.keep[name]) for name, keep in one.weights.keep.items())


def test_halves_of_runs_are_taken_as_they_are(store: Store, ugs: Run) -> None:
    both = combined(store, edges_from=f"run:{ugs.name}", weights_from=f"run:{ugs.name}")
    edges = combined(store, edges_from=f"run:{ugs.name}")
    weights = combined(store, weights_from=f"run:{ugs.name}")
    for number in range(4):
        theirs = masks(ugs, number)
        assert same_edges(masks(both, number), theirs)
        assert same_weights(masks(both, number), theirs)
        assert same_edges(masks(edges, number), theirs)
        assert masks(edges, number).weights.sparsity == 0
        assert same_weights(masks(weights, number), theirs)
        assert masks(weights, number).edges.sparsity == 0
    # The same masks retrained from the same start give the same round.
    seed, records, expected = both.seed(0), both.seed(0).rounds(), ugs.seed(0).rounds()
    assert [(each.val, each.test, each.macs) for each in records] == [(e.val, e.test, e.macs) for e in expected]
    assert audit(seed, 2).passed


def test_chosen_rounds_and_the_seed_of_the_source(store: Store, ugs: Run) -> None:
    source = f"run:{ugs.name}"
    run = combined(store, rounds=2, at_rounds="1,3", edges_from=source, weights_from="random", source_seed=1)
    assert [same_edges(masks(run, own), masks(ugs, theirs, seed=1)) for own, theirs in ((1, 1), (2, 3))] == [True] * 2
    total = masks(run, 0).weights.total
    assert [masks(run, own).weights.kept for own in (1, 2)] == [remaining_after(0.3, total, past) for past in (1, 3)]


def removals(run: Run, seed: int = 0) -> list[Cuts]:
    one, graph = run.seed(seed), load_graph("cora")
    masks = map(one.edge_mask, range(one.whole_rounds()))
    return list(cuts_of(run.config, graph, masks, seed_source(one, graph)))


def test_removed_edges_have_the_causes_of_their_source(store: Store, ugs: Run) -> None:
    """The rounds, and the seed, of the run that the edges are taken from."""
    taken = combined(store, rounds=2, at_rounds="1,3", edges_from=f"run:{ugs.name}", source_seed=1)
    theirs, ours = removals(ugs, 1), removals(taken)
    assert [np.array_equal(ours[own].codes, theirs[other].codes) for own, other in ((0, 0), (1, 2))] == [True] * 2
    shares = cause_shares(taken.seed(0), taken.seed(0).rounds(), [Diagnosis()] * 3)
    counts = [cuts.counts() for cuts in ours]
    assert shares == [{}, *({cause: n / sum(each.values()) for cause, n in each.items()} for each in counts)]
    assert counts[0].keys() == {"gradient", "no gradient"}


@pytest.mark.parametrize(
    ("edges", "cause"),
    [("random", "random"), ("score:local_degree", "score"), ("inverse:teddy", "score"), ("none", None)],
)
def test_edges_of_scores_and_draws_have_one_cause(store: Store, edges: str, cause: Cause | None) -> None:
    for cuts in removals(combined(store, edges_from=edges, rounds=1)):
        assert [*cuts.counts()] == [cause]


@pytest.mark.parametrize("edges", ["random", "score:local_degree", "inverse:teddy"])
def test_counts_follow_the_rates_and_rounds_nest(store: Store, edges: str) -> None:
    run = combined(store, edges_from=edges, weights_from="magnitude")
    found = [masks(run, number) for number in range(4)]
    full = found[0]
    for number, each in enumerate(found):
        assert each.edges.kept == remaining_after(0.2, full.edges.kept, number)
        assert each.weights.kept == remaining_after(0.3, full.weights.kept, number)
    assert all(later.within(earlier) for earlier, later in pairwise(found))


def test_magnitude_removes_the_smallest_retrained_weights(store: Store) -> None:
    run = combined(store, weights_from="magnitude")
    before, after, trained = masks(run, 1), masks(run, 2), run.seed(0).weights(1)
    removed = np.concatenate([(keep & ~after.weights.keep[n]).ravel() for n, keep in before.weights.keep.items()])
    kept = np.concatenate([keep.ravel() for keep in after.weights.keep.values()])
    sizes = np.concatenate([np.abs(trained[name]).ravel() for name in before.weights.keep])
    assert sizes[removed].max() <= sizes[kept].min()


def test_a_score_keeps_the_edges_of_method_score(store: Store) -> None:
    run = combined(store, edges_from="score:jaccard")
    by_score = computed(store, resolve({**SMALL, "method": "score", "score": "jaccard", "weights": "random"}))
    assert all(same_edges(masks(run, number), masks(by_score, number)) for number in range(4))


def test_draws_are_fixed_and_numbered(store: Store) -> None:
    with_all = combined(store, edges_from="random")
    with_random = combined(store, edges_from="random", weights_from="random")
    other = combined(store, edges_from="random", draw=1)
    assert same_edges(masks(with_all, 2), masks(with_random, 2))
    assert not same_edges(masks(with_all, 2), masks(other, 2))
    starts = [
        run.seed(0).theta0()["layers.0.weight"]
        for run in (with_all, combined(store, start="fresh"), combined(store, start="fresh", draw=1))
    ]
    assert not np.array_equal(starts[0], starts[1])
    assert not np.array_equal(starts[1], starts[2])


def test_no_edges_leave_a_network_without_messages(store: Store) -> None:
    run = combined(store, edges_from="none")
    record = run.seed(0).rounds()[1]
    assert (record.graph_sparsity, record.edges_kept_either_way) == (1, 0)
    assert audit(run.seed(0), 1).passed


@pytest.mark.parametrize("kind", ["random_class_pairs", "random_degree_bins"])
def test_draws_by_group_keep_the_counts_of_every_group(store: Store, ugs: Run, kind: str) -> None:
    run = combined(store, edges_from=kind, counts_from=ugs.name)
    graph = load_graph("cora")
    of_node = graph.labels if kind == "random_class_pairs" else degree_bins(graph)
    low, high = of_node[graph.edges]
    ends = np.concatenate([np.stack([low, high]), np.stack([high, low])], axis=1)
    for number in (1, 3):
        found, expected = masks(run, number).edges.keep, masks(ugs, number).edges.keep
        assert not np.array_equal(found, expected)
        for pair in np.unique(ends, axis=1).T:
            group = (ends == pair[:, None]).all(axis=0)
            assert found[group].sum() == expected[group].sum()


def test_matched_degrees_and_layers(store: Store, ugs: Run) -> None:
    run = combined(store, edges_from="random_degrees", weights_from="random_layers", counts_from=ugs.name)
    low, high = load_graph("cora").edges
    senders, receivers = np.concatenate([low, high]), np.concatenate([high, low])
    found, expected = masks(run, 3), masks(ugs, 3)
    assert not same_edges(found, expected)
    for ends in (senders, receivers):
        assert np.array_equal(np.bincount(ends[found.edges.keep]), np.bincount(ends[expected.edges.keep]))
    counts = {name: int(keep.sum()) for name, keep in found.weights.keep.items()}
    assert counts == {name: int(keep.sum()) for name, keep in expected.weights.keep.items()}
    assert not same_weights(found, expected)


def test_random_halves_take_the_counts_of_a_run(store: Store, ugs: Run) -> None:
    run = combined(store, edges_from="random", weights_from="random", counts_from=ugs.name, p_graph=0.5, p_weight=0.5)
    found, expected = masks(run, 2), masks(ugs, 2)
    assert (found.edges.kept, found.weights.kept) == (expected.edges.kept, expected.weights.kept)


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_groups_of_entries(kind: str) -> None:
    graph = load_graph("cora")
    groups = end_pairs(graph, kind, degree_bins(graph))  # type: ignore[arg-type]
    low, high = degree_bins(graph)[graph.edges]
    assert groups.size == graph.num_edges * (2 if kind == "directed" else 1)
    swapped = groups[graph.num_edges :] if kind == "directed" else groups
    equal = groups[: graph.num_edges] == swapped
    assert np.array_equal(equal, np.ones_like(equal) if kind == "undirected" else low == high)


def test_highest_by_group_against_a_loop() -> None:
    generator = np.random.default_rng(3)
    values, groups, matched = generator.random(60), generator.integers(4, size=60), generator.random(60) < 0.4
    keep = highest_by_group(values, groups, matched)
    for group in range(4):
        places = np.flatnonzero(groups == group)
        best = places[np.argsort(-values[places])[: matched[places].sum()]]
        assert set(np.flatnonzero(keep & (groups == group))) == set(best)


def test_draws_with_degrees_differ_with_the_random_values() -> None:
    graph = load_graph("cora")
    generator = np.random.default_rng(0)
    mask = EdgeMask("directed", generator.random(2 * graph.num_edges) < 0.5)
    one, other = (draw_with_degrees(graph, mask, generator.random(mask.keep.size)) for _ in range(2))
    assert not np.array_equal(one.keep, other.keep)


def test_a_graph_without_edges_has_one_draw(small_graph: Graph) -> None:
    empty = replace(small_graph, edges=small_graph.edges[:, :0])
    mask = EdgeMask.full("directed", 0)
    assert draw_with_degrees(empty, mask, np.empty(0)).kept == 0
    groups = end_pairs(empty, "directed", degree_bins(empty))
    assert highest_by_group(np.empty(0), groups, mask.keep).size == 0


def test_sources_are_read_from_text() -> None:
    assert Source.of("edges", "run:a:b") == Source("run", "a:b")
    with pytest.raises(ConfigError, match="did you mean 'teddy'"):
        Source.of("edges", "score:tedy")
    with pytest.raises(ConfigError, match=r"edges_from.*'random_degrees'"):
        resolve({"method": "combine", "edges_from": "random_degree"})
    with pytest.raises(ConfigError, match="lacks a name: write run:NAME"):
        resolve({"method": "combine", "weights_from": "run"})
    assert {f"score:{name}" for name in SCORES.names()} == {
        str(CombineOptions(edges_from=f"score:{name}").edges_from) for name in SCORES.names()
    }


@pytest.mark.parametrize("text", ["0,4", "9,4", "4,4", "4,,9", "-1", "4.5", "²", "99999"])
def test_rounds_that_do_not_ascend_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="give rounds in ascending order, as in 4,9,13"):
        rounds_of(text)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"edges_from": "run:elsewhere"}, "edges_from: No run 'elsewhere'"),
        ({"edges_from": "random_class_pairs"}, "needs the run whose counts it keeps"),
        (
            {"edges_from": "random_degrees", "counts_from": "UGS", "edge_mask": "undirected"},
            "works on directed entries",
        ),
        ({"edges_from": "run:UGS", "edge_mask": "undirected"}, "edge_mask is 'undirected', but 'directed' in"),
        ({"weights_from": "run:UGS", "hidden": 9}, "hidden is 9, but 8 in"),
        ({"edges_from": "run:UGS", "at_rounds": "2,4", "rounds": 2}, "only 3 of 4 rounds"),
        ({"at_rounds": "2,4"}, "at_rounds names 2 rounds, but rounds is 3: add --set rounds=2"),
        ({"edges_from": "run:UGS", "source_seed": 7}, r"Seed 7 of .* has no rounds"),
        ({"edges_from": "random", "counts_from": "UGS", "dataset": "citeseer"}, "dataset is 'citeseer', but 'cora' in"),
    ],
)
def test_sources_that_do_not_fit_are_refused(
    store: Store, ugs: Run, settings: dict[str, object], sentence: str
) -> None:
    named = {n: v.replace("UGS", ugs.name) if isinstance(v, str) else v for n, v in settings.items()}
    known = len(store.runs())
    with pytest.raises((ConfigError, StoreError), match=sentence):
        start(store, resolve({**SMALL, "method": "combine", **named}), [0])
    assert len(store.runs()) == known


@pytest.mark.parametrize(
    ("settings", "fixed"),
    [
        ({"edges_from": "random", "weights_from": "magnitude", "at_rounds": "2,5", "rounds": 2}, (True, True)),
        ({"edges_from": "none"}, (True, True)),
        ({"edges_from": "run:UGS", "weights_from": "random"}, (False, True)),
        ({"edges_from": "all", "weights_from": "random", "counts_from": "UGS"}, (True, False)),
    ],
)
def test_counts_that_the_settings_fix(
    store: Store, ugs: Run, settings: dict[str, object], fixed: tuple[bool, bool]
) -> None:
    run = combined(store, **{n: v.replace("UGS", ugs.name) if isinstance(v, str) else v for n, v in settings.items()})
    method, full = METHODS.get("combine"), masks(run, 0)
    assert method.settings_fix_counts(run.config) == fixed
    for number in range(run.config.rounds + 1):
        found = masks(run, number)
        expected = method.remaining(run.config, number, full.edges.kept, full.weights.kept)
        counts = zip((found.edges.kept, found.weights.kept), expected, fixed, strict=True)
        assert all(kept == left for kept, left, is_fixed in counts if is_fixed)


def test_edges_fit_another_network(store: Store, ugs: Run) -> None:
    run = combined(store, model="gin", edges_from=f"run:{ugs.name}")
    assert same_edges(masks(run, 3), masks(ugs, 3))


def test_runs_it_reads(tmp_path: Path) -> None:
    options = {"edges_from": "run:one", "weights_from": "run:two", "counts_from": "one", "at_rounds": "4,16"}
    config = resolve({**SMALL, "method": "combine", "rounds": 2, **options})
    assert METHODS.get("combine").reads(config) == {"one": 16, "two": 16}
    assert sources_of(config) == ["one", "two"]
    assert awaited(Store(tmp_path), config, 0) is None
