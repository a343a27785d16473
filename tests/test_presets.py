"""Options younger than some runs: old configs keep their names and read as what produced them; presets name the new."""

from __future__ import annotations

from argparse import Namespace

import pytest

from analysis.labels import settings_of
from glt.cli.run import settings
from glt.config import RunConfig, options_of
from glt.jobs.sweep import grid_points
from glt.models.gat import GATOptions
from glt.models.gin import GINOptions
from glt.presets import all_options, resolve
from glt.reproduction.plan import _differing
from glt.store import Run, run_name
from glt.store.paths import EXAMPLES

GIN, GAT, ADMM = "cora-node-gin-ugs-bd58203c", "cora-node-gat-ugs-f83edb59", "cora-node-gcn-admm-0913104b"


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
