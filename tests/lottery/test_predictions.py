"""Predictions of rounds: recomputed from weights and masks, stored beside them, and how the store treats the file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glt.cli.main import main
from glt.datasets import load_graph
from glt.doctor import examine, repair
from glt.errors import ConfigError, StoreError
from glt.lottery.predictions import accuracy, predictions_of, store_predictions
from glt.presets import resolve
from glt.store import Run, Store, paths
from glt.store.examples import pack_run
from glt.store.tensors import Predictions, read_predictions, write_predictions, write_tensors
from glt.training import trainer
from tests.conftest import Compute

NETWORKS = [
    {},
    {"method": "random"},
    {"layers": 3},
    {"model": "gin"},
    {"model": "gat", "hidden": 4},
    {"model": "gat", "gat_mask": "logit", "hidden": 4},
]


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """The outputs of every evaluation of a training, in order."""
    seen: list[np.ndarray] = []
    usual = trainer.passes_of

    def passes_of(network: Any, all_outputs: bool) -> Any:
        passes = usual(network, all_outputs)
        outputs = passes.outputs

        def remember() -> Any:
            seen.append((found := outputs()).numpy().copy())
            return found

        monkeypatch.setattr(passes, "outputs", remember)
        return passes

    monkeypatch.setattr(trainer, "passes_of", passes_of)
    return seen


@pytest.mark.parametrize("settings", NETWORKS)
def test_recomputed_logits_are_those_of_the_best_epoch(
    compute: Compute, remembered: list[np.ndarray], settings: dict[str, Any]
) -> None:
    """And the accuracies of the record come out exactly."""
    seed, graph = compute(rounds=1, epochs=2, retrain_epochs=4, **settings), load_graph("cora")
    split, [first, last] = graph.split, (remembered[:4], remembered[-4:])
    for record, outputs in zip(seed.rounds(), (first, last), strict=True):
        found, best = predictions_of(seed, record.round), outputs[record.best_epoch]
        assert found.val.tobytes() == best[split.val].tobytes()
        assert found.test.tobytes() == best[split.test].tobytes()
        assert accuracy(seed.config, found.val, graph.labels[split.val]) == record.val
        assert accuracy(seed.config, found.test, graph.labels[split.test]) == record.test


def test_stored_logits_are_read_back_whole(compute: Compute) -> None:
    seed = compute(rounds=1)
    computed = [predictions_of(seed, number) for number in (0, 1)]
    stored = store_predictions(seed, [0, 1])
    assert [(each.round, each.is_as_recorded) for each in stored] == [(0, True), (1, True)]
    assert [each.test for each in stored] == [record.test for record in seed.rounds()]
    for number, logits in enumerate(computed):
        paths.weights_file(seed.path, number).unlink()
        assert predictions_of(seed, number).test.tobytes() == logits.test.tobytes()
    assert seed.predictions(1).val.shape == (500, 7)


def test_logits_that_differ_from_the_record_are_reported(compute: Compute) -> None:
    seed = compute(rounds=1)
    other = predictions_of(seed, 0)
    seed.write_predictions(1, Predictions(-other.val, -other.test))
    assert [each.is_as_recorded for each in store_predictions(seed, [0, 1])] == [True, False]


def test_predictions_are_no_part_of_a_run(compute: Compute) -> None:
    seed = compute(rounds=1)
    before = {path.name: path.read_bytes() for path in seed.path.iterdir() if path.name != paths.LOCK}
    store_predictions(seed, [0])
    after = {path.name: path.read_bytes() for path in seed.path.iterdir() if path.name != paths.LOCK}
    assert after.keys() - before.keys() == {"predictions-00.safetensors"}
    assert before.items() <= after.items()
    assert seed.sound_rounds() == 2


def test_a_running_seed_is_left_alone(compute: Compute) -> None:
    seed = compute(rounds=1)
    command = [sys.executable, "-m", "glt", "predictions", str(seed.path.parent)]
    with seed.lock():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "seed-0" in done.stderr
    assert not seed.has_predictions(0)


def test_only_rounds_that_exist_have_predictions(compute: Compute) -> None:
    with pytest.raises(StoreError, match="There is no round 5"):
        store_predictions(compute(rounds=1), [5])


def test_links_have_no_classes(compute: Compute) -> None:
    seed = compute(task="link", rounds=1, epochs=1, retrain_epochs=1)
    with pytest.raises(ConfigError, match="for node classification only"):
        predictions_of(seed, 0)


# The command


def test_the_command_stores_and_reports(compute: Compute, capsys: pytest.CaptureFixture[str]) -> None:
    seed = compute(rounds=2)
    run, store = seed.path.parent.name, str(seed.path.parents[1])
    assert main(["predictions", run, "--round", "0", "--round", "2", "--store", store, "--json"]) == 0
    [document] = json.loads(capsys.readouterr().out)["runs"]
    assert document["run"] == run
    assert [each["round"] for each in document["seeds"][0]["rounds"]] == [0, 2]
    assert main(["predictions", run, "--store", store, "--progress"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{run}, seed 0: predictions of rounds 0 to 2; the accuracies are those of the records.\n"
    assert printed.err == "1.0000\n"
    assert [seed.has_predictions(number) for number in range(3)] == [True] * 3


SMALL = "rounds=1 epochs=1 retrain_epochs=1 hidden=8".split()


def test_a_run_keeps_predictions_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--set", *SMALL, "--store", str(tmp_path), "--json"]
    assert main(arguments) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main([*arguments, "--keep-predictions"]) == 0
    assert json.loads(capsys.readouterr().out) == plain
    [run] = Store(tmp_path).runs()
    assert run.name == plain["run"]
    assert [run.seed(0).has_predictions(number) for number in range(2)] == [True, True]


@pytest.mark.parametrize(
    ("more", "words"), [(["--detach"], "leave out --detach"), (["--task", "link"], "for node classification only")]
)
def test_predictions_that_cannot_be_kept_are_refused_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    assert main(["run", "--set", *SMALL, "--store", str(tmp_path), "--keep-predictions", *more]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_seed_without_a_finished_round_is_said_to_have_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Store(tmp_path / "store").create(resolve({}))
    run.seed(0).path.mkdir()
    (run.seed(0).path / paths.ROUNDS).touch()
    assert main(["predictions", run.name, "--seeds", "0", "--store", str(tmp_path / "store")]) == 0
    assert capsys.readouterr().out == f"{run.name}, seed 0: no round is finished.\n"


# The store


def test_a_packed_run_keeps_stored_predictions(compute: Compute, tmp_path: Path) -> None:
    seed = compute(rounds=1)
    store_predictions(seed, [1])
    packed = pack_run(Run.open(seed.path.parent), tmp_path / "packed").seed(0)
    assert predictions_of(packed, 1).test.tobytes() == seed.predictions(1).test.tobytes()
    with pytest.raises(StoreError, match="an example without weights"):
        store_predictions(packed, [0, 1])
    assert [each.is_as_recorded for each in store_predictions(packed, [1])] == [True]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x7f"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "another file": lambda path: path.write_bytes(path.with_name("weights-01.safetensors").read_bytes()),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_predictions_cost_no_round(compute: Compute, damage: str) -> None:
    seed = compute(rounds=2)
    seed.write_status(seed.status().model_copy(update={"state": "done"}))
    store_predictions(seed, [1])
    path = paths.predictions_file(seed.path, 1)
    DAMAGE[damage](path)
    with pytest.raises(StoreError, match=r"predictions-01\.safetensors"):
        predictions_of(seed, 1)
    examined = examine(seed.path.parent)
    [finding] = [each for each in examined.findings if each.path == path]
    assert "predictions" in finding.then
    repaired = repair(examined)
    assert path in [each.path for each in repaired.repaired]
    assert not path.exists()
    assert seed.sound_rounds() == 3
    assert [each.is_as_recorded for each in store_predictions(seed, [1])] == [True]


def test_damaged_predictions_of_an_example_are_found(compute: Compute, tmp_path: Path) -> None:
    seed = compute(rounds=1)
    store_predictions(seed, [0, 1])
    packed = pack_run(Run.open(seed.path.parent), tmp_path / "packed")
    DAMAGE["flipped"](path := paths.predictions_file(packed.seed(0).path, 1))
    assert [finding.path for finding in examine(packed.path).findings] == [path]


def test_predictions_of_a_round_that_is_computed_again_go_with_it(compute: Compute) -> None:
    seed = compute(rounds=2)
    store_predictions(seed, [1, 2])
    paths.weights_file(seed.path, 2).write_bytes(b"half")
    assert seed.drop_unfinished() == 2
    assert [seed.has_predictions(number) for number in (1, 2)] == [True, False]


@pytest.mark.parametrize(
    "table", [{"val": np.zeros((2, 3), "f4")}, {"val": np.zeros(2, "f4"), "test": np.zeros(2, "f4")}]
)
def test_a_file_without_both_tables_is_refused(tmp_path: Path, table: dict[str, np.ndarray]) -> None:
    write_tensors(path := tmp_path / "predictions-00.safetensors", table, {"round": 0})
    with pytest.raises(StoreError, match="glt predictions"):
        read_predictions(path)
    write_predictions(path, Predictions(*2 * [np.zeros((2, 3), "f4")]), 0)
    assert read_predictions(path).val.shape == (2, 3)


def test_the_name_of_a_run_does_not_depend_on_stored_predictions() -> None:
    assert "predictions" not in resolve({}).model_dump_json()
