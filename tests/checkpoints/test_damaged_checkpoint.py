"""A checkpoint that is damaged, or another's, is left aside: its round starts again and comes out the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glt.store import Run, SeedRun, Store
from tests.checkpoints.cutting import CHECKPOINT, Killer, change, computed, cut
from tests.robustness.faults.equal_runs import assert_equal


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
        cut(store, "ugs", "plain", 10)
    return store


@pytest.mark.parametrize("harm", HARM)
def test_a_checkpoint_that_cannot_be_used_is_left_aside(
    tmp_path: Path, reference: Callable[..., tuple[SeedRun, int]], cut_in_search: Path, harm: str
) -> None:
    shutil.copytree(cut_in_search, tmp_path / "store")
    run: Run = Store(tmp_path / "store").runs()[0]
    HARM[harm](run.seed(0))
    rest = Killer()
    computed(tmp_path / "store", "ugs", "plain", rest)
    assert_equal(run.seed(0).path, reference("ugs", "plain")[0].path)
    assert len(rest.reports) == 12
    assert "checkpoint is left aside and its round starts again" in run.seed(0).log_path.read_text()


def test_a_proposal_of_another_network_is_left_aside(
    tmp_path: Path, reference: Callable[..., tuple[SeedRun, int]]
) -> None:
    seed_run = cut(tmp_path, "ugs", "plain", 15)
    other = np.zeros(10, dtype=np.uint8)

    def smaller(arrays: dict[str, Any], about: dict[str, Any]) -> None:
        about["state"]["proposal"]["edges"] = 80
        arrays["proposal/edges"] = other

    change(seed_run, smaller)
    rest = Killer()
    assert_equal(computed(tmp_path, "ugs", "plain", rest).path, reference("ugs", "plain")[0].path)
    assert len(rest.reports) == 12


def test_what_a_round_that_is_written_left_behind_is_cleared(tmp_path: Path) -> None:
    seed_run = cut(tmp_path, "ugs", "plain", 10)
    stale = (seed_run.path / CHECKPOINT).read_bytes()
    computed(tmp_path, "ugs", "plain", Killer())
    (seed_run.path / CHECKPOINT).write_bytes(stale)
    assert seed_run.drop_unfinished() == 2
    assert not (seed_run.path / CHECKPOINT).exists()
    assert len(seed_run.events()[0]) == 18
