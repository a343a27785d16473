"""Shares of groups against counts by hand, and chance against its closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from scipy.sparse import csr_array

from analysis import theme
from analysis.removal import groups, loss_figures
from analysis.removal.groups import edge_groupings, loss_table, outside, pair_matrix, sentences
from analysis.removal.loss_figures import edge_loss_figure, node_loss_figure, pair_figure
from glt.data import Graph, Provenance, Split, load_graph
from glt.masks import EdgeMask

# Edges 0-1, 0-2, 1-2, 2-3, 3-4, 4-5; node 6 never had one.
LABELS = [0, 0, 0, 1, 1, -1, 0]
CUT = [0, 0, 0, 1, 0, 1]


@pytest.fixture
def graph() -> Graph:
    nobody = np.empty(0, dtype=np.int64)
    edges = np.array([[0, 0, 1, 2, 3, 4], [1, 2, 2, 3, 4, 5]])
    split = Split(nobody, nobody, nobody)
    features = csr_array((7, 1), dtype=np.float32)
    return Graph("tiny", edges, features, np.array(LABELS), split, Provenance("by hand", 6, 0, 0), ("A", "<b>"))


@pytest.fixture
def table(graph: Graph) -> pd.DataFrame:
    return loss_table(graph, EdgeMask("undirected", 1 - np.array(CUT)), draws=40)


def rows(table: pd.DataFrame, grouping: str) -> dict[str, list[int]]:
    part = table[table["grouping"] == grouping]
    return {row["name"]: [row["lost"], row["size"]] for row in part.to_dict("records")}


def test_every_group_is_counted(table: pd.DataFrame) -> None:
    assert rows(table, "all") == {"All edges": [2, 6]}
    assert rows(table, "relation") == {"Same class": [0, 4], "Different classes": [1, 1], "A class unknown": [1, 1]}
    assert rows(table, "smaller_degree") == {"1": [1, 1], "2": [1, 5]}
    assert rows(table, "larger_degree") == {"2": [1, 3], "3": [1, 3]}
    assert rows(table, "pair") == {"A, A": [0, 3], "A, <b>": [1, 1], "<b>, <b>": [0, 1]}
    assert rows(table, "all_nodes") == {"All nodes": [1, 6]}
    assert rows(table, "class") == {"A": [0, 3], "<b>": [0, 2]}


def test_of_a_large_graph_chance_is_that_of_drawn_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    cora = load_graph("cora")
    mask = EdgeMask("undirected", np.random.default_rng(0).random(cora.num_edges) < 0.7)
    drawn = loss_table(cora, mask, draws=300)
    monkeypatch.setattr(groups, "MOST_EDGES", 1000)
    counted = loss_table(cora, mask, draws=300)
    same = ["kind", "grouping", "group", "name", "size", "lost", "share"]
    pd.testing.assert_frame_equal(drawn[same], counted[same])
    often = drawn["size"] >= 100
    for column in ("null", "null_low", "null_high"):
        np.testing.assert_allclose(drawn[column][often], counted[column][often], atol=0.02)


def test_of_many_classes_only_what_chance_does_not_give_has_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    cora = load_graph("cora")
    same = cora.labels[cora.edges[0]] == cora.labels[cora.edges[1]]
    table = loss_table(cora, EdgeMask("undirected", same), draws=20)
    monkeypatch.setattr(loss_figures, "MOST_NUMBERED", 3)
    (field,) = pair_figure(table, cora.class_names).data
    assert field.texttemplate is None
    share, low, high = (pair_matrix(table, 7, name) for name in ("share", "null_low", "null_high"))
    far = (share < low) | (share > high)
    assert np.asarray(field.z)[far].all()
    assert not np.nan_to_num(np.asarray(field.z)[~far]).any()


def test_a_direction_that_is_left_keeps_the_edge(graph: Graph) -> None:
    one_way = EdgeMask("directed", np.array([1] * 6 + [0] * 6))
    assert (loss_table(graph, one_way, draws=3)["lost"] == 0).all()


def test_the_matrix_is_symmetric_and_open_where_no_edge_is(table: pd.DataFrame) -> None:
    matrix = pair_matrix(table, 2, "share")
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert np.isnan(pair_matrix(table[table["group"] > 0], 2, "share")[0, 0])


def test_chance_cuts_every_group_alike() -> None:
    cora = load_graph("cora")
    mask = EdgeMask("undirected", np.random.default_rng(5).random(cora.num_edges) < 0.7)
    table = loss_table(cora, mask, draws=60)
    edges = table[(table["kind"] == "edges") & (table["size"] > 200)]
    cut = 1 - mask.kept / cora.num_edges
    assert edges["null"].to_numpy() == pytest.approx(cut, abs=0.01)
    # Hypergeometric: the share of a group of s among E has variance p (1 - p) / s (E - s) / (E - 1).
    size = edges["size"].to_numpy()
    deviation = np.sqrt(cut * (1 - cut) / size * (cora.num_edges - size) / (cora.num_edges - 1))
    width = (edges["null_high"] - edges["null_low"]).to_numpy()
    assert width == pytest.approx(2 * 1.96 * deviation, rel=0.35, abs=1e-9)
    assert outside(table).mean() < 0.2, "a random mask is hardly ever outside"


def test_a_mask_that_follows_classes_stands_out() -> None:
    cora = load_graph("cora")
    low, high = cora.labels[cora.edges]
    table = loss_table(cora, EdgeMask("undirected", low == high), draws=20)
    relation = table[table["grouping"] == "relation"].set_index("name")
    assert relation["share"].to_dict() == {"Same class": 0.0, "Different classes": 1.0}
    assert outside(relation).all()


def test_groups_cover_every_edge_of_known_classes() -> None:
    cora = load_graph("cora")
    assert all(grouping.sizes.sum() == cora.num_edges for grouping in edge_groupings(cora))


def test_sentences_hold_the_numbers(table: pd.DataFrame) -> None:
    first, second, third = sentences(table)
    assert first == "2 of 6 edges are cut, 33.3 %."
    assert second.startswith("Between different classes 100.0 % went (by chance 0.0 % to 100.0 %)")
    assert third.startswith("Nodes that lost their last edge: 1; by chance ")


def test_figures_draw_the_shares_and_escape_class_names(table: pd.DataFrame) -> None:
    (matrix,) = pair_figure(table, ("A", "<b>")).data
    assert matrix.y == ("A", "&lt;b&gt;")
    assert [cell.rstrip("*") for cell in matrix.text[0]] == ["0", "100"]
    marks = [trace for trace in edge_loss_figure(table, "ugs").data if trace.type == "scatter"]
    assert list(marks[0].x) == [0.0, 100.0, 100.0]
    assert [trace.showlegend for trace in marks] == [True, False, False]
    nodes = [trace for trace in node_loss_figure(table, "ugs").data if trace.type == "scatter"]
    assert list(nodes[0].y) == ["A", "&lt;b&gt;"]


def test_classes_called_by_numbers_are_no_places_on_an_axis(table: pd.DataFrame) -> None:
    figure = pair_figure(table, ("3702", "511145"))
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("category", "category")


def test_without_classes_there_are_groups_by_degree_only(graph: Graph) -> None:
    unknown = replace(graph, labels=np.full(7, -1), class_names=())
    table = loss_table(unknown, EdgeMask("undirected", 1 - np.array(CUT)), draws=3)
    assert list(table["grouping"].unique()) == ["all", "smaller_degree", "larger_degree", "all_nodes"]
    marks = [trace for trace in edge_loss_figure(table, "ugs").data if trace.type == "scatter"]
    assert [list(trace.y) for trace in marks] == [["1", "2"], ["2", "3"]]


@pytest.mark.parametrize("draw", [edge_loss_figure, node_loss_figure])
def test_a_mark_at_0_stands_whole_inside_the_axis(
    table: pd.DataFrame, draw: Callable[[pd.DataFrame, str], go.Figure]
) -> None:
    figure = draw(table, "ugs")
    assert min(share for trace in figure.data if trace.type == "scatter" for share in trace.x) == 0
    # Pixels between the axis and the middle of a mark at 0, on the narrowest plot of the page.
    ranges = [axis.range for axis in figure.select_xaxes()]
    assert all(150 * -low / (high - low) >= 11 / 2 + 1 for low, high in ranges)


def test_the_axis_ends_at_what_is_drawn_not_at_pairs_of_classes(table: pd.DataFrame) -> None:
    edges = table.assign(share=(table["grouping"] == "pair") * 0.9, null_high=0.2)
    assert [axis.range[1] for axis in edge_loss_figure(edges, "ugs").select_xaxes()] == pytest.approx([21, 21, 21])


@pytest.mark.parametrize("dark", [False, True])
def test_the_numbers_in_the_matrix_stand_out_from_every_colour_of_its_scale(dark: bool) -> None:
    table = loss_table(load_graph("cora"), EdgeMask("undirected", np.arange(5278) % 3 > 0))
    matrix = pair_figure(table, [str(label) for label in range(7)], dark).data[0]
    text = matrix.textfont.color
    assert text == theme.ink(dark).text
    for _, ground in matrix.colorscale:
        low, high = sorted(luminance(color) for color in (text, ground))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(color: str) -> float:
    """Return the relative luminance of a hex colour (WCAG 2.2)."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
