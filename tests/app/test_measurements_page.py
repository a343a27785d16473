"""The Measurements page: its table, its trend, its state in the address."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import published
from analysis.measures.cache import keep_betweenness
from analysis.measures.centrality import Betweenness
from analysis.measures.graph import MeasuredGraph
from analysis.measures.networkx_engine import DEFINITIONS
from analysis.measures.tables import Order, edge_table, measurement_table, node_table, trend_table
from app.components import computation, measurement
from app.views import measurements
from app.views.elements import CHANGE, ORIGINAL, PRUNED, Choice, destination, edges_as_read, nodes_as_read
from app.views.measurements import SLOW
from glt.datasets import Graph, load_graph, planetoid
from glt.formats import MISSING
from glt.masks import EdgeMask
from glt.store import bundled_examples
from tests.analysis.conftest import with_predictions
from tests.app.conftest import MakeRun, OpenPage, texts


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_swapped_printed_values_are_shown(make_run: MakeRun) -> None:
    table = measurement_table([make_run("ugs")], 3)
    printed, swapped = published.measurements("cora"), published.measurements("cora", as_printed=True)
    read = measurement.words_table(table, ["average_clustering"], printed, swapped, "cora")
    assert read["Measure"].tolist() == ["Average clustering", ":gray[paper]", ":gray[paper, column Cora]"]
    assert read["Original"].tolist() == ["0.24067", ":gray[0.24067]", ":gray[0.14147]"]


def test_printed_values_appear_only_at_rounds_the_paper_measured(make_run: MakeRun) -> None:
    runs = [make_run("ugs", rounds=14), make_run("ugs", rounds=14, model="gin"), make_run("random", rounds=14)]
    table = measurement_table(runs, [13, 3], published=published.measurements("cora"))
    read = measurement.words_table(table, ["average_clustering"], published.measurements("cora"))
    beside = dict(zip(read.columns[1:], read.iloc[1, 1:], strict=True))
    printed = {name for name, cell in beside.items() if "0." in cell}
    assert printed == {"Original", *(name for name in beside if name.endswith("round 13") and "GIN" not in name)}
    assert len(printed) == 3
    assert table["average_clustering_published"].notna().tolist() == [
        cell != f":gray[{MISSING}]" for cell in beside.values()
    ]


def test_main_measures_come_first_and_others_are_folded(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    app = open_page("measurements", round="2")
    first, paper, others = (table.value for table in app.table)
    assert len(first) == len(measurement.HEADLINE)
    assert first["Measure"].tolist()[0] == "Entries kept (directed)"
    assert len(paper) == 9
    assert "Algebraic connectivity (largest component)" in others["Measure"].tolist()
    assert "Effective resistance (largest component)" not in others["Measure"].tolist()
    assert [expander.label for expander in app.expander] == ["All other measures", "Definitions"]
    next(toggle for toggle in app.toggle if toggle.label == SLOW).set_value(True).run()
    assert "Effective resistance (largest component)" in app.table[2].value["Measure"].tolist()
    (shown,) = [text.value for text in app.markdown if "Reading: " in text.value]
    rows = [row for table in app.table for row in table.value["Measure"] if not row.startswith(":gray")]
    assert [row for row in rows if f"- **{row}**: " not in shown] == []
    assert app.query_params["slow"] == "1"


def test_networkx_is_offered_with_its_time_and_its_difference(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(rounds=2)
    app = open_page("measurements", round="1", engine="networkx")
    assert [each.value for each in app.subheader] == ["Table of 3 graphs: not computed yet"]
    assert "on one core" in app.caption[-1].value
    assert [button.label for button in app.button if button.label == "Compute"] == ["Compute"]
    # What is slow with NetworkX is left to the faster versions, so that a test can compute the rest.
    for name in ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness"):
        monkeypatch.delitem(DEFINITIONS, name)
    measurement_table([run], 1, engine="networkx")
    app = open_page("measurements", round="1", engine="networkx")
    assert len(app.table) == 3
    shown = " ".join(each.value for each in app.caption)
    assert "Computed by NetworkX." in shown
    assert "between NetworkX and our faster versions" in shown


def test_rounds_can_be_added_and_removed(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run()
    app = open_page("measurements", round="1", also=["3"])
    assert app.table[0].value.columns.tolist() == ["Measure", "Original", "UGS, round 1", "UGS, round 3"]
    assert "rounds 1, 3" in app.caption[1].value
    assert [button.label for button in app.get("download_button")] == ["CSV", "LaTeX"]
    (link,) = [found.proto for found in app.get("page_link") if found.proto.label == "Export"]
    for part in (f"runs={run.name}", "what=measurements", "round=1"):
        assert part in link.query_string


def test_every_graph_has_its_own_table(make_run: MakeRun, open_page: OpenPage) -> None:
    runs = [make_run("ugs"), make_run("random"), make_run("ugs", task="link")]
    app = open_page("measurements", round="2", runs=[run.name for run in runs])
    assert [heading.value for heading in app.subheader] == ["Cora (node classification)", "Cora (link prediction)"]
    columns = [table.value.columns.tolist() for table in app.table]
    both, alone = ["Measure", "Original", "UGS", "Random pruning"], ["Measure", "Original", "UGS"]
    assert columns == [both, both, alone, both, alone]
    edges = [table.value.set_index("Measure")["Original"]["Edges (either way)"] for table in app.table[3:]]
    assert edges == ["5,278", "4,488"]
    trend = open_page("measurements", view="trend", measure="triangles", runs=[run.name for run in runs])
    assert [frame.value["Graph"].unique().tolist() for frame in trend.dataframe] == [both[2:], alone[2:]]


def test_an_unmeasurable_graph_leaves_the_others(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cora.npz").symlink_to(planetoid.BUNDLED / "cora.npz")
    (tmp_path / "citeseer.npz").write_text("damaged")
    monkeypatch.setattr(planetoid, "BUNDLED", tmp_path)
    load_graph.cache_clear()
    runs = [make_run("ugs"), make_run("ugs", dataset="citeseer")]
    app = open_page("measurements", round="2", runs=[run.name for run in runs])
    assert [error.value for error in app.error if error.value.startswith("Citeseer: ")] != []
    assert app.table[0].value.columns.tolist() == ["Measure", "Original", "UGS"]
    assert [button.label for button in app.get("download_button")] == ["CSV", "LaTeX"]


def test_the_trend_follows_the_measure_in_the_url(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    app = open_page("measurements", view="trend", measure="triangles", over="kept", null="1")
    numbers = app.dataframe[0].value
    assert numbers["Triangles"].iloc[0] == 1630
    assert numbers["Graph"].unique().tolist() == ["UGS", "Random, as dense as UGS"]
    assert "Number of triples" in app.caption[-1].value


def test_shares_are_numbers_in_percent(make_run: MakeRun) -> None:
    numbers = measurements.trend_numbers(
        trend_table([make_run()], "largest_component_share"), "largest_component_share"
    )
    assert numbers["Largest component (%)"][0] == pytest.approx(91.765, abs=1e-3)
    assert numbers["Edges kept, either way (%)"][0] == 100


def test_betweenness_is_computed_on_demand_in_a_subprocess(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    view = {"view": "elements", "round": "2", "precision": "sampled"}
    app = open_page("measurements", **view)
    assert [heading.value for heading in app.subheader] == ["Betweenness in round 2 of seed 0: not computed yet"]
    next(button for button in app.button if button.label == "Compute").click().run()
    (at_work,) = computation._computations().values()
    at_work.wait()
    app = open_page("measurements", **view)
    assert at_work.failure == ""
    assert at_work.share == 1
    table = app.dataframe[0].value
    assert table["Rank, original"].tolist()[:3] == [1, 2, 3]
    assert table[CHANGE].iloc[0] == pytest.approx(table[PRUNED].iloc[0] - table[ORIGINAL].iloc[0])
    assert "Estimated: shortest paths from 1,024 of 2,708 nodes" in app.caption[-1].value
    edges = open_page("measurements", **view, elements="edges", rank="change").dataframe[0].value
    assert set(edges["Survives"]) <= {"both ways", "one way"}


def ranked(graph: Graph, elements: str, order: Order = "original") -> pd.DataFrame:
    """Node and edge values of the unpruned graph, highest for node 35 and edge 10."""
    values = Betweenness(1.0 * (np.arange(2708) == 35), 1.0 * (np.arange(graph.num_edges) == 10), 2708)
    mask = EdgeMask.full("undirected", graph.num_edges)
    return (node_table if elements == "nodes" else edge_table)(graph, mask, values, values, order)


def test_element_tables_show_original_ids_and_class_names() -> None:
    cora = load_graph("cora")
    assert cora.node_ids is not None
    first = nodes_as_read(cora, ranked(cora, "nodes")).iloc[0]
    assert (first["Node"], first["Class"]) == (cora.node_ids[35], cora.class_names[cora.labels[35]])
    low, high = cora.edges[:, 10]
    edge = edges_as_read(cora, ranked(cora, "edges")).iloc[0]
    assert edge["Edge"] == f"{cora.node_ids[low]}, {cora.node_ids[high]}"


@pytest.mark.parametrize("elements", ["nodes", "edges"])
def test_table_rows_link_to_subgraphs(elements: str, make_run: MakeRun, open_page: OpenPage) -> None:
    cora, run = load_graph("cora"), make_run()
    row = ranked(cora, elements).iloc[0]
    app = open_page("subgraphs", **destination(Choice(run, 1, 2, elements, "original", None), cora, row))
    assert not app.error
    (component,) = app.get("bidi_component")
    expected = [35] if elements == "nodes" else cora.edges[:, 10].tolist()
    assert json.loads(component.proto.json)["nodes"] == expected
    assert (app.query_params["run"], app.query_params["seed"], app.query_params["round"]) == (run.name, "1", "2")


def test_a_selected_row_is_a_link(make_run: MakeRun, open_page: OpenPage) -> None:
    run, cora = make_run(), load_graph("cora")
    whole = MeasuredGraph.of(cora)
    for graph in (whole, whole.keeping(run.seed(0).edge_mask(2).either_way())):
        values = Betweenness(np.zeros(graph.num_nodes), np.zeros(graph.num_edges), graph.num_nodes)
        keep_betweenness(graph, values)
    app = open_page("measurements", view="elements", round="2", elements="edges")
    assert all("betweenness" in column.lower() for column in app.dataframe[0].value.columns[2:5])
    place = Choice(run, 0, 2, "edges", "original", None).place
    app.session_state[f"elements-table {place}"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    (link,) = app.get("page_link")
    low, high = cora.edges[:, 0].tolist()
    assert cora.node_ids is not None
    assert link.proto.label == f"Edge {cora.node_ids[low]} to {cora.node_ids[high]} in Subgraphs"
    assert f"at={cora.node_ids[low]}&to={high}" in link.proto.query_string


def test_the_node_table_takes_the_run_and_round_of_the_graph_table(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    chosen = make_run("random")
    app = open_page("measurements", round="1", runs=[chosen.name])
    next(group for group in app.button_group if group.key == "view").set_value("elements").run()
    assert (app.query_params["run"], app.query_params["round"]) == (chosen.name, "1")


def test_a_computation_can_be_stopped_and_reports_errors() -> None:
    endless = computation.Computation(["http.server", "0", "--bind", "127.0.0.1"])
    assert endless.is_running
    endless.stop()
    endless.wait()
    assert (endless.is_running, endless.failure) == (False, "")
    failing = computation.Computation(["analysis", "betweenness", "no such run", "--round", "0"])
    failing.wait()
    assert "no such run" in failing.failure


def test_degrees_are_compared_with_the_original_and_a_random_graph(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    app = open_page("measurements", view="elements", elements="degrees", round="2")
    assert not app.button
    assert "Gini of degrees, in legend order: 0.405" in app.caption[-2].value


# Predictions


def test_predictions_are_offered_then_shown(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run(rounds=1, states=("done", "done", "done"))
    app = open_page("measurements", view="predictions", round="1", runs=run.reference)
    assert [each.value for each in app.subheader] == ["Predictions of 6 rounds: not computed yet"]
    with_predictions(run, 2)
    app = open_page("measurements", view="predictions", round="1", runs=run.reference)
    assert "of 1,000 test predictions" in texts(app)
    assert "Holm over" in texts(app)
    groups, flips = (table.value for table in app.dataframe)
    assert groups["Nodes"].tolist()[:2] == ["All test nodes", "Degree 1"]
    assert flips["Seed"].tolist() == [0, 1, 2]
    app = open_page("measurements", view="predictions", evidence="calibration", runs=run.reference)
    assert len(app.dataframe[0].value) == 3 * 2 * 2


def test_examples_without_predictions_say_what_to_do(open_page: OpenPage) -> None:
    gat = next(run for run in bundled_examples() if run.config.model == "gat")
    app = open_page("measurements", view="predictions", runs=gat.reference)
    assert [each.value for each in app.subheader] == ["No predictions"]
    assert "start a run with the same settings" in texts(app)


def test_bundled_predictions_are_shown_at_once(open_page: OpenPage) -> None:
    ugs = next(run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72")
    app = open_page("measurements", view="predictions", runs=ugs.reference)
    assert "UGS, round 13: of 1,000 test predictions" in texts(app)
