"""The audit of a round, the graph it is done on, and what rounds note of their own training."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.cli.main import main as analysis_main
from analysis.measures.compute import measure_round
from analysis.runs import shared_graph
from glt.cli.main import main
from glt.cli.main import main as glt_main
from glt.config import RunConfig
from glt.datasets import DATASETS, load_graph
from glt.errors import DataError, StoreError
from glt.lottery.audit import audit, deleted_logits, multiplied_logits
from glt.lottery.diagnosis import Diagnosis, cause_shares, cuts_line, derive, diagnoses, diagnosis_of, of_notes, summary
from glt.lottery.graph import graph_of, whole_graph_of
from glt.lottery.lottery import compute_rounds
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.store import Epochs, Run, SeedRun, Store, bundled_examples
from glt.store.events import EventFile
from glt.store.paths import EVENTS
from glt.ticket_file.graph_formats import SparseGraph
from glt.ticket_file.ticket import make_ticket
from glt.training.problem import Problem
from tests.conftest import Compute, Watcher

ANOTHER = "f" * 64
# Every function that combines a seed's masks with its graph.
READERS: dict[str, Callable[[Run], object]] = {
    "graph_of": lambda run: graph_of(run.seed(0)),
    "whole_graph_of": lambda run: whole_graph_of(run.seed(0)),
    "shared_graph": lambda run: shared_graph([run], "This"),
    "measure_round": lambda run: measure_round(run.seed(0), 1),
    "SparseGraph": lambda run: SparseGraph.of(run.seed(0), 1),
    "make_ticket": lambda run: make_ticket(run.seed(0), 1),
    "audit": lambda run: audit(run.seed(0), 1),
}


@pytest.mark.parametrize("method", ["ugs", "random", "admm"])
@pytest.mark.parametrize("degree", ["source", "target", "both"])
def test_audit_passes_for_every_round(compute: Compute, method: str, degree: str) -> None:
    run = compute(method=method, degree=degree, rounds=1)
    for k in range(2):
        report = audit(run, k)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=0.002)


def test_audit_fails_if_a_removed_edge_or_weight_still_acts(compute: Compute) -> None:
    """Audit with changed masks: the difference must show."""
    run = compute(rounds=1)
    problem = Problem(run.config, load_graph("cora"))
    masks, weights = run.masks(1), run.weights(1)
    keep = masks.edges.keep.copy()
    keep[np.flatnonzero(keep)[:50]] = False
    nothing = WeightMask({name: np.zeros_like(keep) for name, keep in masks.weights.keep.items()})
    kept = multiplied_logits(problem, masks, weights)
    for other in (Masks(EdgeMask(masks.edges.kind, keep), masks.weights), Masks(masks.edges, nothing)):
        assert (kept - deleted_logits(problem, other, weights)).abs().max() > 1e-5


def test_auditing_a_missing_round_is_refused(compute: Compute) -> None:
    with pytest.raises(StoreError, match="There is no round 7 in"):
        audit(compute(rounds=1), 7)


@pytest.mark.parametrize("model", ["gin", "gat"])
@pytest.mark.parametrize("preset", ["paper", "official"])
def test_audit_passes_for_every_network(compute: Compute, model: str, preset: str) -> None:
    options = dict(resolve({"model": model, "hidden": 8}, preset).options)
    run = compute(**{**options, "model": model, "hidden": 8, "rounds": 1, "epochs": 2, "retrain_epochs": 2})
    assert audit(run, 1).passed


def test_audit_names_removed_edges_kept_in_the_softmax(compute: Compute) -> None:
    run = compute(model="gat", gat_mask="logit", hidden=8, rounds=1, epochs=2, retrain_epochs=2, p_graph=0.5)
    report = audit(run, 1)
    assert not report.passed
    assert "exp(0)" in str(report.as_json()["why"])


@pytest.fixture
def run(tmp_path: Path, draw_seed: Callable[..., None]) -> Run:
    run = Store(tmp_path / "store").create(RunConfig(rounds=1, retrain_epochs=1))
    draw_seed(run.seed(0), rounds=1)
    return run


def record(seed_run: SeedRun, content: str) -> None:
    seed_run.write_environment({"data_hash": content})


@pytest.mark.parametrize("reader", READERS)
def test_a_different_graph_of_the_same_name_is_refused(run: Run, reader: str) -> None:
    record(run.seed(0), ANOTHER)
    with pytest.raises(DataError) as refusal:
        READERS[reader](run)
    message = str(refusal.value)
    assert f"seed 0 of {run.name} was computed on" in message
    assert f"content hash {load_graph('cora').content_hash[:8]} instead of ffffffff" in message
    assert message.count(". ") == 0


@pytest.mark.parametrize("words", ["audit", "cost", "latency", "export --format graphml --out x", "betweenness"])
def test_commands_refuse_a_different_graph(run: Run, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    record(run.seed(0), ANOTHER)
    verb, *options = words.split()
    main = analysis_main if verb == "betweenness" else glt_main
    assert main([verb, run.name, "--round", "1", "--store", str(run.path.parent), *options]) != 0
    assert "differs from the one that seed 0" in capsys.readouterr().err


def test_the_graph_is_accepted_without_a_recorded_hash(run: Run, draw_seed: Callable[..., None]) -> None:
    assert run.seed(0).data_hash() is None
    assert graph_of(run.seed(0)) is load_graph("cora")
    run.seed(0).path.joinpath("environment.json").write_text("{", encoding="utf-8")
    assert graph_of(run.seed(0)) is load_graph("cora")
    record(run.seed(0), load_graph("cora").content_hash)
    assert graph_of(run.seed(0)) is shared_graph([run], "This") is load_graph("cora")
    draw_seed(run.seed(1), rounds=1)
    record(run.seed(1), ANOTHER)
    with pytest.raises(DataError, match="seed 1 of"):
        shared_graph([run], "This")


def test_examples_record_the_hash_of_the_bundled_graph() -> None:
    found = [run.seed(seed) for run in bundled_examples() if run.config.dataset == "cora" for seed in run.seeds()]
    assert len(found) > 10
    assert {seed.data_hash() for seed in found} == {load_graph("cora").content_hash}


def test_every_page_and_command_checks_the_graph_before_masks() -> None:
    """`message_graph` does not check a seed's data: only callers that compare the graph themselves may import it."""
    root = Path(__file__).parents[2]
    users = {
        str(path.relative_to(root))
        for folder in ("app", "analysis", "glt/cli", "glt/ticket_file")
        for path in (root / folder).rglob("*.py")
        if "import message_graph" in (text := path.read_text(encoding="utf-8")) or ", message_graph" in text
    }
    assert users == {"analysis/runs.py", "app/views/ticket_import.py"}


