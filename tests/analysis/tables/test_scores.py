"""The score of a run is named by its task's metric, and runs of two tasks are no curves in one figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.curves import accuracy_figure
from analysis.curves.training import training_figure
from analysis.export import FigureChoices, draw, tickets_latex
from analysis.marks import paper_marks, score_title
from analysis.published import measurements
from analysis.runs import printed_measurements, training_part
from analysis.tables import caption, curve_table, metric_words, rounds_table, shared_metric, tickets_table
from glt.config import RunConfig
from glt.data import DATASETS
from glt.errors import ConfigError
from glt.presets import resolve
from glt.store import Run, Store
from glt.training.tasks import TASKS

BOTH = "One figure cannot hold scores of node classification \\(accuracy\\) and link prediction \\(ROC-AUC\\)"
METRICS = {"cora": "accuracy", "ranked": "Hits@50"}


@pytest.fixture
def runs(tmp_path: Path, draw_seed: Callable[..., None]) -> dict[str, Run]:
    """One drawn run for each task."""
    store = Store(tmp_path)
    found = {}
    for task in ("node", "link"):
        found[task] = store.create(resolve({"task": task, "retrain_epochs": 1, "rounds": 2}))
        draw_seed(found[task].seed(0), rounds=2)
    return found


@pytest.mark.parametrize(("task", "metric"), [("node", "accuracy"), ("link", "ROC-AUC")])
def test_every_place_names_the_metric(runs: dict[str, Run], task: str, metric: str) -> None:
    rounds = rounds_table([runs[task]])
    curve = curve_table(rounds)
    other = {"accuracy", "ROC-AUC"} - {metric}
    assert metric_words(rounds) == shared_metric(rounds) == metric
    assert score_title(curve, "test_last") == f"Test {metric}, last epoch (%)"
    assert accuracy_figure(curve, rounds).layout.yaxis.title.text == f"Test {metric} (%)"
    assert draw("accuracy", [runs[task]], FigureChoices()).axes[0].get_ylabel() == f"Test {metric} (%)"
    texts = [caption(rounds), tickets_latex(tickets_table(rounds))]
    epoch = pd.DataFrame([{"stage": "retrain", "epoch": 1, "at": 1, "loss": 1.0, "val": 0.5, "test": 0.5}])
    drawn = training_figure(epoch, metric)
    assert {trace.name for trace in drawn.data} == {"Loss", f"Validation {metric}", f"Test {metric}"}
    assert ("(GIC)" in texts[0] and "(GIC)" in texts[1]) == (task == "link")
    for text in texts:
        assert f"test {metric}" in text
        assert not any(word in text for word in other)


def test_runs_of_both_tasks_are_refused_in_one_figure(runs: dict[str, Run]) -> None:
    rounds = rounds_table([*runs.values()])
    with pytest.raises(ConfigError, match=BOTH):
        accuracy_figure(curve_table(rounds), rounds)
    with pytest.raises(ConfigError, match=BOTH):
        draw("accuracy", [*runs.values()], FigureChoices())


def test_a_table_of_both_tasks_names_both(runs: dict[str, Run]) -> None:
    table = tickets_table(rounds_table([*runs.values()]))
    assert metric_words(table) == "accuracy or ROC-AUC"
    # A narrow column breaks its header.
    assert "Accuracy or ROC-AUC" in " ".join(tickets_latex(table).replace(r"\\", " ").split())


def test_a_data_set_of_another_metric_is_named_and_not_mixed(
    tmp_path: Path, draw_seed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATASETS._entries, "ranked", replace(DATASETS.get("cora"), name="ranked", label="Ranked"))
    monkeypatch.setattr(type(TASKS.get("node")), "metric_on", lambda _, spec: METRICS[spec.name])
    store, made = Store(tmp_path), []
    for dataset in METRICS:
        made.append(store.create(RunConfig(dataset=dataset, retrain_epochs=1, rounds=2)))
        draw_seed(made[-1].seed(0), rounds=2)
    alone = rounds_table(made[1:])
    assert metric_words(alone) == shared_metric(alone) == "Hits@50"
    assert draw("accuracy", made[1:], FigureChoices()).axes[0].get_ylabel() == "Test Hits@50 (%)"
    assert metric_words(rounds_table(made)) == "accuracy or Hits@50"
    with pytest.raises(ConfigError, match=r"on Cora \(accuracy\) and node classification on Ranked \(Hits@50\)"):
        draw("accuracy", made, FigureChoices())


def test_the_papers_points_are_those_of_the_task(runs: dict[str, Run]) -> None:
    def printed(table: pd.DataFrame) -> int:
        return len(paper_marks(table, "graph", "published"))

    assert printed(curve_table(rounds_table([runs["node"]]))) > 0
    assert printed(curve_table(rounds_table([runs["link"]]))) == 0


def test_a_link_runs_graph_is_said_to_be_the_training_part() -> None:
    link, node = resolve({"task": "link"}), resolve({})
    assert training_part(link).startswith("The graph is its training part: 4,488 of 5,278 edges")
    assert training_part(node) == ""
    assert printed_measurements(link) == {}
    assert printed_measurements(node) == measurements("cora")
