"""Configurations, presets and registries."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.labels import settings_of
from glt.cli.run import settings
from glt.config import CORE_FIELDS, RunConfig, canonical_json, make_config, options_of
from glt.datasets import DATASETS
from glt.datasets.registry import DatasetSpec
from glt.errors import ConfigError
from glt.jobs.sweep import grid_points
from glt.methods import METHODS
from glt.models import MODELS
from glt.models.gat import GATOptions
from glt.models.gin import GINOptions
from glt.presets import DEEP, OFFICIAL_DEEP, all_options, resolve
from glt.registry import Registry
from glt.reproduction.plan import _differing
from glt.store import Run, run_name
from glt.store.paths import EXAMPLES

# The names scripts rely on (`--set name=value`, `show --json`).
PROMISED = (
    "dataset task model method edge_mask hidden layers rounds epochs retrain_epochs learning_rate weight_decay "
    "gamma_graph gamma_weight p_graph p_weight dropout"
).split()


def test_promised_names_exist() -> None:
    assert set(PROMISED) <= set(CORE_FIELDS)


def test_canonical_json_does_not_depend_on_order() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"loss": float("nan")})
    one = make_config({"dataset": "cora", "hidden": 16, "options": {"b": 1, "a": 2.5}})
    other = make_config({"options": {"a": 2.5, "b": 1}, "hidden": 16, "dataset": "cora"})
    assert one.canonical_json() == other.canonical_json()
    assert one.canonical_json() != make_config({"hidden": 17}).canonical_json()


@given(p=st.floats(0, 1, exclude_min=True, exclude_max=True), rounds=st.integers(1, 1000))
def test_a_config_round_trips_through_json(p: float, rounds: int) -> None:
    config = make_config({"p_graph": p, "rounds": rounds, "options": {"rho": 1e-3, "cap": 10, "warm": True}})
    assert make_config(json.loads(config.canonical_json())) == config


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"p_graph": 1}, "p_graph must be less than 1, not 1."),
        ({"p_weight": 1.0}, "p_weight must be less than 1, not 1.0."),
        ({"p_weight": float("nan")}, "p_weight cannot be nan: "),
        ({"p_graph": "much"}, "p_graph cannot be 'much': a number is needed."),
        ({"p_grap": 0.1}, "Unknown setting 'p_grap': did you mean 'p_graph'"),
        ({"rounds": 0}, "rounds must be at least 1, not 0."),
        ({"rounds": 2.5}, "rounds cannot be 2.5: a whole number is needed."),
        ({"rounds": "abc"}, "rounds cannot be 'abc': a whole number is needed."),
        ({"learning_rate": float("inf")}, "learning_rate cannot be inf: "),
        ({"learning_rate": 0}, "learning_rate must be greater than 0, not 0."),
        ({"weight_decay": -1}, "weight_decay must be at least 0, not -1."),
        ({"dropout": 1}, "dropout must be less than 1, not 1."),
        ({"layers": 1}, "layers must be at least 2, not 1."),
        ({"edge_mask": "both"}, "edge_mask cannot be 'both': "),
        ({"degree": "mine"}, "degree cannot be 'mine': "),
        ({"hidden": "wide", "rounds": 0, "roundz": 3}, "3 settings cannot be used: hidden cannot be 'wide': "),
        ({"model": "gnc", "rounds": 0}, "2 settings cannot be used: rounds must be at least 1, not 0; "),
    ],
)
def test_bad_values_are_named_in_one_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(values)
    message = str(caught.value)
    assert message.startswith(sentence)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(caught.value.faults) == (int(sentence[0]) if sentence[0].isdigit() else 1)


def test_a_config_is_immutable() -> None:
    with pytest.raises(ValueError, match="frozen"):
        RunConfig().rounds = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "most"), [("rounds", 1_000), ("epochs", 1_000_000), ("retrain_epochs", 1_000_000), ("hidden", 65_536)]
)
def test_excessive_sizes_are_refused(name: str, most: int) -> None:
    assert getattr(make_config({name: most}), name) == most
    with pytest.raises(ConfigError, match=f"{name} must be at most {most}, not {most + 1}"):
        make_config({name: most + 1})


GIN, GAT, ADMM = "cora-node-gin-ugs-bd58203c", "cora-node-gat-ugs-f83edb59", "cora-node-gcn-admm-0913104b"
LENGTHS = {"ogbn-arxiv": 500, "ogbn-proteins": 100, "ogbl-collab": 500}


def test_official_and_paper_presets_of_gin_and_gat() -> None:
    gin, gat = {"model": "gin"}, {"model": "gat"}
    assert resolve(gin, "official").options["gin_last_relu"] is True
    assert resolve(gat, "official").options["gat_slope"] == 0.01
    for preset in (None, "paper"):
        assert not options_of(resolve(gin, preset).options, GINOptions).gin_last_relu
        assert options_of(resolve(gat, preset).options, GATOptions).gat_slope == 0.2

    # Their encoder for links has a PReLU in place of the last ReLU.
    assert all_options(resolve({"model": "gin", "task": "link"}, "official"))["gin_last_relu"] is False


@pytest.mark.parametrize(
    ("name", "option", "value", "wanted"),
    [
        (GIN, "gin_last_relu", False, {"model": "gin"}),
        (GAT, "gat_slope", 0.2, {"model": "gat", "hidden": 64}),
        (ADMM, "admm_start_competes", True, {"model": "gcn", "method": "admm"}),
    ],
)
def test_older_examples_keep_their_names(name: str, option: str, value: object, wanted: dict[str, object]) -> None:
    config = Run.open(EXAMPLES / name).config
    assert all_options(config)[option] == settings_of(config)[option] == value
    assert run_name(resolve({**wanted, option: value}, "official")) == name
    today = resolve(wanted, "official")
    assert run_name(today) != name
    assert list(_differing(today, config)) == [option]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_the_config_of_an_example_gives_its_name(name: str) -> None:
    args = Namespace(dataset=None, task=None, model=None, method=None, set={}, config=EXAMPLES / name)
    assert run_name(resolve(settings(args))) == name


def test_sweeps_take_options_that_configs_leave_out() -> None:
    points = grid_points({"method": "admm"}, {"admm_start_competes": ("true", "false")})
    assert [dict(point.values) for point in points] == [{"admm_start_competes": True}, {"admm_start_competes": False}]
    assert len({run_name(point.config) for point in points}) == 2
    grid_points({"method": "ugs"}, {"schedule": ("iterative", "one_run")})


@pytest.fixture(autouse=True)
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


@pytest.mark.parametrize("name", LENGTHS)
def test_a_resgcn_has_the_papers_settings_on_each_set(name: str) -> None:
    config = deep(name)
    for setting, expected in DEEP["resgcn", name].items():
        assert value(config, setting) == expected, setting
    assert (config.layers, config.learning_rate, config.epochs) == (28, 0.01, LENGTHS[name])
    assert "schedule" not in config.options
    by_hand = {
        "ogbn-arxiv": (128, 0.5, 1e-6, 0.1, True),
        "ogbn-proteins": (64, 0.1, 1e-3, 1.0, False),
        "ogbl-collab": (128, 0.0, 1e-5, 1.0, False),
    }
    of_network = (config.options["gen_t"], config.options["gen_self_loops"])
    assert (config.hidden, config.dropout, config.gamma_weight, *of_network) == by_hand[name]


def test_official_is_as_the_authors_scripts() -> None:
    arxiv = deep("ogbn-arxiv", "official")
    assert (arxiv.epochs, arxiv.retrain_epochs, arxiv.gamma_weight) == (250, 500, 1e-4)
    assert (arxiv.options["search_learning_rate"], arxiv.options["gen_gradient"]) == (1e-3, "stopped")
    assert [deep(name, "official").options.get("schedule") for name in LENGTHS] == [None, "one_run", "one_run"]
    assert "schedule" not in deep("ogbn-proteins", "paper").options


def test_user_settings_override_presets() -> None:
    config = deep("ogbn-arxiv", "official", epochs=7, layers=3, gamma_weight=0.5, gen_t=2.0, gen_gradient="full")
    assert (config.epochs, config.layers, config.gamma_weight) == (7, 3, 0.5)
    assert (config.options["gen_t"], config.options["gen_gradient"]) == (2.0, "full")
    assert "schedule" not in deep("ogbn-proteins", "official", schedule="iterative").options


def test_the_published_preset_asks_the_method_and_is_official_without_a_publication(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for named in ({"method": "ugs"}, {"method": "random", "model": "gin"}, {"method": "score", "model": "gat"}):
        assert resolve(named, "published") == resolve(named, "official")

    def published(dataset: str, model: str) -> dict[str, object]:
        return {"epochs": 7, "masks_from": "last"} if (dataset, model) == ("cora", "gcn") else {}

    monkeypatch.setattr(METHODS.get("ugs"), "published", published)
    assert resolve({}, "published") == resolve({"epochs": 7, "masks_from": "last"}, "official")
    assert resolve({"epochs": 9}, "published").epochs == 9
    assert resolve({"dataset": "citeseer"}, "published") == resolve({"dataset": "citeseer"}, "official")
    assert resolve({}, "official").epochs == 200


def test_inapplicable_preset_options_are_dropped() -> None:
    config = deep("ogbn-arxiv", "official", method="random")
    assert not {"schedule", "search_learning_rate"} & config.options.keys()
    plain = resolve({"dataset": "ogbn-arxiv"}, "official")
    assert (plain.layers, plain.hidden, plain.epochs) == (2, 512, 200)


def test_sets_with_their_own_link_split_use_the_hadamard_objective() -> None:
    config = resolve({"dataset": "ogbl-collab", "task": "link"})
    assert (config.options["link_objective"], config.options["hidden_activation"]) == ("hadamard", "relu")
    assert config.learning_rate == 1e-2
    assert resolve({"dataset": "ogbl-collab", "task": "link", "link_objective": "gic"}).learning_rate == 1e-3
    assert resolve({"task": "link"}).options["link_objective"] == "gic"


@pytest.mark.parametrize("table", [DEEP, OFFICIAL_DEEP])
def test_preset_tables_name_existing_settings(table: dict[tuple[str, str], dict[str, object]]) -> None:
    for (model, _), values in table.items():
        known = {*CORE_FIELDS, *MODELS.get(model).Options.model_fields, *METHODS.get("ugs").Options.model_fields}
        assert not values.keys() - known


@dataclass(frozen=True)
class Colour:
    name: str
    label: str


ENTRY = "from colours import COLOURS, Colour\nCOLOURS.register(Colour({name!r}, {name!r}))\n"
PACKAGE = """
from {module} import Colour
from glt.registry import Registry
COLOURS = Registry("colour", "colours")
"""


@pytest.fixture
def colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[Colour]]:
    """A package of two files, each registering one entry, as a user would add them."""
    import importlib
    import sys

    package = tmp_path / "colours"
    package.mkdir()
    monkeypatch.setitem(sys.modules, "colour_type", sys.modules[Colour.__module__])
    (package / "__init__.py").write_text(PACKAGE.format(module="colour_type"))
    for name in ("red", "blue"):
        (package / f"{name}.py").write_text(ENTRY.format(name=name))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("colours").COLOURS
    for name in [name for name in sys.modules if name.split(".")[0] == "colours"]:
        del sys.modules[name]


def test_registries_import_the_files_of_their_package(colours: Registry[Colour]) -> None:
    assert colours.names() == ["blue", "red"]
    assert [colour.label for colour in colours] == ["blue", "red"]
    assert colours.get("red").name == "red"


def test_unknown_and_duplicate_names_are_refused(colours: Registry[Colour]) -> None:
    with pytest.raises(ConfigError, match=r"Unknown colour 'rde': did you mean 'red'\? Known: blue, red\."):
        colours.get("rde")
    with pytest.raises(ConfigError, match=r"Unknown colour 'xyz'\. Known: blue, red\."):
        colours.get("xyz")
    colours.register(Colour("green", "Green"))
    with pytest.raises(ValueError, match="the colour 'green' is registered twice"):
        colours.register(Colour("green", "Another green"))
