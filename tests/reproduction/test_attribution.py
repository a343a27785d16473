"""The attribution: its cells, their settings, and the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from glt.errors import ConfigError
from glt.presets import resolve
from glt.reproduction import EXPERIMENTS, Setting, make_plan
from glt.reproduction.attribution import attribution, cell_of, cells
from glt.reproduction.plan import arm_config, start
from glt.store import Store, run_name

CORA = Setting("cora", "gcn")


def test_the_factorial_is_complete_and_each_cell_is_known_by_its_settings() -> None:
    experiment = EXPERIMENTS.get("attribution")
    ugs, *arms = experiment.arms(CORA)
    assert ugs.settings == {"method": "ugs", "rounds": 16}
    configs = [arm_config(experiment, CORA, arm) for arm in arms]
    assert [cell_of(config) for config in configs] == list(cells())
    assert len(configs) == len({run_name(config) for config in configs}) == 4 * 4 * 2
    assert {config.rounds for config in configs} == {4}
    assert {arm.reads for arm in arms} == {run_name(arm_config(experiment, CORA, ugs))}


def test_other_runs_are_in_no_cell() -> None:
    assert cell_of(resolve({"method": "ugs"})) is None
    assert cell_of(resolve({"method": "combine", "edges_from": "score:jaccard"})) is None


UGS_RUN, RANDOM_RUN = "run:cora-node-gcn-ugs-01234567", "run:cora-node-gcn-random-01234567"


@pytest.mark.parametrize(
    ("changed", "is_cell"),
    [
        ({}, True),
        ({"edges_from": RANDOM_RUN}, False),
        ({"edges_from": RANDOM_RUN, "weights_from": "all"}, False),
        ({"weights_from": "run:cora-node-gcn-ugs-76543210"}, False),
        ({"draw": "1"}, False),
        ({"source_seed": "3"}, False),
    ],
)
def test_a_cell_has_the_masks_of_one_run_of_ugs_and_of_its_own_seed(changed: dict[str, str], is_cell: bool) -> None:
    settings = {"method": "combine", "edges_from": UGS_RUN, "weights_from": UGS_RUN, "at_rounds": "4,9"}
    assert (cell_of(resolve({**settings, **changed})) is not None) == is_cell


def test_rounds_can_be_chosen() -> None:
    experiment = attribution([2, 5])
    ugs, first, *_ = experiment.arms(CORA)
    assert (ugs.settings["rounds"], first.settings["at_rounds"], experiment.rounds) == (5, "2,5", 2)
    with pytest.raises(ConfigError, match="ascending order"):
        attribution([5, 2])


def test_cells_wait_for_the_run_that_they_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    plan = make_plan(attribution([1]), CORA, [0], store.runs())
    assert [need.arm.words for need in plan.startable] == ["UGS"]
    started: list[str] = []
    monkeypatch.setattr(
        "glt.reproduction.plan.start_all",
        lambda store, configs, *_, **__: started.extend(config.method for config in configs) or [],
    )
    start(plan, store)
    assert started == ["ugs"] + 32 * ["combine"]
