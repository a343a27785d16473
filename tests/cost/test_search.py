"""The cost of a search: epochs, seconds and MACs against what an inference saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from glt.cli.main import main
from glt.cost.latency import Compared
from glt.cost.search import MeasuredPayback, SearchCost, inferences, search_cost
from glt.errors import StoreError
from glt.store import Run
from glt.store.examples import pack_run
from tests.conftest import Compute


def test_dense_training_and_all_rounds_count(compute: Compute) -> None:
    seed = compute(rounds=2, epochs=5, retrain_epochs=7)
    found, records = search_cost(seed, 2), seed.rounds()
    assert found.epochs == 7 + 2 * (5 + 7)
    assert found.seconds == sum(record.seconds for record in records)
    dense, first, second = (record.macs["dense_features"] for record in records)
    assert found.training_macs["dense_features"] == 3 * (7 * dense + 5 * dense + 7 * first + 5 * first + 7 * second)
    assert found.pays_after() == -(-found.training_macs["dense_features"] // (dense - second))
    assert found.most_cpu_seconds == found.seconds


def test_a_search_of_the_full_network_counts_at_its_macs(compute: Compute) -> None:
    seed = compute(rounds=2, epochs=5, retrain_epochs=7, schedule="one_shot")
    dense, first, second = (record.macs["dense_features"] for record in seed.rounds())
    counted = search_cost(seed, 2).training_macs["dense_features"]
    assert counted == 3 * (7 * dense + 2 * 5 * dense + 7 * first + 7 * second)


def test_exchanges_train_the_ticket_and_what_it_leaves_out(compute: Compute) -> None:
    options = {"ace_refinements": 1, "ace_epochs": 2}
    seed = compute(method="ace_glt", rounds=1, epochs=5, retrain_epochs=7, **options)
    dense, first = (record.macs["dense_features"] for record in seed.rounds())
    counted = search_cost(seed, 1).training_macs["dense_features"]
    assert counted == 3 * (7 * dense + 5 * dense + 2 * 2 * first + 2 * (dense - first) + 7 * first)


def test_a_method_without_a_search_has_only_retraining(compute: Compute) -> None:
    assert search_cost(compute(method="random", rounds=2, retrain_epochs=7), 2).epochs == 3 * 7


def test_an_example_has_the_cost_of_its_run(compute: Compute, tmp_path: Any) -> None:
    seed = compute(rounds=2, epochs=13, retrain_epochs=24)
    seed.write_environment({"threads": 1, "device": "cpu"})
    packed = pack_run(Run.open(seed.path.parent), tmp_path / "packed")
    assert search_cost(packed.seed(0), 2) == search_cost(seed, 2)


def test_a_missing_round_is_refused(compute: Compute) -> None:
    with pytest.raises(StoreError, match="There is no round 5"):
        search_cost(compute(rounds=1), 5)


def made(**changes: Any) -> SearchCost:
    cost = SearchCost(
        round=13,
        epochs=5400,
        seconds=40.0,
        threads=2,
        device="cpu",
        training_macs={"dense_features": 1_000_000_000},
        dense_macs={"dense_features": 2_000_000},
        pruned_macs={"dense_features": 500_000},
    )
    return replace(cost, **changes)


def test_a_search_pays_after_enough_inferences() -> None:
    cost = made()
    assert cost.pays_after() == 667
    assert cost.most_cpu_seconds == 80
    assert cost.words() == (
        "Dense training and rounds 1 to 13 took 5,400 epochs, at most 1 min 20 s of CPU time and about 1000 M MACs. "
        "One inference saves 1.50 M MACs (75.0 %): it pays after 667 inferences."
    )


@pytest.mark.parametrize("pruned", [2_000_000, 3_000_000])
def test_a_search_that_saves_nothing_never_pays(pruned: int) -> None:
    cost = made(pruned_macs={"dense_features": pruned})
    assert cost.pays_after() is None
    assert cost.words().endswith("One inference saves no MACs, so by MACs the search never pays.")


def test_other_devices_have_no_cpu_time_and_sources_are_named() -> None:
    cost = made(device="cuda:0", uncounted=("cora-node-gcn-ugs-12345678",))
    assert cost.most_cpu_seconds is None
    assert "5,400 epochs, 40 s and" in cost.words()
    assert cost.words().endswith("Not counted: cora-node-gcn-ugs-12345678, which this run reads.")


# By measured time


def report(*compared: tuple[str, str, str]) -> Any:
    medians = {"masked": 0.010, "edges_removed": 0.008, "sparse_features": 0.004, "sparse": 0.001}
    executions = [SimpleNamespace(name=name, median=median) for name, median in medians.items()]
    return SimpleNamespace(executions=executions, compared=[Compared(*each, 1.5) for each in compared])  # type: ignore[arg-type]


def test_only_a_speed_up_by_pruning_pays() -> None:
    faster = report(("edges_removed", "masked", "faster"), ("sparse", "sparse_features", "faster"))
    assert MeasuredPayback.of(6.0, faster).pays_after == 2000
    none = report(("sparse", "masked", "faster"), ("sparse", "sparse_features", "no measured speed-up"))
    never = MeasuredPayback.of(6.0, none)
    assert (never.saved_seconds, never.pays_after) == (None, None)
    assert "never pays" in never.words()
    assert MeasuredPayback.of(6.0, faster).words() == (
        "An inference is 3 ms faster by pruning: by measured time the search pays after 2,000 inferences."
    )


def test_inferences_are_rounded_up() -> None:
    assert [inferences(cost, 3) for cost in (0, 1, 3, 4)] == [0, 1, 1, 2]


# The commands


@pytest.fixture
def place(compute: Compute) -> list[str]:
    seed = compute(rounds=1)
    return [seed.path.parent.name, "--round", "1", "--store", str(seed.path.parents[1])]


def test_cost_states_what_the_search_took(place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", *place, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["search"]
    assert found["epochs"] == 18
    assert found["pays_after"]["dense_features"] > 0
    assert main(["cost", *place]) == 0
    assert "Dense training and round 1 took 18 epochs" in " ".join(capsys.readouterr().out.split())


def test_latency_states_the_payback(place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options: Callable[[int], list[str]] = lambda repeats: ["--repeats", str(repeats), "--warm-up", "0", "--json"]  # noqa: E731
    assert main(["latency", *place, *options(2)]) == 0
    found = json.loads(capsys.readouterr().out)
    # Two passes are too few for a verdict.
    assert found["payback"]["pays_after"] is None
    assert "never pays" in found["payback"]["words"]