# Masks move by a tenth an epoch and reach zero at the tenth, under a penalty that nothing outweighs.
COLLAPSING = {"mask_learning_rate": 0.1, "gamma_graph": 10.0, "gamma_weight": 10.0, "masks_from": "last"}
SOUND = {"gamma_graph": 0.0, "gamma_weight": 0.0, "mask_weight_decay": False}
SMALL = {"hidden": 16, "epochs": 30, "retrain_epochs": 12, "rounds": 2, "learning_rate": 0.05, "dropout": 0.0}


def searched(store: Store, **settings: Any) -> SeedRun:
    seed_run = store.create(resolve({**SMALL, **settings})).seed(0)
    with seed_run.lock():
        compute_rounds(seed_run, Watcher())
    return seed_run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def collapsed(store: Store) -> SeedRun:
    return searched(store, **COLLAPSING)


@pytest.fixture(scope="module")
def sound(store: Store) -> SeedRun:
    return searched(store, **SOUND)


def test_a_collapsed_search_is_noted_with_its_epochs(collapsed: SeedRun) -> None:
    dense, *rounds = diagnoses(collapsed, collapsed.rounds())
    assert dense.at_chance_from == {}
    assert dense.masks_read is None
    for found in rounds:
        assert found.at_chance_from is not None
        start = found.at_chance_from["search"]
        assert set(found.masks_zero_from.values()) <= {9, 10, 11}
        assert 0 < start < 29
        assert found.masks_read == 29
        assert found.is_read_late
        assert max(found.masks_at_zero.values()) > 0.2
        assert found.cuts_without_gradient == 0.0
    lines = collapsed.log_path.read_text().splitlines()
    assert f"Round 1: {rounds[0].words()[0]}." in lines
    assert "masks were read after that, at epoch 30" in lines[0]


