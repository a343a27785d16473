"""Presets and hyper-parameters: the paper's by default, the authors' under `official`, all overridable."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import pytest

from analysis.labels import settings_of
from glt.cli.run import settings
from glt.config import CORE_FIELDS, RunConfig, options_of
from glt.datasets import DATASETS
from glt.datasets.registry import DatasetSpec
from glt.errors import StudioError
from glt.jobs.sweep import grid_points
from glt.methods import METHODS
from glt.models import MODELS
from glt.models.gat import GATOptions
from glt.models.gin import GINOptions
from glt.presets import DEEP, OFFICIAL_DEEP, all_options, resolve
from glt.reproduction.plan import _differing
from glt.store import Run, run_name
from glt.store.paths import EXAMPLES

GIN, GAT, ADMM = "cora-node-gin-ugs-bd58203c", "cora-node-gat-ugs-f83edb59", "cora-node-gcn-admm-0913104b"
LENGTHS = {"ogbn-arxiv": 500, "ogbn-proteins": 100, "ogbl-collab": 500}


def test_official_has_the_authors_gin_and_gat_and_paper_the_printed_ones() -> None:
    gin, gat = {"model": "gin"}, {"model": "gat"}
    assert resolve(gin, "official").options["gin_last_relu"] is True
    assert resolve(gat, "official").options["gat_slope"] == 0.01
    for preset in (None, "paper"):
        assert not options_of(resolve(gin, preset).options, GINOptions).gin_last_relu
        assert options_of(resolve(gat, preset).options, GATOptions).gat_slope == 0.2


def test_the_last_relu_is_the_authors_for_nodes_only() -> None:
    """Their encoder for links has a PReLU in its place."""
    assert all_options(resolve({"model": "gin", "task": "link"}, "official"))["gin_last_relu"] is False


@pytest.mark.parametrize(
    ("name", "option", "value", "wanted"),
    [
        (GIN, "gin_last_relu", False, {"model": "gin"}),
        (GAT, "gat_slope", 0.2, {"model": "gat", "hidden": 64}),
        (ADMM, "admm_start_competes", True, {"model": "gcn", "method": "admm"}),
    ],
)
def test_examples_from_before_keep_their_names_and_are_not_todays_official(
    name: str, option: str, value: object, wanted: dict[str, object]
) -> None:
    config = Run.open(EXAMPLES / name).config
    assert all_options(config)[option] == settings_of(config)[option] == value
    assert run_name(resolve({**wanted, option: value}, "official")) == name
    today = resolve(wanted, "official")
    assert run_name(today) != name
    assert list(_differing(today, config)) == [option]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_a_run_from_the_config_of_an_example_has_its_name(name: str) -> None:
    args = Namespace(dataset=None, task=None, model=None, method=None, set={}, config=EXAMPLES / name)
    assert run_name(resolve(settings(args))) == name


def test_sweeps_take_options_that_configs_leave_out() -> None:
    points = grid_points({"method": "admm"}, {"admm_start_competes": ("true", "false")})
    assert [dict(point.values) for point in points] == [{"admm_start_competes": True}, {"admm_start_competes": False}]
    assert len({run_name(point.config) for point in points}) == 2
    grid_points({"method": "ugs"}, {"schedule": ("iterative", "one_run")})


def test_an_absent_option_without_a_mark_has_its_default() -> None:
    assert all_options(RunConfig(method="ugs"))["mask_noise"] == 1e-5
    assert all_options(RunConfig(method="ugs"))["schedule"] == "iterative"


@pytest.fixture
def unread_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the three sets without their files."""
    DATASETS.names()
    for name in LENGTHS:
        task = "link" if name.startswith("ogbl") else "node"
        spec = DatasetSpec(name, name, "", (task,), 1000, 5000, 8, 2, load=_unread, evaluator=name)
        monkeypatch.setitem(DATASETS._entries, name, spec)


def _unread() -> Any:
    raise AssertionError("the files were asked for")


def deep(name: str, preset: str | None = None, **settings: object) -> RunConfig:
    task = "link" if name.startswith("ogbl") else "node"
    return resolve({"dataset": name, "task": task, "model": "resgcn", **settings}, preset)


