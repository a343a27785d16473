"""ACE-GLT: exchanges keep counts, the best ticket is kept, stages resume, rounds are not nested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glt.lottery.lottery import Stopped, epochs_before
from glt.masks import EdgeMask, Masks, WeightMask, prune_count, remaining_after
from glt.methods import METHODS, ace_glt
from glt.methods.ace_glt import ACEGLT, complement, exchanged
from glt.presets import resolve
from tests.conftest import Compute, Watcher

ENTRIES, WEIGHTS = 2 * 5278, 1433 * 16 + 16 * 7
SMALL = {
    "method": "ace_glt",
    "epochs": 3,
    "retrain_epochs": 3,
    "ace_refinements": 2,
    "ace_epochs": 2,
    "ace_share": 0.01,
}


def drawn(seed: int) -> tuple[Masks, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """A ticket of 40 entries and two tensors, and scores of its own entries and of the others."""
    draw = np.random.default_rng(seed)
    weights = WeightMask({"a": draw.random((5, 4)) < 0.6, "b": draw.random((4, 3)) < 0.5})
    ticket = Masks(EdgeMask("directed", draw.random(40) < 0.7), weights)
    shapes = {name: keep.shape for name, keep in weights.keep.items()}
    inside, outside = (
        {"edges": draw.random(count), **{name: draw.random(shape) for name, shape in shapes.items()}}
        for count in (ticket.edges.kept, 40 - ticket.edges.kept)
    )
    return ticket, inside, outside


@pytest.mark.parametrize("share", [0.002, 0.1, 0.4, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_an_exchange_takes_the_lowest_for_the_highest(seed: int, share: float) -> None:
    ticket, inside, outside = drawn(seed)
    found = exchanged(ticket, inside, outside, share, resolve({"method": "ace_glt"}))
    assert (found.edges.kept, found.weights.kept) == (ticket.edges.kept, ticket.weights.kept)
    names = list(ticket.weights.keep)
    before, after = (np.concatenate([masks.weights.keep[name].ravel() for name in names]) for masks in (ticket, found))
    own, other = (np.concatenate([side[name].ravel() for name in names]) for side in (inside, outside))
    kept_scores, gone_scores = np.where(before, own, np.nan), np.where(before, np.nan, other)
    for was, now, kept, gone in (
        (ticket.edges.keep, found.edges.keep, inside["edges"], outside["edges"]),
        (before, after, kept_scores[before], gone_scores[~before]),
    ):
        count = min(prune_count(share, int(was.sum())), int((~was).sum()))
        expected = was.copy()
        expected[np.flatnonzero(was)[np.argsort(kept)[:count]]] = False
        expected[np.flatnonzero(~was)[np.argsort(-gone)[:count]]] = True
        assert np.array_equal(now, expected)


def test_the_complement_leaves_an_unpruned_half_whole() -> None:
    ticket, inside, outside = drawn(0)
    config = resolve({"method": "ace_glt", "p_graph": 0})
    others = complement(ticket, config)
    assert others.edges is ticket.edges
    assert all(np.array_equal(others.weights.keep[name], ~keep) for name, keep in ticket.weights.keep.items())
    assert exchanged(ticket, inside, outside, 0.5, config).edges is ticket.edges


@pytest.mark.parametrize("edge_mask", ["directed", "undirected"])
def test_counts_are_exact_and_the_notes_add_up(compute: Compute, edge_mask: str) -> None:
    run = compute(**SMALL, edge_mask=edge_mask)
    entries = ENTRIES if edge_mask == "directed" else ENTRIES // 2
    for k in (1, 2):
        before, masks, record = run.masks(k - 1), run.masks(k), run.record(k)
        assert masks.edges.kept == remaining_after(0.05, entries, k)
        assert masks.weights.kept == remaining_after(0.2, WEIGHTS, k)
        scores = record.notes["ace_validations"]
        assert isinstance(scores, list)
        assert len(scores) == 3
        assert record.notes["ace_refinement"] == scores.index(max(scores))
        assert record.notes["ace_edges_returned"] == int((masks.edges.keep & ~before.edges.keep).sum())
    assert run.edge_scores(1) is None


@pytest.mark.parametrize("best", [0, 1, 2])
def test_the_ticket_of_the_highest_validation_is_kept(
    compute: Compute, monkeypatch: pytest.MonkeyPatch, best: int
) -> None:
    """Scripted scores choose among UGS's cut and both exchanges; an exchange moves one entry in a hundred."""
    seen: list[Masks] = []
    real = ace_glt._trained

    def scripted(context: Any, masks: Masks, schedule: Any, stage: str) -> tuple[Any, float]:
        found, _ = real(context, masks, schedule, stage)
        if stage.startswith("complement"):
            return found, 1.0
        seen.append(masks)
        return found, 0.5 if len(seen) - 1 == best else 0.4

    monkeypatch.setattr(ace_glt, "_trained", scripted)
    masks = compute(**SMALL, rounds=1).masks(1)
    assert len(seen) == 3
    assert np.array_equal(masks.edges.keep, seen[best].edges.keep)
    moved = [int((seen[0].edges.keep & ~ticket.edges.keep).sum()) for ticket in seen]
    assert moved[1] == prune_count(0.01, masks.edges.kept)
    ugs = compute(store="ugs", method="ugs", epochs=3, retrain_epochs=3, rounds=1)
    assert np.array_equal(seen[0].edges.keep, ugs.masks(1).edges.keep)


@pytest.mark.parametrize("half", ["p_graph", "p_weight"])
def test_a_rate_of_zero_keeps_a_half_whole(compute: Compute, half: str) -> None:
    run = compute(**SMALL, **{half: 0})
    for k in (1, 2):
        masks = run.masks(k)
        assert masks.edges.kept == (ENTRIES if half == "p_graph" else remaining_after(0.05, ENTRIES, k))
        assert masks.weights.kept == (WEIGHTS if half == "p_weight" else remaining_after(0.2, WEIGHTS, k))


def test_rates_of_zero_search_nothing(compute: Compute) -> None:
    run = compute(**SMALL, rounds=1, p_graph=0, p_weight=0)
    assert {event.stage for event in run.events()[0]} == {"retrain"}


@pytest.mark.parametrize("stop", [5, 8, 9, 11, 15, 16])
def test_every_stage_resumes_to_the_same_bits(compute: Compute, stop: int) -> None:
    """Three epochs of round 0, three of the search, then five trainings of two epochs."""
    whole = compute(store="whole", **SMALL, rounds=1)
    with pytest.raises(Stopped):
        compute(store="cut", observer=Watcher(stop), **SMALL, rounds=1)
    resumed = compute(store="cut", **SMALL, rounds=1)
    assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()
    for name in ("round-01.safetensors", "weights-01.safetensors"):
        assert (resumed.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert resumed.record(1).notes == whole.record(1).notes


def test_epochs_and_nesting_are_declared(compute: Compute) -> None:
    watcher = Watcher()
    run = compute(observer=watcher, **SMALL, rounds=1)
    assert epochs_before(run.config, 2) == len(watcher.seen) == 3 + 3 + 5 * 2 + 3
    method = METHODS.get("ace_glt")
    assert isinstance(method, ACEGLT)
    assert not method.nests(run.config)
    assert method.searched_edges(run.config) == "survivors"
    config = resolve({"method": "ace_glt"}, "published")
    assert (config.p_graph, config.p_weight, config.options["ace_share"]) == (0.05, 0.2, 0.002)
    assert method.search_epochs(config) == 200 + 13 * 20
