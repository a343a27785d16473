"""A round that was interrupted continues from its checkpoint, with the same bytes; unusable checkpoints restart it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.errors import ConfigError
from glt.lottery.lottery import compute_rounds
from glt.lottery.resume import checkpoint_seconds
from glt.presets import resolve
from glt.store import Run, SeedRun, Store
from glt.store.tensors import read_tensors, write_tensors
from tests.robustness.faults.lives import assert_equal

Reference = Callable[..., tuple[SeedRun, int]]

CHECKPOINT = "checkpoint.safetensors"
# Numbers of the first report of each stage. Round 0 is retraining, round 1 of UGS a search and retraining, round 1 of
# ADMM the small network, three iterations of the solver, the network to prune and retraining.
EPOCHS = 6
SEARCH = SMALL_NETWORK = EPOCHS + 1
RETRAINING = SEARCH + EPOCHS
IN_SEARCH, IN_RETRAINING = SEARCH + 3, RETRAINING + 2
ITERATIONS = 3
SOLVER = SMALL_NETWORK + EPOCHS
PRUNED_NETWORK = SOLVER + ITERATIONS
ADMM_RETRAINING = PRUNED_NETWORK + EPOCHS
OPTIONS: dict[str, dict[str, Any]] = {
    "admm": {"admm_iterations": ITERATIONS, "admm_steps": 2},
    "link": {"task": "link", "gic_clusters": 8, "dropout": 0.5},
    "gin": {"model": "gin"},
    "gat": {"model": "gat", "hidden": 4},
    "undirected": {"edge_mask": "undirected"},
    "one run": {"schedule": "one_run"},
    "one shot": {"schedule": "one_shot"},
    "deep": {"model": "resgcn", "layers": 4, "hidden": 8, "batch_clusters": 3},
    "fresh": {"model": "resgcn", "layers": 3, "hidden": 8, "batch_clusters": 2, "cluster_masks": "fresh"},
    "last": {"masks_from": "last", "mask_noise": 0.0},
}


class Cut(Exception):
    """Stands for a kill: nothing more is written."""


class Killer:
    """An observer at which the computation breaks off after so many reports, and which counts them."""

    def __init__(self, at: int | None = None) -> None:
        self.reports: list[Any] = []
        self._at = at

    def on_progress(self, progress: Any) -> None:
        self.reports.append(progress)
        if len(self.reports) == self._at:
            raise Cut

    def should_stop(self) -> bool:
        return False


def computed(store: Path, method: str, kind: str, observer: Killer) -> SeedRun:
    """Compute a run of two rounds, or the rest of it."""
    small = {"hidden": 16, "epochs": EPOCHS, "retrain_epochs": EPOCHS, "rounds": 1}
    config = resolve({**small, **OPTIONS.get(kind, {}), "method": method})
    seed_run = Store(store).create(config).seed(0)
    with seed_run.lock():
        compute_rounds(seed_run, observer)
    return seed_run


def cut(store: Path, method: str, kind: str, at: int) -> SeedRun:
    """Compute until the report `at` and return the seed as it is then."""
    with pytest.raises(Cut):
        computed(store, method, kind, Killer(at))
    return Store(store).runs()[0].seed(0)


def change(seed_run: SeedRun, how: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Rewrite a checkpoint with other content and a checksum that fits it."""
    path = seed_run.path / CHECKPOINT
    arrays, about = read_tensors(path, "try again")
    how(arrays, about)
    write_tensors(path, arrays, about)