def value(config: RunConfig, name: str) -> object:
    return getattr(config, name) if name in CORE_FIELDS else config.options[name]


@pytest.mark.usefixtures("unread_sets")
@pytest.mark.parametrize("name", LENGTHS)
def test_a_resgcn_has_the_papers_settings_on_each_set(name: str) -> None:
    config = deep(name)
    for setting, expected in DEEP["resgcn", name].items():
        assert value(config, setting) == expected, setting
    assert (config.layers, config.learning_rate, config.epochs) == (28, 0.01, LENGTHS[name])
    assert "schedule" not in config.options


@pytest.mark.usefixtures("unread_sets")
def test_those_settings_are_told_apart() -> None:
    arxiv, proteins, collab = map(deep, LENGTHS)
    assert [config.hidden for config in (arxiv, proteins, collab)] == [128, 64, 128]
    assert [config.dropout for config in (arxiv, proteins, collab)] == [0.5, 0.1, 0.0]
    assert [config.gamma_weight for config in (arxiv, proteins, collab)] == [1e-6, 1e-3, 1e-5]
    assert [config.options["gen_t"] for config in (arxiv, proteins, collab)] == [0.1, 1.0, 1.0]
    assert [config.options["gen_self_loops"] for config in (arxiv, proteins, collab)] == [True, False, False]
    assert collab.options["link_objective"] == "hadamard"


@pytest.mark.usefixtures("unread_sets")
def test_official_is_as_the_authors_scripts() -> None:
    arxiv = deep("ogbn-arxiv", "official")
    assert (arxiv.epochs, arxiv.retrain_epochs, arxiv.gamma_weight) == (250, 500, 1e-4)
    assert (arxiv.options["search_learning_rate"], arxiv.options["gen_gradient"]) == (1e-3, "stopped")
    assert [deep(name, "official").options.get("schedule") for name in LENGTHS] == [None, "one_run", "one_run"]
    assert "schedule" not in deep("ogbn-proteins", "paper").options


@pytest.mark.usefixtures("unread_sets")
def test_what_a_user_sets_comes_first() -> None:
    config = deep("ogbn-arxiv", "official", epochs=7, layers=3, gamma_weight=0.5, gen_t=2.0, gen_gradient="full")
    assert (config.epochs, config.layers, config.gamma_weight) == (7, 3, 0.5)
    assert (config.options["gen_t"], config.options["gen_gradient"]) == (2.0, "full")
    assert "schedule" not in deep("ogbn-proteins", "official", schedule="iterative").options


@pytest.mark.usefixtures("unread_sets")
def test_another_method_or_model_goes_without_what_it_does_not_have() -> None:
    config = deep("ogbn-arxiv", "official", method="random")
    assert not {"schedule", "search_learning_rate"} & config.options.keys()
    plain = resolve({"dataset": "ogbn-arxiv"}, "official")
    assert (plain.layers, plain.hidden, plain.epochs) == (2, 512, 200)


@pytest.mark.usefixtures("unread_sets")
def test_links_of_a_set_with_its_own_split_are_trained_on_products_by_any_network() -> None:
    config = resolve({"dataset": "ogbl-collab", "task": "link"})
    assert (config.options["link_objective"], config.options["hidden_activation"]) == ("hadamard", "relu")
    assert config.learning_rate == 1e-2
    assert resolve({"dataset": "ogbl-collab", "task": "link", "link_objective": "gic"}).learning_rate == 1e-3
    assert resolve({"task": "link"}).options["link_objective"] == "gic"


@pytest.mark.usefixtures("unread_sets")
@pytest.mark.parametrize("table", [DEEP, OFFICIAL_DEEP])
def test_every_setting_in_the_tables_is_one(table: dict[tuple[str, str], dict[str, object]]) -> None:
    for (model, _), values in table.items():
        known = {*CORE_FIELDS, *MODELS.get(model).Options.model_fields, *METHODS.get("ugs").Options.model_fields}
        assert not values.keys() - known


@pytest.mark.usefixtures("unread_sets")
def test_a_preset_that_is_not_there_is_said_so() -> None:
    with pytest.raises(StudioError, match="offical"):
        resolve({}, "offical")
