"""Captions; runs on different data of one name are ranked separately, reported, and never compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.compare import paired_table
from analysis.drawing import screen
from analysis.drawing.page import draw
from analysis.figures.accuracy import accuracy_curves
from analysis.figures.base import FigureChoices
from analysis.figures.curves import paper_marks, score_title
from analysis.figures.training import training_curves
from analysis.latex import tickets_latex
from analysis.leaderboard import leader_table
from analysis.published import measurements
from analysis.runs import printed_measurements, training_part
from analysis.tables.captions import caption, check_shared_data, data_words, metric_words, shared_metric
from analysis.tables.curves import curve_table
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import tickets_table
from app.views.compare import first_pair
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.presets import resolve
from glt.store import Run, Store
from glt.training.tasks import TASKS


def test_captions_state_runs_seeds_rounds_data_score_and_macs(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", [[0.8, 0.8], [0.8, 0.79], [0.8, 0.8]]), make_scored("random", [[0.8, 0.8], [0.8]])]
    words = caption(rounds_table(runs), "test_last", "sparse_features", margin=0.005, paper=True)
    for part in (
        "Cora node classification with GCN",
        "UGS and Random pruning",
        "after the last epoch",
        "rounds 0 to 1",
        "over 1 to 3 seeds",
        "shown to lose less than 0.5 points against dense",
        "Holm over 1 round)",
        "by its own criterion, mean at least the dense mean",
        "sparse features",
        "paper's printed points",
    ):
        assert part in words
    assert words.count(".") == 2  # the decimal point and the full stop: one sentence


def test_captions_state_one_seed(make_scored: Callable[..., Run]) -> None:
    words = caption(rounds_table([make_scored("ugs", [[0.8]])]))
    assert "1 seed, no interval" in words
    assert "no verdicts: they need two seeds or more" in words


def test_captions_without_finished_rounds() -> None:
    assert caption(rounds_table([])) == "No finished rounds."


MakeRun = Callable[..., Run]
ONE, OTHER = "a" * 64, "b" * 64
SCORES = [[0.80, 0.78], [0.81, 0.79], [0.82, 0.80]]
LOWER = [[0.70, 0.69], [0.71, 0.68], [0.72, 0.70]]


def on(run: Run, *contents: str) -> Run:
    """Record these content hashes as the data of the seeds of a run."""
    for seed, content in zip(run.seeds(), contents, strict=True):
        run.seed(seed).write_environment({"data_hash": content})
    return run


@pytest.fixture
def mixed(make_scored: MakeRun) -> list[Run]:
    return [on(make_scored("ugs", SCORES), *[ONE] * 3), on(make_scored("random", LOWER), *[OTHER] * 3)]


def test_captions_of_one_graph_have_no_data_hash(make_scored: MakeRun) -> None:
    known, unknown = on(make_scored("ugs", SCORES), *[ONE] * 3), make_scored("random", LOWER)
    rounds = rounds_table([known, unknown])
    assert set(rounds["data"]) == {""}
    assert data_words(rounds) == ""
    check_shared_data(rounds, "This")
    assert len(paired_table(rounds, known.name, unknown.name)) == 2


def test_captions_state_the_data_of_each_run(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    assert dict(zip(rounds["run"], rounds["data"], strict=True)) == {mixed[0].name: "aaaaaaaa", mixed[1].name: "b" * 8}
    assert set(tickets_table(rounds)["data"]) == {"a" * 8, "b" * 8}


def test_different_data_sets_are_no_mixture(make_scored: MakeRun) -> None:
    one, other = make_scored("ugs", SCORES), make_scored("ugs", SCORES, dataset="citeseer")
    assert data_words(rounds_table([on(one, *[ONE] * 3), on(other, *[OTHER] * 3)])) == ""


def test_seeds_of_one_run_on_different_data_are_reported(make_scored: MakeRun) -> None:
    run = on(make_scored("ugs", SCORES), ONE, OTHER, ONE)
    assert f"({run.name} on content aaaaaaaa, bbbbbbbb)" in data_words(rounds_table([run]))


def test_captions_state_mixed_data(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    printed = "Cora is not the same data in all runs"
    assert printed in caption(rounds)
    assert printed in tickets_latex(tickets_table(rounds))
    assert printed not in caption(rounds_table(mixed[:1]))


def test_mixed_data_in_one_figure_is_refused(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    refusal = f"One figure cannot show .* Cora: {mixed[0].name} on content aaaaaaaa and {mixed[1].name} on content bbbb"
    with pytest.raises(ConfigError, match=refusal):
        screen.draw(accuracy_curves(curve_table(rounds), rounds))
    for name in ("accuracy", "pareto"):
        with pytest.raises(ConfigError, match=refusal):
            draw(name, mixed, FigureChoices())


def test_comparing_mixed_data_is_refused(mixed: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (run.name for run in mixed)
    with pytest.raises(ConfigError, match="A comparison cannot show scores on different data"):
        paired_table(rounds_table(mixed), one, other)
    assert main(["compare", one, other, "--store", str(mixed[0].path.parent)]) != 0
    assert "choose runs on one of them" in capsys.readouterr().err


def test_every_data_hash_has_a_leader(
    mixed: list[Run], make_scored: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    second = on(make_scored("admm", LOWER), *[ONE] * 3)
    table = leader_table(rounds_table([*mixed, second]))
    assert table["run"].tolist() == [mixed[0].name, second.name, mixed[1].name]
    assert table["verdict"].tolist() == ["reference", "lower", "reference"]
    assert first_pair(table) == [mixed[0].name, second.name]
    names, store = [run.name for run in mixed], str(second.path.parent)
    assert main(["leaders", *names, "--store", store]) == 0
    assert "data aaaaaaaa" in capsys.readouterr().out
    assert main(["leaders", *names, "--store", store, "--json"]) == 0
    assert {row["verdict"] for row in json.loads(capsys.readouterr().out)} == {"reference"}


def test_the_suggested_pair_shares_its_data(make_scored: MakeRun) -> None:
    alone = on(make_scored("ugs", SCORES), *[ONE] * 3)
    rivals = [on(make_scored(method, LOWER), *[OTHER] * 3) for method in ("random", "admm")]
    assert first_pair(leader_table(rounds_table([alone, *rivals]))) == [alone.name]


BOTH = "One figure cannot show scores of node classification \\(accuracy\\) and link prediction \\(ROC-AUC\\)"
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
def test_captions_and_axes_name_the_metric(runs: dict[str, Run], task: str, metric: str) -> None:
    rounds = rounds_table([runs[task]])
    curve = curve_table(rounds)
    other = {"accuracy", "ROC-AUC"} - {metric}
    assert metric_words(rounds) == shared_metric(rounds) == metric
    assert score_title(curve, "test_last") == f"Test {metric}, last epoch (%)"
    assert screen.draw(accuracy_curves(curve, rounds)).layout.yaxis.title.text == f"Test {metric} (%)"
    assert draw("accuracy", [runs[task]], FigureChoices()).axes[0].get_ylabel() == f"Test {metric} (%)"
    texts = [caption(rounds), tickets_latex(tickets_table(rounds))]
    epoch = pd.DataFrame([{"stage": "retrain", "epoch": 1, "at": 1, "loss": 1.0, "val": 0.5, "test": 0.5}])
    drawn = screen.draw(training_curves(epoch, metric))
    assert {trace.name for trace in drawn.data} == {"Loss", f"Validation {metric}", f"Test {metric}"}
    assert ("(GIC)" in texts[0] and "(GIC)" in texts[1]) == (task == "link")
    for text in texts:
        assert f"test {metric}" in text
        assert not any(word in text for word in other)


def test_runs_of_both_tasks_are_refused_in_one_figure(runs: dict[str, Run]) -> None:
    rounds = rounds_table([*runs.values()])
    with pytest.raises(ConfigError, match=BOTH):
        screen.draw(accuracy_curves(curve_table(rounds), rounds))
    with pytest.raises(ConfigError, match=BOTH):
        draw("accuracy", [*runs.values()], FigureChoices())


def test_a_table_of_both_tasks_names_both_metrics(runs: dict[str, Run]) -> None:
    table = tickets_table(rounds_table([*runs.values()]))
    assert metric_words(table) == "accuracy or ROC-AUC"
    # A narrow column breaks its header.
    assert "Accuracy or ROC-AUC" in " ".join(tickets_latex(table).replace(r"\\", " ").split())


def test_data_sets_of_different_metrics_are_not_mixed(
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


def test_printed_points_follow_the_task(runs: dict[str, Run]) -> None:
    def number_of_points(table: pd.DataFrame) -> int:
        return len(paper_marks(table, "graph", "published"))

    assert number_of_points(curve_table(rounds_table([runs["node"]]))) > 0
    assert number_of_points(curve_table(rounds_table([runs["link"]]))) == 0


def test_the_graph_of_a_link_run_is_the_training_graph() -> None:
    link, node = resolve({"task": "link"}), resolve({})
    assert training_part(link).startswith("The graph is its training part: 4,488 of 5,278 edges")
    assert training_part(node) == ""
    assert printed_measurements(link) == {}
    assert printed_measurements(node) == measurements("cora")
