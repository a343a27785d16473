"""Each network on each data set for each task: two rounds of a small run are computed, and every audit passes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from glt.datasets import load_graph
from glt.lottery.audit import audit
from glt.lottery.lottery import Stopped, find_tickets
from glt.masks import remaining_after
from glt.presets import resolve
from glt.store import SeedRun, Store

Compute = Callable[..., SeedRun]
TINY = {"hidden": 16, "epochs": 2, "retrain_epochs": 2, "rounds": 2}
# Fewer clusters than by default: their number changes no step of the computation, only how long it takes.
LINK = {"gic_clusters": 8, "gic_iterations": 1}
TRAINING_EDGES = {"cora": 4488, "citeseer": 3870, "pubmed": 37676}


@pytest.fixture(scope="module", autouse=True)
def data_root(test_data: Path) -> Generator[None, None, None]:
    """The reference data as data root, so that each graph is read once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLT_DATA", str(test_data))
        yield


@pytest.mark.parametrize("task", ["node", "link"])
@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
@pytest.mark.parametrize("model", ["gcn", "gin", "gat"])
def test_two_rounds_are_computed_and_audited(tmp_path: Path, model: str, dataset: str, task: str) -> None:
    options: dict[str, Any] = {"gat": {"hidden": 8, "gat_heads": 2}}.get(model, {})
    values = {**TINY, "model": model, "dataset": dataset, "task": task, **options}
    config = resolve(values | (LINK if task == "link" else {}), "official")
    run = Store(tmp_path).create(config).seed(0)
    with run.lock():
        find_tickets(run, Nobody())
    rounds = run.rounds()
    assert [record.round for record in rounds] == [0, 1, 2]
    assert all(0 < record.test <= 1 for record in rounds)
    edges = TRAINING_EDGES[dataset] if task == "link" else load_graph(dataset).num_edges
    assert run.masks(2).edges.kept == remaining_after(0.05, 2 * edges, 2)
    assert rounds[2].macs["dense_features"] < rounds[0].macs["dense_features"]
    for number in (0, 2):
        report = audit(run, number)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=0.01)


class Nobody:
    """An observer who never stops a run, or does after a number of reports."""

    def __init__(self, stop_after: int = 0) -> None:
        self._left = stop_after

    def on_progress(self, progress: object) -> None:
        self._left -= 1

    def should_stop(self) -> bool:
        return self._left == 0


@pytest.mark.parametrize("objective", ["gic", "bce"])
@pytest.mark.parametrize("method", ["ugs", "random", "admm"])
def test_a_link_run_goes_on_after_a_stop_with_the_same_bytes(tmp_path: Path, method: str, objective: str) -> None:
    own = {"admm_iterations": 2, "admm_steps": 1} if method == "admm" else {}
    values = {**TINY, **LINK, **own, "rounds": 1, "task": "link", "method": method, "link_objective": objective}
    runs = [Store(tmp_path / name).create(resolve(values)).seed(0) for name in ("whole", "cut")]
    with runs[0].lock():
        find_tickets(runs[0], Nobody())
    with runs[1].lock():
        with pytest.raises(Stopped):
            find_tickets(runs[1], Nobody(3))
        find_tickets(runs[1], Nobody())
    whole, cut = ({path.name: path.read_bytes() for path in run.path.glob("*.safetensors")} for run in runs)
    assert whole == cut
    assert (runs[0].path / "events.jsonl").read_bytes() == (runs[1].path / "events.jsonl").read_bytes()
