"""A run that is killed or interrupted at any moment is resumed by the same command to the same bytes."""

from __future__ import annotations

import collections
import itertools
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from glt.store import Store
from tests.robustness.faults.conftest import KILLS, THOROUGH
from tests.robustness.faults.lives import (
    SEARCHES,
    STAGES,
    Life,
    Plan,
    assert_equal,
    assert_nothing_is_lost,
    draw_moment,
)

EPOCHS = 20
# Round 0 is one of them.
ROUNDS = 3
SMALL = (f"rounds={ROUNDS - 1}", f"epochs={EPOCHS}", f"retrain_epochs={EPOCHS}", "hidden=16")
TOTAL: collections.Counter[str] = collections.Counter()
EVERY_EPOCH = {"GLT_CHECKPOINT_SECONDS": "0"}


@dataclass(frozen=True)
class Kind:
    """A kind of run that is killed."""

    name: str
    settings: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def arguments(self) -> list[str]:
        return ["--dataset", "cora", "--seeds", "0", "--set", *SMALL, *self.settings]


KINDS = [
    Kind("UGS, written down every epoch", ("method=ugs",), EVERY_EPOCH),
    Kind("UGS", ("method=ugs",), {}),
    Kind("random", ("method=random",), {}),
    Kind("ADMM, written down every epoch", ("method=admm",), EVERY_EPOCH),
    Kind("ResGCN in clusters, written down every epoch", ("model=resgcn", "layers=3", "batch_clusters=2"), EVERY_EPOCH),
]


def shares() -> list[tuple[Kind, int]]:
    """Spread the kills over the kinds; a few go to the first one alone, as each kind has to be computed twice."""
    kinds = KINDS if THOROUGH else KINDS[:1]
    parts = np.diff(np.linspace(0, KILLS, len(kinds) + 1).astype(int))
    return list(zip(kinds, map(int, parts), strict=True))


@pytest.mark.parametrize(("kind", "kills"), shares(), ids=lambda value: getattr(value, "name", None))
def test_killed_and_resumed_gives_the_same_bytes(
    tmp_path: Path, seed: int, kind: Kind, kills: int, say: Callable[[str], None]
) -> None:
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    say(f"\n{kind.name}: {kills} moments drawn with GLT_FAULT_SEED={seed}")
    reference, plan = uninterrupted(tmp_path, kind)
    aims = itertools.cycle(generator.permutation([*STAGES, "writing", "any"]).tolist())
    fell: collections.Counter[str] = collections.Counter()
    for chain in itertools.count():
        run, rounds = tmp_path / f"chain {chain}" / "store" / reference.name, 0
        run.parent.mkdir(parents=True)
        while fell.total() < kills:
            moment = draw_moment(generator, next(aims), plan)
            with Life.begin(run, kind.arguments, kind.environment) as life:
                if not life.kill_at(moment):
                    break
                stage = life.stage(plan)
            fell[stage] += 1
            rounds = assert_nothing_is_lost(run, reference, rounds)
            say(f"  {fell.total():2d}. {stage:10s} with {rounds} whole rounds: {moment}")
        with Life.begin(run, kind.arguments, kind.environment) as life:
            assert life.end() == 0
        assert_equal(run, reference)
        assert_round_was_never_begun_anew(run)
        if fell.total() == kills:
            break
    say(f"  {kind.name}: {', '.join(f'{stage} {fell[stage]}' for stage in STAGES)}; {chain + 1} runs byte-equal")
    TOTAL.update(fell)


def test_kill_moments_cover_every_stage(say: Callable[[str], None]) -> None:
    if not TOTAL:
        pytest.skip("the kills were another process's")
    say(f"\nKilled {TOTAL.total()} times: {', '.join(f'{stage} {TOTAL[stage]}' for stage in STAGES)}")
    assert TOTAL.total() == KILLS
    assert not THOROUGH or all(TOTAL[stage] for stage in STAGES)


def uninterrupted(folder: Path, kind: Kind) -> tuple[Path, Plan]:
    """Compute a run without interruption, and the plan that moments are drawn from."""
    store = folder / "reference" / "store"
    store.mkdir(parents=True)
    with Life.begin(store / run_name(kind), kind.arguments, kind.environment) as life:
        assert life.end() == 0
        whole = time.monotonic() - life.started
    assert life.first_epoch is not None
    searches = frozenset(each["stage"] for each in life.epochs) & SEARCHES
    checkpoints = any("checkpoint" in name for name in life.signs)
    return store / run_name(kind), Plan(life.first_epoch, whole, EPOCHS, ROUNDS, searches, checkpoints)


def run_name(kind: Kind) -> str:
    from glt.presets import resolve
    from glt.store import run_name

    return run_name(resolve({"dataset": "cora", **dict(pair.split("=") for pair in (*SMALL, *kind.settings))}))


def assert_round_was_never_begun_anew(run: Path) -> None:
    """A checkpoint is skipped only if its round was completely written just before the kill."""
    log = (run / "seed-0" / "log.txt").read_text()
    skipped = [line for line in log.splitlines() if "is not used" in line]
    assert all(" is of round " in line for line in skipped), skipped


SETTINGS = ("--set", "rounds=8", "retrain_epochs=4", "epochs=1", "hidden=16")
PATIENCE = 1800


def glt(store: Path) -> list[str]:
    return [sys.executable, "-m", "glt", "run", "--store", str(store), *SETTINGS]


def begun_on_terminal(command: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command in the foreground of a terminal of its own; return it and the terminal's other end."""
    end, terminal = pty.openpty()
    # A session's leader owns the first terminal that it opens.
    script = f'exec "$@" <{os.ttyname(terminal)} >{os.ttyname(terminal)} 2>&1'
    process = subprocess.Popen(["/bin/sh", "-c", script, "sh", *command], start_new_session=True)
    return process, end


@pytest.mark.usefixtures("fake_engine")
def test_ctrl_c_in_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(glt(tmp_path / "reference"), check=True, stdout=subprocess.DEVNULL)
    monkeypatch.setenv("FAKE_PAUSE", "2")
    store = Store(tmp_path / "store")
    process, terminal = begun_on_terminal(glt(store.root))
    deadline = time.monotonic() + PATIENCE
    while not store.runs() or store.runs()[0].seed(0).whole_rounds() < 1:
        assert time.monotonic() < deadline, "the first round does not come"
        time.sleep(0.02)
    os.write(terminal, b"\x03")
    assert process.wait(PATIENCE) == 130
    os.close(terminal)
    run = store.runs()[0]
    assert run.seed(0).status().state == "stopped"
    assert 1 <= run.seed(0).whole_rounds() <= 2
    monkeypatch.delenv("FAKE_PAUSE")
    subprocess.run(glt(store.root), check=True, stdout=subprocess.DEVNULL)
    assert_equal(run.path, tmp_path / "reference" / run.name)
