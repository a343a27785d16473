"""Curves and Tickets: verdicts, diagnostics, downloads, and imported ticket files."""

from __future__ import annotations

import base64
import io
import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import scipy.sparse
from streamlit.testing.v1 import AppTest

from analysis.tables.curves import curve_table
from analysis.tables.rounds import rounds_table
from app.components import computation
from app.components.computation import Computation
from app.views import curves, ticket_actions, ticket_import, tickets
from app.views.curves import AT_CHANCE, CUTS
from app.views.ticket_import import report_as_read, sparse_graph
from glt import errors, formats, zip_files
from glt.config import canonical_json
from glt.cost.macs import counterfactuals
from glt.datasets import load_graph, ogb_io
from glt.formats import as_typed, program
from glt.presets import resolve
from glt.store import Run, Store, annotations, atomic_io, bundled_examples, compact, paths
from glt.store.checksums import add_checksums
from glt.ticket_file.io import ticket_bytes
from glt.ticket_file.schema import LONGEST_NAME, About
from glt.ticket_file.ticket import Ticket, make_ticket
from glt.training.problem import full_masks
from tests.app.conftest import MakeRun, OpenPage, texts
from tests.conftest import write_true_rounds
from tests.opening import MAIN, SECONDS, load_settings
from tests.ticket_file.conftest import packed


def test_the_numbers_of_a_curve_sort_as_numbers(make_run: MakeRun) -> None:
    table = curves.shown_columns(curve_table(rounds_table([make_run("ugs")])))
    assert table["Test accuracy"].tolist() == pytest.approx([80.1, 79.1, 78.1, 77.1])
    assert table["MACs"].tolist() == pytest.approx([2000, 1000, 666.67, 500], abs=0.01)
    assert table["Verdict"].tolist() == ["", "no verdict", "no verdict", "no verdict"]
    assert curves.CHANGED not in table
    noted = rounds_table([make_run("admm")]).assign(solver_edges_changed=[float("nan"), 4.0, 0.0, 2.0] * 2)
    assert curves.shown_columns(curve_table(noted))[curves.CHANGED].tolist()[1:] == [4.0, 0.0, 2.0]