def test_a_search_without_collapse_has_no_note(sound: SeedRun) -> None:
    found = diagnoses(sound, sound.rounds())
    assert [each.words() for each in found] == [[]] * 3
    assert [each.at_chance_from for each in found] == [{}] * 3
    assert found[1].masks_at_zero == {"edges": 0.0, "weights": 0.0}
    assert summary(found) == []
    assert not sound.log_path.exists()


@pytest.mark.parametrize("name", ["collapsed", "sound"])
def test_derived_notes_equal_recorded_notes(name: str, request: pytest.FixtureRequest) -> None:
    """Except those that need soft mask values, which no store holds."""
    seed_run: SeedRun = request.getfixturevalue(name)
    noted = diagnoses(seed_run, seed_run.rounds())
    derived = derive(seed_run, load_graph("cora"), [0, 1, 2])
    for one, other in zip(noted, derived, strict=True):
        assert other.cuts_without_gradient == one.cuts_without_gradient
        assert other.at_chance_from == one.at_chance_from
        assert other.masks_read == one.masks_read
        assert other.is_read_late == one.is_read_late
        assert other.masks_at_zero == {}


def without_notes(seed_run: SeedRun) -> list[Any]:
    """Return the records as older versions wrote them."""
    return [record.model_copy(update={"notes": {}}) for record in seed_run.rounds()]


def test_notes_of_older_rounds_are_derived(collapsed: SeedRun) -> None:
    records = without_notes(collapsed)
    found = diagnoses(collapsed, records)
    assert found == derive(collapsed, load_graph("cora"), [0, 1, 2])
    assert diagnosis_of(collapsed, records[2]) == found[2]


def test_missing_notes_stay_open_without_the_data_set(collapsed: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(DATASETS.get("cora")), "is_at_hand", lambda self: False)
    assert diagnoses(collapsed, without_notes(collapsed)) == [Diagnosis()] * 3
    assert diagnoses(collapsed, collapsed.rounds())[1].is_read_late
    assert "unknown" in cuts_line(collapsed.config, [None] * 3)


def test_damaged_epochs_leave_only_the_validation_note_open(tmp_path: Path) -> None:
    seed_run = searched(Store(tmp_path), **{**SOUND, "epochs": 3, "retrain_epochs": 3, "rounds": 1})
    records = without_notes(seed_run)
    (seed_run.path / EVENTS).write_bytes(b"no epoch\n")
    dense, first = diagnoses(seed_run, records)
    assert dense == Diagnosis()
    assert first.at_chance_from is None
    assert first.cuts_without_gradient == 0.0


def test_a_round_is_written_when_its_epochs_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(self: EventFile, round: int, offset: int = 0) -> tuple[Epochs, int]:
        raise StoreError("events.jsonl is damaged in line 3.")

    monkeypatch.setattr(EventFile, "epochs", damaged)
    seed_run = searched(Store(tmp_path), **{**SOUND, "epochs": 3, "retrain_epochs": 3, "rounds": 1})
    monkeypatch.undo()
    dense, first = (of_notes(record.notes) for record in seed_run.rounds())
    assert (dense.at_chance_from, first.at_chance_from) == (None, None)
    assert first.cuts_without_gradient == 0.0


