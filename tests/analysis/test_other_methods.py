"""Other methods: their printed numbers, and our runs with their settings beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analysis.other_methods import (
    DATASETS,
    Printed,
    Publication,
    Results,
    command,
    compared,
    config_of,
    printed,
    publications,
)
from analysis.other_methods import results_of as found_in
from glt import formats
from glt.cost.search import SearchCost
from glt.methods.base import SEARCH_EPOCHS
from glt.presets import resolve
from glt.store import RoundRecord, Run, Store
from glt.verdicts import judge

TEDDY, BIRD = publications()[:2]
MACS = {"dense_features": 1, "sparse_features": 1, "published": 1}


def record(number: int, test: float, **more: object) -> RoundRecord:
    values = {"graph_sparsity": 1 - 0.95**number, "weight_sparsity": 1 - 0.8**number, "seconds": 2.0}
    kept = {"edges_kept_either_way": 1.0, "edges_kept_both_ways": 1.0}
    scores = {"val": test, "test": test, "test_last": test, "best_epoch": 3}
    return RoundRecord.model_validate({"round": number, **values, **kept, **scores, "macs": MACS, **more})


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[int, list[RoundRecord]]], Results]:
    """Return the results of a run of early-bird tickets with these records by seed."""

    def made(records: Mapping[int, list[RoundRecord]]) -> Results:
        class Seed:
            def __init__(self, number: int) -> None:
                self.number = number

            def rounds(self) -> list[RoundRecord]:
                return records[self.number]

        class Made:
            config = config_of(BIRD, "cora", "gcn")

            def seeds(self) -> list[int]:
                return list(records)

            def seed(self, number: int) -> Seed:
                return Seed(number)

        def cost(seed: Seed, last: int) -> SearchCost:
            known = seed.rounds()[: last + 1]
            epochs = [200 + int(str(each.notes.get(SEARCH_EPOCHS, 0))) for each in known]
            seconds = sum(each.seconds for each in known)
            return SearchCost(last, sum(epochs), seconds, 2, "cpu", {}, {}, {})

        monkeypatch.setattr("analysis.other_methods.search_cost", cost)
        return found_in(Made())  # type: ignore[arg-type]

    return made


DENSE = (0.82, 0.81, 0.80)
FIRST, FOURTH = (0.002, 0.001, 0.003), (-0.05, -0.06, -0.055)


def of_seed(seed: int) -> list[RoundRecord]:
    """Round 1 gains a little, round 4 loses five points or more; rounds 2 and 3 are alike."""
    gains = [0.0, FIRST[seed], -0.01 * seed, 0.01 * seed, FOURTH[seed]]
    notes = [{}, *({SEARCH_EPOCHS: 10 + number + seed} for number in range(1, 5))]
    return [record(number, DENSE[seed] + gains[number], notes=notes[number]) for number in range(5)]


def test_means_differences_and_verdicts_are_over_the_seeds(results: Callable[..., Results]) -> None:
    found = results({seed: of_seed(seed) for seed in range(3)})
    assert found.seeds == (0, 1, 2)
    dense, first, *_, fourth = found.rounds
    assert (dense.score_words, dense.difference_words) == ("81.0 ± 2.5 %", formats.MISSING)
    assert dense.verdict is None
    assert first.difference_words == "+0.2 ± 0.2 points"
    assert first.verdict is not None
    assert fourth.verdict is not None
    assert fourth.verdict.word == "no ticket"
    differences = [[0.0 + part for part in FIRST], [0, -0.01, -0.02], [0, 0.01, 0.02], list(FOURTH)]
    assert [each.verdict.word for each in found.rounds if each.verdict] == [each.word for each in judge(differences)]


def test_the_cost_counts_dense_training_and_the_epochs_that_searches_took(results: Callable[..., Results]) -> None:
    found = results({seed: of_seed(seed) for seed in range(3)})
    # Five retrainings of 200 epochs, and searches of 11 to 14, 12 to 15 and 13 to 16 epochs.
    assert [cost.epochs for cost in found.costs] == [1050, 1054, 1058]
    assert found.cost_words() == (
        "Cost of a seed: 1,054 epochs and at most 20 s of CPU time, 200 epochs of dense training included. "
        "Searches ended after 11 to 16 epochs."
    )


def test_a_claim_is_judged_at_our_round_of_its_sparsity(results: Callable[..., Results]) -> None:
    found = results({seed: of_seed(seed) for seed in range(3)})
    claims = {each.kind: compared(each, found) for each in printed(BIRD, "cora", "gcn")}
    assert claims["dense"].ours == "81.0 ± 2.5 %"
    weights = claims["weights"]
    assert weights.printed.words == "59.36 %"
    assert weights.ours.startswith("round 4 (59.0 %): \N{MINUS SIGN}5.5 ± ")
    assert (weights.result, weights.fails) == ("No ticket: shown to lose more than 0.5 points", True)
    assert (claims["edges"].printed.words, claims["edges"].fails) == ("none found", False)
    far = compared(Printed("weights", 0.9, "a table"), found)
    assert (far.result, far.fails) == ("no round at this sparsity", False)
    kept = compared(Printed("kept edges", 0.95, "a table"), found)
    assert kept.ours.startswith("round 1 (5.0 %)")


def test_without_a_run_nothing_is_claimed(results: Callable[..., Results]) -> None:
    number = printed(BIRD, "cora", "gcn")[0]
    assert compared(number, None).ours == "not run here"
    assert compared(number, results({})).ours == "not run here"
    assert results({0: [record(0, 0.8)]}).sentence() == "Only the dense round is finished."


def test_one_seed_has_no_verdict(results: Callable[..., Results]) -> None:
    found = results({0: of_seed(0)})
    assert found.sentence() == "No round is shown to lose less than 0.5 points against the dense network with 1 seed."
    assert found.rounds[1].score_words == "82.2 %"


def test_the_claim_about_early_birds_is_that_of_its_table() -> None:
    pairs = [(dataset, model) for dataset in DATASETS for model in ("gcn", "gat", "gin")]
    scores = [{each.kind: each.value for each in printed(BIRD, *pair)} for pair in pairs]
    better = sum(found["score"] >= found["dense"] for found in scores)  # type: ignore[operator]
    assert f"in {better} of {len(pairs)} pairs" in BIRD.claim
    assert printed(BIRD, "ogbn-arxiv", "gcn") == printed(TEDDY, "cora", "gcn") == []


@pytest.mark.parametrize("publication", publications(), ids=lambda each: str(each.key))
def test_a_network_without_printed_numbers_has_none(publication: Publication) -> None:
    assert printed(publication, "cora", "resgcn") == []


@pytest.mark.parametrize("publication", publications(), ids=lambda each: str(each.key))
def test_the_command_makes_the_run_that_is_looked_for(publication: Publication) -> None:
    method, preset = publication.method, publication.preset
    words = command(publication, "cora", "gcn", (0, 2))
    assert f"--method {method} --preset {preset} --seeds 0,2" in words
    assert config_of(publication, "cora", "gcn") == resolve({"method": method}, preset)


def test_a_run_of_the_store_is_read(store: Store, draw_seed: Callable[..., None]) -> None:
    run: Run = store.create(config_of(TEDDY, "cora", "gcn"))
    for seed in range(3):
        draw_seed(run.seed(seed), 4)
    found = found_in(run)
    assert [each.round for each in found.shown] == [0, 1, 2, 4]
    assert found.rounds[0].score == pytest.approx(sum(run.seed(seed).record(0).test for seed in range(3)) / 3)