def test_seeds_without_spread_give_no_verdict(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("tickets")
    assert ["No verdict: it needs two or more seeds" in info.value for info in app.info] == [True]
    assert "MACs saved" not in {metric.label for metric in app.metric}
    accuracy = next(metric for metric in app.metric if metric.label == "Against dense")
    assert accuracy.value == "\N{MINUS SIGN}3.0 points"


def write_tests(run: Run, scores: Sequence[Sequence[float]]) -> None:
    """Give the rounds of every seed these test scores."""
    for number, of_seed in zip(run.seeds(), scores, strict=True):
        seed = run.seed(number)
        records = [
            record.model_copy(update={"test": score}) for record, score in zip(seed.rounds(), of_seed, strict=True)
        ]
        lines = [f"{canonical_json(record.model_dump(mode='json'))}\n" for record in records]
        (seed.path / paths.ROUNDS).write_text("".join(lines), encoding="utf-8")
        (seed.path / paths.CHECKSUMS).unlink()
        add_checksums(seed.path, len(records))


@pytest.mark.parametrize("named", ["margin", "tolerance"])
def test_the_margin_decides_the_verdict(named: str, make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs", ("done",) * 3, rounds=2)
    write_tests(run, [[0.80, 0.799, 0.779], [0.80, 0.7985, 0.78], [0.80, 0.7995, 0.781]])
    app = open_page("tickets")
    assert app.number_input(key="margin").value == 0.5
    assert ["Sparsest round shown to lose less than 0.5 points against dense" in each.value for each in app.info] == [
        True
    ]
    assert "ticket, round 1" in " ".join(badge.value for badge in app.markdown)
    assert "MACs saved" in {metric.label for metric in app.metric}
    # An older URL uses another name.
    app = open_page("tickets", **{named: "3"})
    assert app.number_input(key="margin").value == 3
    assert "ticket, round 2" in " ".join(badge.value for badge in app.markdown)
    assert app.query_params["margin"] == "3"
    assert "tolerance" not in app.query_params


def test_an_open_round_claims_no_saving(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs", ("done",) * 3, rounds=1)
    write_tests(run, [[0.80, 0.81], [0.80, 0.78], [0.80, 0.80]])
    app = open_page("tickets")
    assert "Open, undecided with these seeds: UGS round 1." in app.info[0].value
    assert "open; closest by validation: round 1" in " ".join(badge.value for badge in app.markdown)
    labels = {metric.label for metric in app.metric}
    assert "MACs removed" in labels
    assert "MACs saved" not in labels
    shown = " ".join(caption.value for caption in app.caption)
    assert "Open with 3 seeds: needs about" in shown
    assert "3 seeds detect a distance of" in shown


def test_a_paired_difference_shows_its_interval() -> None:
    row = {"difference": -0.004, "difference_low": -0.011, "difference_high": 0.003}
    assert tickets.difference(row) == "\N{MINUS SIGN}0.4 points (\N{MINUS SIGN}1.1 to +0.3)"
    alone = {"difference": 0.0, "difference_low": float("nan"), "difference_high": float("nan")}
    assert tickets.difference(alone) == "0.0 points"


UGS = "cora-node-gcn-ugs-df8e8f72"


def test_curves_list_removals_without_gradient(open_page: OpenPage) -> None:
    app = open_page("curves", runs=UGS)
    (table,) = [each.value for each in app.dataframe]
    shares = dict(zip(table["Round"], table[CUTS], strict=True))
    # The mean of 40.0, 30.5, 52.6, 0 and 13.0 %.
    assert float(shares[13]) == pytest.approx(27.2, abs=0.1)
    assert float(shares[9]) == 0.0
    assert float(dict(zip(table["Round"], table[AT_CHANCE], strict=True))[13]) == 171
    assert not app.warning


def test_curves_of_a_method_without_a_search_have_no_such_column(open_page: OpenPage) -> None:
    app = open_page("curves", runs="cora-node-gcn-admm-0913104b")
    (table,) = [each.value for each in app.dataframe]
    assert CUTS not in table
    assert AT_CHANCE not in table


def test_runs_report_a_search_at_chance_level(open_page: OpenPage) -> None:
    app = open_page("runs", run=UGS, training_round="13")
    expected = [each.value for each in app.caption]
    assert any(
        "validation is at chance from epoch 171 or earlier to the end; masks were read before, at epoch 15" in t
        for t in expected
    )


def test_the_pareto_front_uses_the_axis_in_the_url(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run()
    make_run("random")
    app = open_page("tickets", x="weight")
    (figure,) = app.get("plotly_chart")
    spec = json.loads(figure.proto.spec)
    assert spec["layout"]["xaxis"]["title"]["text"].startswith("Weight sparsity")
    assert "Pareto front" in {trace.get("name") for trace in spec["data"]}
    # The sparsest of equal validation scores: three rounds of two seconds each, and the dense one.
    assert any("Search time up to this round: 8.0 s per seed." in each.value for each in app.caption)


def test_the_graph_downloads_in_every_format(make_run: MakeRun) -> None:
    run = make_run()
    kept = run.seed(1).masks(2).edges.kept
    assert nx.read_graphml(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "graphml"))).number_of_edges() == kept
    assert len(pd.read_csv(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "csv")))) == kept
    assert scipy.sparse.load_npz(io.BytesIO(ticket_actions.graph_bytes(run, 2, 1, "npz"))).nnz == kept
    assert ticket_actions.file_stem(run, 2, 1) == f"{run.name}-seed-1-round-02"


def test_a_ticket_that_cannot_be_made_is_one_sentence() -> None:
    example = next(iter(bundled_examples()))
    making = ticket_actions.ticket_file(example, 1, example.existing_seed().seed)
    making.wait()
    assert "is an example without weights" in making.failure
    assert making.made == b""


def test_a_ticket_file_is_made_in_a_subprocess(make_run: MakeRun) -> None:
    # The masks that are drawn are not those of the network the settings describe, which is noticed.
    making = ticket_actions.ticket_file(make_run(), 2, 0)
    making.wait()
    assert making.failure.count("\n") == 0
    assert making.failure != ""
    # A command that fails may still answer.
    code = "import sys; print('{\"passed\": false}'); print('0.5', file=sys.stderr); sys.exit(1)"
    done = computation.Computation(["timeit", "-n", "1", "-r", "1", code])
    done.wait()
    assert done.answer() == {"passed": False}
    assert done.share == 0.5