CUTS = [
    *[("ugs", "plain", at) for at in (1, 4, SEARCH, SEARCH + 1, IN_SEARCH, RETRAINING - 1, RETRAINING, RETRAINING + 1)],
    ("ugs", "plain", RETRAINING + EPOCHS - 1),
    *[("ugs", kind, IN_SEARCH) for kind in ("gin", "gat", "link", "undirected", "one run", "deep", "fresh", "last")],
    *[("ugs", kind, IN_RETRAINING) for kind in ("gin", "gat", "link", "one run", "deep")],
    ("ugs", "one run", RETRAINING),
    *[("random", "plain", at) for at in (3, 7, 10)],
    *[("admm", "admm", at) for at in (SMALL_NETWORK + 1, SOLVER, SOLVER + 1)],
    *[("admm", "admm", at) for at in (PRUNED_NETWORK + 1, ADMM_RETRAINING, ADMM_RETRAINING + 2)],
]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Compute as workers do: more threads add up in another order each time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CHECKPOINT_SECONDS", "0")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """Uninterrupted runs, each computed once, with the number of their reports."""
    known: dict[tuple[str, str], tuple[SeedRun, int]] = {}

    def reference(method: str, kind: str) -> tuple[SeedRun, int]:
        if (method, kind) not in known:
            observer = Killer()
            store = tmp_path_factory.mktemp(f"{method}-{kind}")
            known[method, kind] = computed(store, method, kind, observer), len(observer.reports)
        return known[method, kind]

    return reference


@pytest.mark.parametrize(("method", "kind", "at"), CUTS)
def test_an_interrupted_round_continues_from_its_checkpoint(
    tmp_path: Path, reference: Reference, method: str, kind: str, at: int
) -> None:
    whole, reports = reference(method, kind)
    cut(tmp_path, method, kind, at)
    rest = Killer()
    assert_equal(computed(tmp_path, method, kind, rest).path, whole.path)
    # The last report was not saved, and the solver's iterations, which train nothing, are run again.
    solver = sum(report.stage == "edge solver" for report in rest.reports)
    epochs, done = reports, at - 1
    if method == "admm":
        epochs -= ITERATIONS
        done = done if at <= SOLVER else max(done - ITERATIONS, SOLVER - 1)
    assert len(rest.reports) - solver == epochs - done


@pytest.mark.parametrize(
    ("method", "kind", "cuts"),
    [
        ("ugs", "plain", [2] * 16),
        # First in the network to prune, then in the solver, which runs again before that network continues.
        ("admm", "admm", [PRUNED_NETWORK + 3, 3, 2]),
    ],
)
def test_repeated_interruptions_give_the_same_bytes(
    tmp_path: Path, reference: Reference, method: str, kind: str, cuts: list[int]
) -> None:
    for at in cuts:
        cut(tmp_path, method, kind, at)
    assert_equal(computed(tmp_path, method, kind, Killer()).path, reference(method, kind)[0].path)


def test_progress_and_seconds_include_the_interrupted_part(tmp_path: Path) -> None:
    first, rest = Killer(IN_SEARCH), Killer()
    with pytest.raises(Cut):
        computed(tmp_path, "ugs", "plain", first)
    seed_run = Store(tmp_path).runs()[0].seed(0)
    change(seed_run, lambda arrays, about: about.update(seconds=5000.0))
    stale = (seed_run.path / CHECKPOINT).read_bytes()
    computed(tmp_path, "ugs", "plain", rest)
    assert rest.reports[0].fraction == first.reports[-1].fraction == 10 / 18
    assert rest.reports[0].epoch == 4
    assert rest.reports[-1].fraction == 1
    assert 5000 < seed_run.rounds()[1].seconds < 5100
    # A checkpoint of a round that is written is cleared.
    (seed_run.path / CHECKPOINT).write_bytes(stale)
    assert seed_run.drop_unfinished() == 2
    assert not (seed_run.path / CHECKPOINT).exists()
    assert len(seed_run.events()[0]) == 18


def test_a_checkpoint_is_due_after_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLT_CHECKPOINT_SECONDS")
    written: list[int] = []
    monkeypatch.setattr(SeedRun, "write_checkpoint", lambda self, checkpoint: written.append(checkpoint.epochs))
    assert computed(tmp_path / "random", "random", "plain", Killer()).is_complete()
    assert written == []
    computed(tmp_path / "ugs", "ugs", "plain", Killer())
    # Only the proposal saved after the search.
    assert written == [EPOCHS]
    assert checkpoint_seconds() == 60
    for value in ("soon", "-1", "nan", ""):
        monkeypatch.setenv("GLT_CHECKPOINT_SECONDS", value)
        with pytest.raises(ConfigError, match="GLT_CHECKPOINT_SECONDS"):
            checkpoint_seconds()


def spoil(seed_run: SeedRun, how: Callable[[bytes], bytes]) -> None:
    path = seed_run.path / CHECKPOINT
    path.write_bytes(how(path.read_bytes()))


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def without_generator(state: dict[str, Any]) -> None:
    del state["stages"][0]["about"]["generator"]


HARM: dict[str, Callable[[SeedRun], object]] = {
    "truncated": lambda run: spoil(run, lambda content: content[: len(content) // 2]),
    "empty": lambda run: spoil(run, lambda content: b""),
    "garbage": lambda run: spoil(run, lambda content: b"not a tensor file at all"),
    "one bit": lambda run: spoil(run, flipped),
    "newer": lambda run: spoil(run, lambda content: content.replace(b'\\"schema\\":1', b'\\"schema\\":9')),
    "other round": lambda run: change(run, lambda arrays, about: about.update(round=7)),
    "other config": lambda run: change(run, lambda arrays, about: about.update(owner="0" * 64 + " seed 0")),
    "other seed": lambda run: change(run, lambda _, about: about.update(owner=about["owner"].replace("d 0", "d 1"))),
    "more epochs": lambda run: change(run, lambda arrays, about: about.update(epochs=99)),
    "no state": lambda run: change(run, lambda arrays, about: about.update(state=None)),
    "no stages": lambda run: change(run, lambda arrays, about: about.update(state={})),
    "other stage": lambda run: change(run, lambda _, about: about["state"]["stages"][0].update(name="other")),
    "no generator": lambda run: change(run, lambda arrays, about: without_generator(about["state"])),
    "too far": lambda run: change(run, lambda _, about: about["state"]["stages"][0]["about"].update(done=99)),
    "no tensors": lambda run: change(run, lambda arrays, about: arrays.clear()),
    "other shapes": lambda run: change(
        run, lambda arrays, _: arrays.update({"stage 0/tensors/theta/layers.1.weight": np.zeros((3, 3), np.float32)})
    ),
    "other moments": lambda run: change(
        run, lambda arrays, _: arrays.update({"stage 0/adam/exp_avg/theta/layers.1.weight": np.zeros(3, np.float32)})
    ),
    "too few events": lambda run: (run.path / "events.jsonl").write_bytes(
        b"".join((run.path / "events.jsonl").read_bytes().splitlines(keepends=True)[:8])
    ),
    "a damaged event": lambda run: (run.path / "events.jsonl").write_bytes(
        (run.path / "events.jsonl").read_bytes().replace(b'"round":1', b'"round":"', 1)
    ),
}


@pytest.fixture(scope="module")
def cut_in_search(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run was cut off in the fourth epoch of the search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLT_CHECKPOINT_SECONDS", "0")
        store = tmp_path_factory.mktemp("cut")
        cut(store, "ugs", "plain", IN_SEARCH)
    return store


@pytest.mark.parametrize("harm", HARM)
def test_an_unusable_checkpoint_is_not_used(
    tmp_path: Path, reference: Reference, cut_in_search: Path, harm: str
) -> None:
    shutil.copytree(cut_in_search, tmp_path / "store")
    run: Run = Store(tmp_path / "store").runs()[0]
    HARM[harm](run.seed(0))
    rest = Killer()
    computed(tmp_path / "store", "ugs", "plain", rest)
    assert_equal(run.seed(0).path, reference("ugs", "plain")[0].path)
    assert len(rest.reports) == 12
    assert "checkpoint is not used and its round starts again" in run.seed(0).log_path.read_text()


def test_a_proposal_of_another_network_is_not_used(tmp_path: Path, reference: Reference) -> None:
    seed_run = cut(tmp_path, "ugs", "plain", IN_RETRAINING)
    other = np.zeros(10, dtype=np.uint8)

    def smaller(arrays: dict[str, Any], about: dict[str, Any]) -> None:
        about["state"]["proposal"]["edges"] = 80
        arrays["proposal/edges"] = other

    change(seed_run, smaller)
    rest = Killer()
    assert_equal(computed(tmp_path, "ugs", "plain", rest).path, reference("ugs", "plain")[0].path)
    assert len(rest.reports) == 12
