"""UGS with an early end of the search: the criterion, resuming, inherited weights, progress, and its preset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from glt.errors import ConfigError
from glt.jobs.estimate import epochs_of, pace
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped
from glt.masks import EdgeMask, Masks, WeightMask, remaining_after
from glt.methods import METHODS
from glt.methods.base import SEARCH_EPOCHS
from glt.presets import resolve
from glt.store import Run, SeedRun, run_name
from glt.training.early_bird import EarlyBird
from tests.conftest import Compute, Watcher

# On Cora with 16 hidden units the masks settle within these epochs.
EARLY = {"stop": "early_bird", "stop_threshold": 0.2, "stop_patience": 2, "epochs": 40}
# Values of four edge entries and of the six weights that are left, after each epoch; one of each goes.
EDGES = [[1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 3, 4], [2, 1, 3, 4], [-2, 1, 3, 4], [2, -1, 3, 4]]
WEIGHTS = [[1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6], *[[3, 1, 2, 4, 5, 6]] * 2]
# Two of four entries, then two of six weights, change places.
DISTANCES = [math.inf, 2 / 6, 2 / 4, 0, 0, 0]


def network(edges: Sequence[float] | None, weights: Sequence[float] | None) -> Any:
    soft = SimpleNamespace(edges=None if edges is None else torch.tensor(edges, dtype=torch.float32), weights={})
    if weights is not None:
        # The second value of "a" is pruned already, so its zero takes no part.
        first = [weights[0], 0.0, *weights[1:3]]
        soft.weights = {"b": torch.tensor([weights[3:]]), "a": torch.tensor([first]).float()}
    return SimpleNamespace(soft=soft)


def masks() -> Masks:
    kept = {"a": np.array([[True, False, True, True]]), "b": np.ones((1, 3), dtype=bool)}
    return Masks(EdgeMask.full("undirected", 4), WeightMask(kept))


def bird(threshold: float, patience: int = 2) -> EarlyBird:
    return EarlyBird(masks(), {"edges": 1, "weights": 1}, threshold, patience)


@pytest.mark.parametrize(
    ("threshold", "patience", "expected"),
    [(0.1, 2, 5), (0.4, 1, 2), (0.51, 2, 3), (0.5, 3, 6), (0.5, 2, 5)],
)
def test_the_search_ends_when_the_largest_of_the_last_distances_is_below_the_bound(
    threshold: float, patience: int, expected: int
) -> None:
    criterion, met = bird(threshold, patience), list[int]()
    for epoch, (edges, weights) in enumerate(zip(EDGES, WEIGHTS, strict=True), start=1):
        criterion.compare(network(edges, weights))
        assert criterion.state()["distances"][-1] == pytest.approx(DISTANCES[epoch - 1])
        met += [epoch] if criterion.is_met else []
    assert met[0] == expected


def test_a_resumed_criterion_continues_with_the_same_distances() -> None:
    whole, cut = bird(0.1), bird(0.1)
    for edges, weights in zip(EDGES, WEIGHTS, strict=True):
        whole.compare(network(edges, weights))
        state = {name: values.copy() for name, values in cut.state().items()}
        cut = bird(0.1)
        cut.restore(state)
        cut.compare(network(edges, weights))
        assert cut.state()["distances"].tolist() == whole.state()["distances"].tolist()


def test_a_half_without_masks_adds_nothing() -> None:
    criterion = bird(0.1, patience=1)
    for edges in EDGES[:3]:
        criterion.compare(network(edges, None))
    assert criterion.state()["distances"].tolist() == [0.5]


def files(run: SeedRun) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("*.safetensors"))}


def searched(run: SeedRun) -> list[int]:
    """Return the epochs of each round's search, as the events say."""
    events = run.events()[0]
    return [sum(each.round == number and each.stage == "search" for each in events) for number in (1, 2)]


