"""The Tickets page: its front, what a card can be asked for, and what is said where something cannot be had."""

from __future__ import annotations

import io
import json

import networkx as nx
import pandas as pd
import scipy.sparse

from app.widgets import commands, costing, downloads, timing
from glt.cost.counterfactuals import counterfactuals
from glt.data import load_graph
from glt.presets import resolve
from glt.store import bundled_examples
from glt.training.shapes import full_masks
from tests.app.conftest import MakeRun, OpenPage


def test_the_front_is_drawn_along_the_axis_in_the_address(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    make_run("random")
    app = open_page("tickets", x="weight")
    assert not app.exception
    (figure,) = app.get("plotly_chart")
    spec = json.loads(figure.proto.spec)
    assert spec["layout"]["xaxis"]["title"]["text"].startswith("Weight sparsity")
    assert "Pareto front" in {trace.get("name") for trace in spec["data"]}
    # Rounds of two seconds each, the dense one included.
    assert any("Search up to this round: 4.0 s a seed." in each.value for each in app.caption)


def test_a_run_gives_its_graph_in_every_format(make_run: MakeRun) -> None:
    run = make_run()
    kept = run.seed(1).masks(2).edges.kept
    assert nx.read_graphml(io.BytesIO(downloads.graph_bytes(run, 2, 1, "graphml"))).number_of_edges() == kept
    assert len(pd.read_csv(io.BytesIO(downloads.graph_bytes(run, 2, 1, "csv")))) == kept
    assert scipy.sparse.load_npz(io.BytesIO(downloads.graph_bytes(run, 2, 1, "npz"))).nnz == kept
    assert downloads.file_stem(run, 2, 1) == f"{run.name}-seed-1-round-02"


def test_a_ticket_that_cannot_be_made_is_a_sentence() -> None:
    example = next(iter(bundled_examples()))
    made = downloads.ticket_file(example, 1, example.first_seed().seed)
    assert isinstance(made, str)
    assert "is an example, which leaves weights out" in made


def test_a_command_that_fails_answers_with_its_complaint(make_run: MakeRun) -> None:
    run = make_run()
    arguments = commands.line("cost", run, 9, 0, "--json")
    assert "holds no round 9" in commands.answer(arguments, "count", 60)["error"]
    assert "took longer than" in commands.answer(arguments, "count", 0)["error"]
    assert commands.shown(arguments) == f"python -m glt cost {run.path} --round 9 --seed 0 --json"


def test_macs_are_split_and_held_against_the_dense_network() -> None:
    config, graph = resolve({"hidden": 4}), load_graph("cora")
    table = costing.as_read(counterfactuals(config, graph, full_masks(config, graph)), "dense_features")
    assert list(table["Pruned"]) == ["Nothing", "Edges only", "Weights only", "Edges and weights"]
    assert set(table["Transform"]) == {"15.6 M"}
    assert set(table["Aggregate"]) == {"146 k"}
    assert set(table["Saved"]) == {"0.0 %"}


def test_a_measurement_is_read_as_people_do() -> None:
    row = {"label": "edges removed", "median": 0.0123, "p10": 0.011, "p90": 0.02, "memory": 29_900_000}
    table = timing.as_read({"executions": [row]})
    assert table.to_dict("records") == [
        {"Execution": "Edges removed", "Median": "12 ms", "p10 to p90": "11 ms to 20 ms", "Memory": "29.9 MB"}
    ]
