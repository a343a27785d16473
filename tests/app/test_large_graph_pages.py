"""Pages over a graph like the large ones: dense features in a file, no classes, estimated measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.drawing.files import figure_bytes
from analysis.drawing.page import on_page, plan
from analysis.figures.base import FigureChoices
from analysis.measures import graph as measured_graph
from analysis.measures.tables import with_names
from analysis.subgraphs import samplers
from app.components import computation, measurement
from app.main import PAGES
from app.views import subgraphs
from glt.datasets import DATASETS, Graph, Split, load_graph
from glt.errors import StoreError
from glt.store import Run
from tests.app.conftest import MakeRun, OpenPage, texts

NOBODY = np.empty(0, dtype=np.int64)
MOST_ROWS = 300


class Untouched(np.memmap[Any, np.dtype[np.float32]]):
    """Features in a file: reading a few rows is allowed, reading all of them is an error."""

    def __getitem__(self, key: Any) -> Any:
        assert isinstance(key, np.ndarray)
        assert key.size <= MOST_ROWS
        return np.asarray(super().__getitem__(key))

    def __array__(self, *rest: Any, **more: Any) -> Any:
        raise AssertionError("all features were read")

    def __array_ufunc__(self, *rest: Any, **more: Any) -> Any:
        raise AssertionError("a page computed with all features")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """Cora's edges with dense features, without classes or nodes to train on, under limits that make it large."""
    # Separate from measurements of other tests.
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    cora = load_graph("cora")
    features = Untouched(tmp_path / "features.f32", dtype=np.float32, mode="w+", shape=(cora.num_nodes, 128))
    unknown = np.full(cora.num_nodes, -1)
    none = Split(NOBODY, NOBODY, NOBODY)
    graph = replace(cora, name="large", features=features, labels=unknown, split=none, class_names=())
    # A mapped graph has its hash from its folder.
    vars(graph)["content_hash"] = "a" * 64
    spec = replace(DATASETS.get("cora"), name="large", label="Large", features=128, classes=0, load=lambda: graph)
    monkeypatch.setitem(DATASETS._entries, "large", spec)
    monkeypatch.setattr(measured_graph, "MOST_VISITS", 0)
    monkeypatch.setattr(subgraphs, "MOST_DRAWN", 1000)
    monkeypatch.setattr(samplers, "MOST_EDGES", 1000)
    load_graph.cache_clear()
    yield graph
    load_graph.cache_clear()


@pytest.fixture
def runs(large: Graph, make_run: MakeRun) -> list[Run]:
    return [make_run(method, ("done",), dataset="large") for method in ("ugs", "random")]


@pytest.mark.parametrize("name", [title.lower() for title in PAGES])
def test_pages_read_no_features_and_need_no_classes(name: str, runs: list[Run], open_page: OpenPage) -> None:
    app = open_page(name)
    assert not app.error


@pytest.mark.parametrize("sample", ["walk", "ego", "community", "changed", "nodes"])
def test_every_sample_is_drawn(sample: str, runs: list[Run], open_page: OpenPage) -> None:
    app = open_page("subgraphs", sample=sample, size="50")
    assert not app.error
    assert "Class" not in app.selectbox(key="sample").options
    assert app.get("iframe")


def test_subgraph_sections_work_without_classes_and_features(runs: list[Run], open_page: OpenPage) -> None:
    low, high = load_graph("large").edges[:, 10].tolist()
    words = texts(open_page("subgraphs", section="why", at=str(low), to=str(high)))
    assert "class unknown" in words
    assert "cosine similarity of features 0.000" in words
    assert "Jaccard" not in words
    app = open_page("subgraphs", section="why", at="0", to="all")
    (table,) = [frame.value for frame in app.dataframe if "Neighbour" in frame.value]
    assert "Class" not in table
    assert not any("unknown" in option for option in app.selectbox(key="to").options)
    words = texts(open_page("subgraphs", section="whole"))
    assert "Too large to draw" in words
    assert "5,278 edges" in words


def test_edge_losses_without_classes(runs: list[Run], open_page: OpenPage) -> None:
    app = open_page("subgraphs", section="losers")
    assert not app.error
    assert "Nodes that lost their last edge" in texts(app)
    assert "Large has no classes, so tables by class are left out." in texts(app)
    assert "Nodes left without an edge" not in texts(app)
    assert len(app.get("plotly_chart")) == 1


def test_loss_figures_without_classes(runs: list[Run]) -> None:
    choices = FigureChoices(round=2)
    drawing = plan("losers", runs, choices)
    assert figure_bytes(on_page(drawing, choices), "png", 50)
    assert set(drawing.points["grouping"]) == {"smaller_degree", "larger_degree"}
    assert "Large has no classes" in drawing.caption
    with pytest.raises(StoreError, match="Large has no classes, so no pairs of them"):
        plan("pairs", runs, choices)


def test_node_table_without_classes_has_no_class_column(large: Graph) -> None:
    assert "class" in with_names(load_graph("cora"), pd.DataFrame({"node": [0], "label": [0]}))
    assert list(with_names(large, pd.DataFrame({"node": [0], "label": [-1]}))) == ["node"]


@pytest.mark.parametrize("view", ["table", "trend"])
def test_unmeasured_graphs_offer_a_command(
    view: str, runs: list[Run], open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("measurements", view=view, round="2")
    assert "not computed yet" in texts(app)
    assert app.button(key="start-computing")
    assert not app.table


@pytest.mark.parametrize(
    ("most", "slow", "seconds"),
    [
        # Three graphs of 2,708 nodes and 5,278 edges.
        (2708, False, 3 * 7986 * (8e-6 + 1.5e-4)),
        (2707, False, 3 * 7986 * 8e-6),
        (2708, True, 3 * 7986 * (6e-5 + 1.5e-4 + 1.3e-3)),
    ],
)
def test_measurement_time_includes_factorisation(
    most: int, slow: bool, seconds: float, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = []
    monkeypatch.setattr(measurement, "MOST_NODES_FACTORED", most)
    monkeypatch.setattr(measurement, "unmeasured", lambda *_, **__: 3)
    monkeypatch.setattr(computation, "panel", lambda *given: stated.append(given[-1]))
    assert not measurement.offer_table(runs, [2], null=False, slow=slow)
    assert stated == [pytest.approx(seconds)]


def test_measured_and_estimated_values_are_shown(runs: list[Run], open_page: OpenPage) -> None:
    from analysis.measures.tables import measurement_table

    measurement_table(runs, 2)
    app = open_page("measurements", round="2")
    assert "not computed yet" not in texts(app)
    assert "Estimated, with a 95 % interval: average path length" in texts(app)
    table = app.table[0].value
    assert "\N{PLUS-MINUS SIGN}" in table.loc[table["Measure"] == "Average path length"].iloc[0, 1]


@pytest.mark.parametrize("page", ["subgraphs", "measurements"])
def test_a_different_graph_of_the_same_name_is_one_sentence(make_run: MakeRun, open_page: OpenPage, page: str) -> None:
    make_run("ugs", ("done",)).seed(0).write_environment({"data_hash": "f" * 64})
    app = open_page(page)
    assert any("differs from the one that seed 0 of" in error.value for error in app.error)
