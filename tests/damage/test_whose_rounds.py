"""Rounds that are another seed's or another run's, and rounds that nobody finished, are counted nowhere."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from glt.cli.main import main
from glt.doctor import examine, repair
from glt.errors import StoreError
from glt.presets import resolve
from glt.store import Run, Store
from tests.damage.conftest import SMALL

Copy = Callable[[], Store]


@pytest.fixture
def run(copy: Copy) -> Run:
    return copy().runs()[0]


def test_a_copied_seed_is_not_another_seed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(run.path / "seed-0", run.path / "seed-5")
    with pytest.raises(StoreError, match=f"seed-5 holds the rounds of {run.name}/seed-0: move it out of the run"):
        run.seed(5).rounds()
    with run.seed(5).lock(), pytest.raises(StoreError, match="holds the rounds of"):
        run.seed(5).drop_unfinished()
    assert main(["show", run.name, "--store", str(run.path.parent)]) == 1
    assert "holds the rounds of" in capsys.readouterr().err
    looked = examine(run.path)
    assert [finding.path.name for finding in looked.findings] == ["seed-5"]
    repair(looked)
    assert not examine(run.path).findings
    assert run.seeds() == [0, 1]
    assert list(run.path.glob("set-aside/*/seed-5/rounds.jsonl"))


def test_swapped_seeds_are_noticed(run: Run) -> None:
    for one, other in (("seed-0", "aside"), ("seed-1", "seed-0"), ("aside", "seed-1")):
        (run.path / one).rename(run.path / other)
    for seed in (0, 1):
        with pytest.raises(StoreError, match=f"seed-{seed} holds the rounds of {run.name}/seed-{1 - seed}"):
            run.seed(seed).last_round()


def test_a_seed_of_another_run_is_noticed(run: Run) -> None:
    other = Store(run.path.parent).create(resolve({**SMALL, "p_graph": 0.2}))
    shutil.copytree(run.path / "seed-0", other.path / "seed-0")
    with pytest.raises(StoreError, match=f"holds the rounds of {run.name}/seed-0"):
        other.seed(0).rounds()


def test_a_round_that_nobody_finished_does_not_count(run: Run) -> None:
    table = run.path / "seed-0" / "rounds.jsonl"
    last = json.loads(table.read_text().splitlines()[-1])
    with table.open("a") as file:
        file.write(json.dumps({**last, "round": last["round"] + 1, "test": 0.999}) + "\n")
    with pytest.raises(StoreError, match=r"rounds\.jsonl is damaged in line 4 \(it has no checksum\)"):
        run.seed(0).rounds()
    assert [finding.path.name for finding in examine(run.path).findings]


def test_a_first_layer_of_another_seed_is_noticed(copy: Copy) -> None:
    pretraining = copy().pretrainings()[0]
    shutil.copytree(pretraining.path / "seed-0", pretraining.path / "seed-4")
    with pytest.raises(StoreError, match="seed-4 holds the result of seed 0"):
        pretraining.seed(4).first_layer()
    assert [finding.path.parent.name for finding in examine(pretraining.path).findings] == ["seed-4"]