@pytest.mark.parametrize("inherit", [False, True])
def test_a_search_ends_early_and_a_resumed_one_at_the_same_epoch(compute: Compute, inherit: bool) -> None:
    settings = {**EARLY, "inherit_weights": inherit, "retrain_epochs": 3}
    watcher = Watcher()
    whole = compute(store="whole", observer=watcher, **settings)
    taken = searched(whole)
    assert all(3 <= epochs < 40 for epochs in taken)
    assert [record.notes.get(SEARCH_EPOCHS) for record in whole.rounds()] == [None, *taken]
    fractions = [progress.fraction for progress in watcher.seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert whole.masks(2).within(whole.masks(1))
    assert whole.masks(2).edges.kept == remaining_after(0.05, 10_556, 2)
    assert audit(whole, 2).passed
    # In the search, at its last epoch, in the retraining after it, and in the next round's search.
    for stop in (3 + 2, 3 + taken[0], 3 + taken[0] + 1, 6 + taken[0] + 2):
        store = f"cut {stop}"
        with pytest.raises(Stopped):
            compute(store=store, observer=Watcher(stop), **settings)
        resumed = compute(store=store, **settings)
        assert files(resumed) == files(whole)
        assert (resumed.path / "events.jsonl").read_bytes() == (whole.path / "events.jsonl").read_bytes()


def test_a_search_that_may_end_early_starts_as_one_that_may_not(compute: Compute) -> None:
    """The criterion changes no epoch: up to its end, the search is that of UGS."""
    early, usual = compute(store="early", **EARLY, rounds=1), compute(store="usual", epochs=40, rounds=1)
    ours, theirs = ([each for each in run.events()[0] if each.stage == "search"] for run in (early, usual))
    assert 0 < len(ours) < len(theirs)
    assert ours == theirs[: len(ours)]


def test_inherited_weights_change_the_retraining_alone(compute: Compute) -> None:
    rewound = compute(store="rewound", rounds=1, masks_from="last")
    inherited = compute(store="inherited", rounds=1, masks_from="last", inherit_weights=True)
    assert files(rewound)["round-01.safetensors"] == files(inherited)["round-01.safetensors"]
    assert files(rewound)["weights-01.safetensors"] != files(inherited)["weights-01.safetensors"]
    first = [
        next(each for each in run.events()[0] if (each.round, each.stage) == (1, "retrain"))
        for run in (rewound, inherited)
    ]
    assert first[1].loss < first[0].loss


def test_settings_that_are_absent_keep_the_names_of_runs() -> None:
    usual = resolve({}, "official")
    spelt = {"stop": "never", "stop_threshold": 0.1, "stop_patience": 3, "inherit_weights": False}
    assert run_name(resolve(spelt, "official")) == run_name(usual)
    assert not spelt.keys() & usual.options.keys()


def test_the_preset_has_the_published_criterion_for_ugs_alone() -> None:
    config = resolve({}, "early_bird")
    assert config.epochs == 100
    assert (config.options["stop"], config.options["masks_from"], config.options["inherit_weights"]) == (
        "early_bird", "last", True,
    )  # fmt: skip
    # The published bound and patience are the defaults.
    assert not {"stop_threshold", "stop_patience"} & config.options.keys()
    assert resolve({"method": "random"}, "early_bird") == resolve({"method": "random"}, "official")
    assert METHODS.get("ugs").search_epochs(config) == 100


def test_a_search_that_prunes_by_the_epoch_cannot_end_early() -> None:
    with pytest.raises(ConfigError, match="a search cannot end early: set stop=never or schedule=iterative"):
        resolve({"schedule": "one_run", "stop": "early_bird"})


def test_the_pace_of_a_run_counts_the_epochs_that_it_took(compute: Compute) -> None:
    seed_run = compute(**EARLY, retrain_epochs=3)
    run = Run.open(seed_run.path.parent)
    seconds = sum(record.seconds for record in seed_run.rounds()[1:])
    found = pace(run.config, [run])
    assert found is not None
    assert found.seconds == pytest.approx(seconds / (sum(searched(seed_run)) + 2 * 3))
    assert epochs_of(run.config, 1) == 40 + 3
