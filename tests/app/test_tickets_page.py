"""The Tickets page: its front, what a card can be asked for, and what is said where something cannot be had."""

from __future__ import annotations

import io
import json
import shlex

import networkx as nx
import pandas as pd
import pytest
import scipy.sparse

from app.components import computation
from app.views import ticket_actions
from glt import formats
from glt.cost.macs import counterfactuals
from glt.datasets import load_graph
from glt.formats import as_typed, program
from glt.presets import resolve
from glt.store import bundled_examples
from glt.training.problem import full_masks
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
    # The sparsest of equal validation scores: three rounds of two seconds each, and the dense one.
    assert any("Search time up to this round: 8.0 s per seed." in each.value for each in app.caption)


def test_a_run_gives_its_graph_in_every_format(make_run: MakeRun) -> None:
    run = make_run()
    kept = run.seed(1).masks(2).edges.kept
    assert nx.read_graphml(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "graphml"))).number_of_edges() == kept
    assert len(pd.read_csv(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "csv")))) == kept
    assert scipy.sparse.load_npz(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "npz"))).nnz == kept
    assert ticket_actions.file_stem(run, 2, 1) == f"{run.name}-seed-1-round-02"


def test_a_ticket_that_cannot_be_made_is_a_sentence() -> None:
    example = next(iter(bundled_examples()))
    making = ticket_actions.ticket_file(example, 1, example.existing_seed().seed)
    making.wait()
    assert "is an example without weights" in making.failure
    assert making.made == b""


def test_a_ticket_file_is_made_in_a_process_of_its_own(make_run: MakeRun) -> None:
    # The masks that are drawn are not those of the network the settings describe, which is noticed.
    making = ticket_actions.ticket_file(make_run(), 2, 0)
    making.wait()
    assert making.failure.count("\n") == 0
    assert making.failure != ""


def test_a_command_that_fails_answers_with_its_complaint(make_run: MakeRun) -> None:
    run = make_run()
    arguments = ticket_actions.command_line("cost", run, 9, 0, "--json")
    failing = computation.Computation(["glt", *arguments])
    failing.wait()
    assert "holds no round 9" in failing.answer()["error"]
    assert as_typed(*arguments) == shlex.join(
        [*program(), "cost", str(run.path), "--round", "9", "--seed", "0", "--json"]
    )


def test_a_failed_audit_still_has_its_report() -> None:
    code = "import sys; print('{\"passed\": false}'); print('0.5', file=sys.stderr); sys.exit(1)"
    done = computation.Computation(["timeit", "-n", "1", "-r", "1", code])
    done.wait()
    assert done.answer() == {"passed": False}
    assert done.share == 0.5


def test_progress_goes_by_the_clock_until_shares_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    done = computation.Computation(["timeit", "-n", "1", "-r", "1", "pass"])
    done.wait()
    monkeypatch.setattr(computation.time, "monotonic", lambda: 1030.0)
    done._begun, done._ended = 1000.0, 0.0
    assert done.progress(60) == (0.5, 30.0)
    assert done.progress(10) == (computation.MOST_BY_CLOCK, 0.0)
    done.share, done._told = 0.25, 1020.0
    assert done.progress(60) == (0.25, 30.0)


def test_cards_are_of_the_seed_in_the_address(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run()
    app = open_page("tickets", seed="1")
    assert not app.exception
    assert app.query_params["seed"] in ("1", ["1"])
    labels = [button.label for button in app.button]
    number = next(badge for badge in (each.value for each in app.markdown) if "round" in badge)
    assert any(label.startswith("Audit round") and label.endswith("of seed 1") for label in labels), (labels, number)
    assert any("--seed 1" in each.value for each in app.code)
    size = formats.file_size(run.seed(1).bytes_on_disk(0))
    assert any(f"dense round {size} (seed 1)" in each.value for each in app.caption)


def test_a_run_without_the_chosen_seed_says_which_it_takes(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run(states=("done", "done"))
    make_run("random", states=("done",))
    app = open_page("tickets", seed="1")
    assert not app.exception
    assert sum("Seed 1 of this run lacks this round" in each.value for each in app.caption) == 1


def test_macs_are_split_and_held_against_the_dense_network() -> None:
    config, graph = resolve({"hidden": 4}), load_graph("cora")
    table = ticket_actions.macs_as_read(counterfactuals(config, graph, full_masks(config, graph)), "dense_features")
    assert list(table["Pruned"]) == ["Nothing", "Edges only", "Weights only", "Edges and weights"]
    assert set(table["Transform"]) == {"15.6 M"}
    assert set(table["Aggregate"]) == {"146 k"}
    assert set(table["Saved"]) == {"0.0 %"}


def test_a_measurement_is_read_as_people_do() -> None:
    row = {"label": "edges removed", "median": 0.0123, "p10": 0.011, "p90": 0.02, "memory": 29_900_000}
    table = ticket_actions.latency_as_read({"executions": [row]})
    assert table.to_dict("records") == [
        {"Execution": "Edges removed", "Median": "12 ms", "p10 to p90": "11 ms to 20 ms", "Memory": "29.9 MB"}
    ]


@pytest.mark.parametrize(("load", "told"), [(1.5, ""), (7.6, "This machine is busy (load 8 on 2 cores)")])
def test_a_busy_machine_is_said_before_it_is_measured(load: float, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_actions.psutil, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(ticket_actions.psutil, "cpu_count", lambda: 2)
    assert ticket_actions.busy_words().split(":")[0] == told