def test_a_failed_command_shows_its_error(make_run: MakeRun) -> None:
    run = make_run()
    arguments = ticket_actions.command_line("cost", run, 9, 0, "--json")
    failing = computation.Computation(["glt", *arguments])
    failing.wait()
    assert "no round 9" in failing.answer()["error"]
    assert as_typed(*arguments) == shlex.join(
        [*program(), "cost", str(run.path), "--round", "9", "--seed", "0", "--json"]
    )


def test_progress_uses_elapsed_time_until_shares_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    done = computation.Computation(["timeit", "-n", "1", "-r", "1", "pass"])
    done.wait()
    monkeypatch.setattr(computation.time, "monotonic", lambda: 1030.0)
    done._begun, done._ended = 1000.0, 0.0
    assert done.progress(60) == (0.5, 30.0)
    assert done.progress(10) == (computation.MOST_BY_CLOCK, 0.0)
    done.share, done._told = 0.25, 1020.0
    assert done.progress(60) == (0.25, 30.0)


def test_cards_show_the_seed_in_the_url(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run()
    app = open_page("tickets", seed="1")
    assert app.query_params["seed"] in ("1", ["1"])
    labels = [button.label for button in app.button]
    number = next(badge for badge in (each.value for each in app.markdown) if "round" in badge)
    assert any(label.startswith("Audit round") and label.endswith("of seed 1") for label in labels), (labels, number)
    assert any("--seed 1" in each.value for each in app.code)
    size = formats.file_size(run.seed(1).bytes_on_disk(0))
    assert any(f"dense round {size} (seed 1)" in each.value for each in app.caption)


def test_a_run_without_the_chosen_seed_names_its_substitute(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run(states=("done", "done"))
    make_run("random", states=("done",))
    app = open_page("tickets", seed="1")
    assert sum("Seed 1 of this run lacks this round" in each.value for each in app.caption) == 1


def test_macs_are_split_and_compared_with_the_dense_network() -> None:
    config, graph = resolve({"hidden": 4}), load_graph("cora")
    table = ticket_actions.macs_as_read(counterfactuals(config, graph, full_masks(config, graph)), "dense_features")
    assert list(table["Pruned"]) == ["Nothing", "Edges only", "Weights only", "Edges and weights"]
    assert set(table["Transform"]) == {"15.6 M"}
    assert set(table["Aggregate"]) == {"146 k"}
    assert set(table["Saved"]) == {"0.0 %"}


def test_latencies_are_formatted_for_people() -> None:
    row = {"label": "edges removed", "median": 0.0123, "p10": 0.011, "p90": 0.02, "memory": 29_900_000}
    table = ticket_actions.latency_as_read({"executions": [row]})
    assert table.to_dict("records") == [
        {"Execution": "Edges removed", "Median": "12 ms", "p10 to p90": "11 ms to 20 ms", "Memory": "29.9 MB"}
    ]


@pytest.mark.parametrize(("load", "expected"), [(1.5, ""), (7.6, "This machine is busy (load 8 on 2 cores)")])
def test_a_busy_machine_is_a_warning_before_measuring(
    load: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_actions.psutil, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(ticket_actions.psutil, "cpu_count", lambda: 2)
    assert ticket_actions.busy_words().split(":")[0] == expected


@pytest.fixture
def ticket(store: Store) -> Ticket:
    """A drawn round of a narrow GCN on Cora whose record is made from its masks."""
    run = store.create(resolve({"hidden": 4, "rounds": 1, "p_graph": 0.5, "p_weight": 0.5}))
    seed_run = run.seed(3)
    with seed_run.lock():
        write_true_rounds(seed_run)
    return make_ticket(seed_run, 1)


def ended(content: bytes) -> Computation:
    computation = ticket_import.check_file(content)
    folder = Path(computation._folder.name)  # type: ignore[union-attr]
    computation.wait()
    assert not folder.exists()
    return computation


def opened(computation: Computation, name: str = "mine.zip", **view: str) -> AppTest:
    """Open the page with an uploaded and checked file."""
    from streamlit.util import calc_hash

    load_settings()
    app = AppTest.from_file(MAIN, default_timeout=SECONDS)
    app._page_hash = calc_hash("tickets")
    for key, value in {"view": "file", **view}.items():
        app.query_params[key] = value
    app.session_state[ticket_import.BROUGHT], app.session_state[ticket_import.NAME] = computation, name
    return app.run()


def places(values: Any) -> list[float]:
    """Return a trace's numbers; Plotly writes arrays as base64 text of doubles."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).tolist()
    return list(values)


def test_an_imported_ticket_is_checked_and_drawn_beside_runs(ticket: Ticket) -> None:
    computation = ended(ticket_bytes(ticket))
    found = computation.answer()
    assert found["passed"]
    graph = sparse_graph(found, computation.made)
    assert graph.edges.shape[1] == ticket.masks.edges.kept
    assert np.array_equal(graph.mask(load_graph("cora")).keep, ticket.masks.edges.keep)
    table = report_as_read(found)
    rows = table.set_index("Quantity")
    assert rows.loc[["Graph sparsity", "Weight sparsity"], "In the file"].tolist() == ["50.0 %", "50.0 %"]
    assert rows.loc["Validation score", "Check"] == ":green[same]"
    only_stated = rows[rows["Check"] == ":gray[cannot be verified]"]
    assert only_stated["In the file"].to_dict() == {
        "Last epoch's test score": "77.6 %",
        "Best epoch": "4",
        "Time of the round": "2.0 s",
        "Time of the search": "4.0 s",
    }
    app = opened(computation)
    assert not app.exception
    assert "mine.zip, exported from" in texts(app)
    assert "config.learning" in app.success[0].value
    (figure,) = app.get("plotly_chart")
    ring = next(trace for trace in go.Figure(json.loads(figure.proto.spec)).data if trace.name == "Ticket file")
    assert places(ring.x) == [50.0]
    beside = app.table[1].value
    assert beside["Graph sparsity"].tolist() == ["50.0 %", "50.0 %"]


@pytest.mark.parametrize("view", ["subgraph", "measures"])
def test_an_imported_graph_is_drawn_for_a_known_data_set(ticket: Ticket, view: str) -> None:
    app = opened(ended(ticket_bytes(ticket)), of_file=view)
    assert not app.exception
    assert not app.error
    if view == "measures":
        read = app.table[1].value.set_index("Measure")
        assert read.loc["Average clustering", "Original"] == "0.24067"
        assert read.loc["Entries kept (directed)", "Ticket file"] == "50.0 %"


def test_wrong_numbers_in_a_ticket_are_named(ticket: Ticket) -> None:
    record = ticket.about.record.model_copy(update={"test": 0.99, "graph_sparsity": 0.9})
    about = About.model_validate({**ticket.about.model_dump(), "record": record.model_dump()})
    lying = Ticket(about, ticket.graph, ticket.masks, ticket.weights, ticket.theta0, ticket.outputs)
    app = opened(ended(ticket_bytes(lying)))
    assert "Numbers in the file differ from the recomputed ones: test score, graph sparsity." in app.error[0].value
    assert not app.success
    disagreeing = app.table[0].value
    assert disagreeing[disagreeing["Check"] == ":orange[differs]"]["Quantity"].tolist()[:2] == [
        "Test score",
        "Graph sparsity",
    ]


def test_contradictions_read_the_same_on_page_and_command_line(ticket: Ticket) -> None:
    record = ticket.about.record.model_copy(update={"best_epoch": 10**6})
    about = ticket.about.model_copy(update={"seed": -3, "metric": "auc", "record": record})
    lying = replace(ticket, about=about)
    app = opened(ended(ticket_bytes(lying)))
    (error,) = app.error
    for sentence in (
        "The file states impossible values: best epoch.",
        "The seed is -3; valid seeds are 0 to 999999999.",
        "The metric is auc, but node classification has accuracy.",
    ):
        assert sentence in error.value
    assert app.table[0].value.set_index("Quantity").loc["Best epoch", "Check"] == ":orange[impossible]"


def test_changed_outputs_fail_the_check(ticket: Ticket) -> None:
    other = ticket.outputs + np.float32(1)
    lying = Ticket(ticket.about, ticket.graph, ticket.masks, ticket.weights, ticket.theta0, other)
    app = opened(ended(ticket_bytes(lying)))
    assert "gives other outputs than the file states" in app.error[0].value


BAD = {
    "no zip": (b"\x80\x04K\x01.", "mine.zip is not a ticket file"),
    "nothing": (b"", "mine.zip is empty: copy it again."),
    "the beginning of a zip": (packed({"a": bytes(99)})[:60], "mine.zip is damaged or truncated"),
    "another zip": (packed({"data.pkl": b"x"}), "mine.zip is not a ticket file: it does not contain"),
    "not JSON": (packed({"ticket.json": b"{", "tensors.safetensors": b""}), "mine.zip is damaged"),
    "no such number": (
        packed({"ticket.json": b'{"format": "GLT Studio ticket", "a": NaN}', "tensors.safetensors": b""}),
        "mine.zip is damaged",
    ),
    "too deep": (packed({"ticket.json": b"[" * 100_000, "tensors.safetensors": b""}), "mine.zip is damaged"),
    "too large": (
        packed({"ticket.json": b"{}", "tensors.safetensors": bytes(1_100_000)}),
        "would unpack to 1.10 MB, more than the limit of 1.00 MB",
    ),
}


@pytest.mark.parametrize("kind", list(BAD))
def test_bad_ticket_files_are_one_sentence(kind: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_import, "MOST_UNPACKED_MB", 1)
    content, sentence = BAD[kind]
    app = opened(ended(content))
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value
    assert "/glt-import" not in error.value
    assert "\n" not in error.value


def test_an_unknown_data_set_is_reported(store: Store, ticket: Ticket) -> None:
    app = opened(_with_dataset(ended(ticket_bytes(ticket)), "their-own"), of_file="subgraph")
    assert not app.exception
    assert "This version has no data set their-own" in texts(app)


def _with_dataset(computation: Computation, name: str) -> Computation:
    found = computation.answer()
    found["config"]["dataset"] = found["dataset"] = name
    computation._printed = json.dumps(found)
    return computation


def test_a_ticket_file_is_uploaded_checked_and_closed(ticket: Ticket) -> None:
    load_settings()
    app = AppTest.from_file(MAIN, default_timeout=SECONDS)
    from streamlit.util import calc_hash

    app._page_hash = calc_hash("tickets")
    app.query_params["view"] = "file"
    app.run()
    app.file_uploader(key=ticket_import.UPLOADER).set_value(("mine.zip", ticket_bytes(ticket), "application/zip")).run()
    app.session_state[ticket_import.BROUGHT].wait()
    app.run()
    assert "mine.zip, exported from" in texts(app)
    app.button(key="close-imported").click().run()
    assert "exported from" not in texts(app)


ROOT = Path(__file__).parents[2]
PROMISED = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_upload_limit_equals_the_stated_one() -> None:
    settings = (ROOT / "app" / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert f"maxUploadSize = {ticket_import.MOST_MB}\n" in settings
    assert f"up to {ticket_import.MOST_MB} MB" in ticket_import.ABOUT_FILE


@pytest.mark.parametrize(
    "words",
    [
        f"{ticket_import.MOST_MB} MB",
        f"{formats.count(ticket_import.MOST_UNPACKED_MB)} MB on the page",
        f"{zip_files.MOST_DIRECTORY >> 20} MiB; the sizes it states",
        f"{LONGEST_NAME} characters",
        f"{atomic_io.MOST_BYTES >> 20} MiB; {atomic_io.MOST_BYTES_OF_LINES >> 30} GiB",
        f"{compact.MOST_BYTES >> 20} MiB |",
        f"{ogb_io._CHUNK >> 20} MiB; the number",
        f"{annotations.LONGEST_TITLE}, {formats.count(annotations.LONGEST_NOTE)} characters",
        f"{formats.count(errors.LONGEST_MESSAGE)} characters",
    ],
)
def test_limits_equal_the_documented_ones(words: str) -> None:
    assert words in PROMISED