def test_show_prints_the_diagnosis(store: Store, collapsed: SeedRun, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(collapsed.path.parent)
    assert main(["show", path, "--json"]) == 0
    (seed,) = json.loads(capsys.readouterr().out)["seeds"]
    dense, first, _ = seed["rounds"]
    assert dense["cuts_without_gradient"] is None
    assert first["cuts_without_gradient"] == 0.0
    found = diagnoses(collapsed, collapsed.rounds())[1]
    assert first["collapse"] == found.collapse()
    assert first["collapse"]["masks_read"] == 29
    assert main(["show", path]) == 0
    shown = capsys.readouterr().out
    assert "edge entries removed without a gradient: none" in shown
    assert "search: validation is at chance to the end in rounds 1 and 2" in shown
    assert "masks were read after that" in shown
    assert "masks were at or below zero when they were read" in shown


def test_the_bundled_run_has_a_diagnosis(capsys: pytest.CaptureFixture[str]) -> None:
    run = Path(__file__).parents[2] / "examples" / "runs" / "cora-node-gcn-ugs-df8e8f72"
    assert main(["show", str(run), "--json"]) == 0
    rounds = json.loads(capsys.readouterr().out)["seeds"][0]["rounds"]
    shares = {number: rounds[number]["cuts_without_gradient"] for number in (0, 9, 13, 17, 20)}
    assert shares == {0: None, 9: 0.0, 13: 0.4, 17: pytest.approx(0.9095, abs=1e-4), 20: pytest.approx(0.98, abs=1e-3)}
    assert rounds[13]["collapse"]["at_chance_from"] == {"search": 170}
    assert rounds[13]["collapse"]["masks_at_zero"] is None
    assert (rounds[0]["causes"], rounds[9]["causes"]) == ({}, {"gradient": 1.0})
    assert rounds[13]["causes"] == {"gradient": 0.6, "no gradient": 0.4}
    assert main(["show", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "40.0 % in round 13" in shown
    assert "by epoch 131 to 171; masks were read before that" in shown


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("cora-node-gcn-random-113e68a9", {"random": 1.0}),
        ("cora-node-gcn-admm-0913104b", {"solver": 1.0}),
        ("cora-node-gcn-reinit-f5de2516", {"gradient": 0.6, "no gradient": 0.4}),
    ],
)
def test_show_has_the_causes_of_every_method(
    example: str, expected: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path(__file__).parents[2] / "examples" / "runs" / example
    assert main(["show", str(run), "--json"]) == 0
    rounds = json.loads(capsys.readouterr().out)["seeds"][0]["rounds"]
    assert [rounds[number]["causes"] for number in (0, 13)] == [{}, expected]


def test_causes_are_unknown_without_the_source_of_edges(tmp_path: Path) -> None:
    run = Path(__file__).parents[2] / "examples" / "runs" / "cora-node-gcn-reinit-f5de2516"
    shutil.copytree(run, tmp_path / run.name)
    seed = Store(tmp_path).find(run.name).seed(0)
    records = seed.rounds()
    assert cause_shares(seed, records, diagnoses(seed, records)) == [{}] + [None] * 16


def test_the_diagnosis_sentences() -> None:
    late = Diagnosis(
        at_chance_from={"search": 125, "retrain": 0},
        masks_read=199,
        masks_at_zero={"edges": 0.559, "weights": 0.404},
        masks_zero_from={"edges": 124, "weights": 125},
    )
    assert late.words() == [
        "search: validation is at chance from epoch 126 to the end; masks were read after that, at epoch 200",
        "retrain: validation is not above chance in any epoch",
        "search: 55.9 % of edge masks and 40.4 % of weight masks were at or below zero when they were read (half were "
        "first there: edge masks at epoch 125, weight masks at epoch 126)",
    ]
    thinned = Diagnosis(at_chance_from={"search": 130}, masks_read=14, every_epoch=False)
    assert thinned.words()[0].startswith("search: validation is at chance from epoch 131 or earlier")
    assert Diagnosis().collapse() is None
