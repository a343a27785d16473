"""Which setting a panel varies, found from the runs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import pytest

from analysis.ablation import ablation_panels, left_out, one_sweep, panel_rounds, settings_of
from analysis.tables import rounds_table
from glt.config import RunConfig
from glt.errors import ConfigError, StoreError
from glt.presets import resolve
from glt.store import Run

GRAPH, WEIGHT = (0.2, 0.05, 0.1), (0.1, 0.4, 0.2)


def values(runs: Sequence[Run], field: str) -> list[float]:
    return [getattr(run.config, field) for run in runs]


def test_one_setting_gives_one_panel_in_the_order_of_its_values(make_swept: Callable[..., Run]) -> None:
    (panel,) = ablation_panels([make_swept(p_graph=rate) for rate in GRAPH])
    assert (panel.field, panel.title) == ("p_graph", "")
    assert values(panel.runs, "p_graph") == [0.05, 0.1, 0.2]
    assert list(panel.labels.values()) == ["p_graph = 5 %", "p_graph = 10 %", "p_graph = 20 %"]


@pytest.mark.parametrize("grid", ["full", "cross"])
def test_two_settings_give_two_panels_through_the_defaults(make_swept: Callable[..., Run], grid: str) -> None:
    pairs = [pair for pair in product(GRAPH, WEIGHT) if grid == "full" or pair[0] == 0.05 or pair[1] == 0.2]
    graph, weight = ablation_panels([make_swept(p_graph=g, p_weight=w) for g, w in pairs])
    assert (graph.field, graph.title) == ("p_graph", "p_weight = 20 %")
    assert (weight.field, weight.title) == ("p_weight", "p_graph = 5 %")
    assert values(graph.runs, "p_graph") == [0.05, 0.1, 0.2]
    assert set(values(graph.runs, "p_weight")) == {0.2}
    assert values(weight.runs, "p_weight") == [0.1, 0.2, 0.4]
    assert set(values(weight.runs, "p_graph")) == {0.05}


def test_the_larger_group_is_shown_rather_than_the_defaults(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=0.2, p_weight=w) for w in WEIGHT]
    runs += [make_swept(p_graph=0.05, p_weight=w) for w in (0.1, 0.2)]
    _, weight = ablation_panels(runs)
    assert weight.title == "p_graph = 20 %"


def test_runs_in_no_panel_are_named(make_swept: Callable[..., Run]) -> None:
    runs = {pair: make_swept(p_graph=pair[0], p_weight=pair[1]) for pair in product(GRAPH, (0.1, 0.4))}
    panels = {run.name for panel in ablation_panels(list(runs.values())) for run in panel.runs}
    missing = {run.name for run in left_out(list(runs.values()))}
    assert missing == {run.name for run in runs.values()} - panels
    assert len(missing) == 2


def test_one_sweep_is_the_largest_group_around_one_run(make_swept: Callable[..., Run]) -> None:
    sweep = [make_swept(p_graph=rate) for rate in GRAPH]
    others = [make_swept(p_graph=0.3, hidden=width, epochs=3) for width in (8, 9)]
    assert one_sweep([others[0], *sweep, others[1]]) == sweep
    assert one_sweep([]) == []


def test_words_and_switches_are_settings_too(make_swept: Callable[..., Run]) -> None:
    (panel,) = ablation_panels([make_swept(degree=degree) for degree in ("target", "source")])
    assert list(panel.labels.values()) == ["degree = source", "degree = target"]
    switched = [make_swept(options={"mask_weight_decay": on}) for on in (True, False)]
    (panel,) = ablation_panels(switched)
    assert list(panel.labels.values()) == ["mask_weight_decay = false", "mask_weight_decay = true"]


def test_an_option_that_a_config_does_not_name_has_its_default() -> None:
    bare, complete = RunConfig(), resolve({"learning_rate": 0.01, "weight_decay": 5e-4}, "official")
    assert settings_of(bare) == settings_of(complete)
    assert "rounds" not in settings_of(bare)
    assert "gamma_graph" not in settings_of(RunConfig(method="random"))


def test_runs_without_rounds_are_left_out(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=rate) for rate in (0.05, 0.1)]
    (panel,) = ablation_panels([*runs, make_swept(p_graph=0.2, rounds=-1)])
    assert list(panel.labels) == [run.name for run in runs]
    with pytest.raises(StoreError, match="no finished round"):
        ablation_panels([make_swept(p_graph=0.3, rounds=-1)])


def test_the_rows_of_a_panel_are_in_its_order_and_under_its_labels(make_swept: Callable[..., Run]) -> None:
    runs = [make_swept(p_graph=g, p_weight=w, rounds=2) for g, w in product((0.2, 0.05), (0.4, 0.2))]
    graph, _ = ablation_panels(runs)
    rows = panel_rounds(rounds_table(runs), graph)
    assert list(dict.fromkeys(rows["label"])) == ["p_graph = 5 %", "p_graph = 20 %"]
    assert len(rows) == 2 * 3 * 3
    assert rows.groupby("run", sort=False)["round"].apply(list).tolist() == [[0, 1, 2] * 3] * 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([{}], "needs runs that differ in a setting"),
        ([{}, {"method": "random"}], "differ in method: choose runs of one sweep"),
        ([{}, {"dataset": "citeseer"}], "differ in dataset"),
        (
            [{"p_graph": 0.1, "p_weight": 0.1}, {"p_graph": 0.2, "p_weight": 0.2}],
            "No two of these runs differ in p_graph",
        ),
        (
            [{}, {"hidden": 8, "layers": 3, "dropout": 0.1, "p_graph": 0.1, "p_weight": 0.1}],
            "differ in 5 settings (hidden, layers, p_graph, p_weight, dropout), but the figure has room for 4 panels",
        ),
    ],
)
def test_what_is_no_ablation_is_one_sentence(
    make_swept: Callable[..., Run], changes: Sequence[Mapping[str, object]], sentence: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        ablation_panels([make_swept(rounds=1, **change) for change in changes])
    assert sentence in str(raised.value)
