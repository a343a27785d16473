"""A ticket file from elsewhere, and the limits of what is accepted."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from app.components.computation import Computation
from app.views import ticket_import
from app.views.ticket_import import quantity, report_as_read, sparse_graph
from glt import errors, formats, zip_files
from glt.datasets import load_graph, ogb_io
from glt.presets import resolve
from glt.store import Store, annotations, atomic_io, compact
from glt.ticket_file.io import ticket_bytes
from glt.ticket_file.schema import LONGEST_NAME, About
from glt.ticket_file.ticket import Ticket, make_ticket
from tests.conftest import write_true_rounds
from tests.opening import MAIN, SECONDS, load_settings


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
    """Open the page with a file that was brought and checked before."""
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


def texts(app: AppTest) -> str:
    return "\n".join(each.value for each in [*app.markdown, *app.caption, *app.success, *app.warning, *app.error])


def test_a_file_is_checked_shown_and_stands_beside_the_runs(ticket: Ticket) -> None:
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
def test_its_graph_is_seen_where_the_data_set_is_known(ticket: Ticket, view: str) -> None:
    app = opened(ended(ticket_bytes(ticket)), of_file=view)
    assert not app.exception
    assert not app.error
    if view == "measures":
        read = app.table[1].value.set_index("Measure")
        assert read.loc["Average clustering", "Original"] == "0.24067"
        assert read.loc["Entries kept (directed)", "Ticket file"] == "50.0 %"


def test_numbers_that_are_not_so_are_named(ticket: Ticket) -> None:
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


def test_what_cannot_be_true_is_told_on_the_page_as_by_the_command(ticket: Ticket) -> None:
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


def test_other_outputs_are_a_failure(ticket: Ticket) -> None:
    other = ticket.outputs + np.float32(1)
    lying = Ticket(ticket.about, ticket.graph, ticket.masks, ticket.weights, ticket.theta0, other)
    app = opened(ended(ticket_bytes(lying)))
    assert "gives other outputs than the file states" in app.error[0].value


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


BAD = {
    "no zip": (b"\x80\x04K\x01.", "mine.zip is not a ticket file"),
    "nothing": (b"", "mine.zip is empty: copy it again."),
    "the beginning of a zip": (_zip({"a": bytes(99)})[:60], "mine.zip is damaged or truncated"),
    "another zip": (_zip({"data.pkl": b"x"}), "mine.zip is not a ticket file: it does not contain"),
    "not JSON": (_zip({"ticket.json": b"{", "tensors.safetensors": b""}), "mine.zip is damaged"),
    "no such number": (
        _zip({"ticket.json": b'{"format": "GLT Studio ticket", "a": NaN}', "tensors.safetensors": b""}),
        "mine.zip is damaged",
    ),
    "too deep": (_zip({"ticket.json": b"[" * 100_000, "tensors.safetensors": b""}), "mine.zip is damaged"),
    "too large": (
        _zip({"ticket.json": b"{}", "tensors.safetensors": bytes(1_100_000)}),
        "would unpack to 1.10 MB, more than the limit of 1.00 MB",
    ),
}


@pytest.mark.parametrize("kind", list(BAD))
def test_every_bad_file_is_one_sentence(kind: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_import, "MOST_UNPACKED_MB", 1)
    content, sentence = BAD[kind]
    app = opened(ended(content))
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value
    assert "/glt-import" not in error.value
    assert "\n" not in error.value


def test_an_unknown_data_set_is_said(store: Store, ticket: Ticket) -> None:
    app = opened(_with_dataset(ended(ticket_bytes(ticket)), "their-own"), of_file="subgraph")
    assert not app.exception
    assert "This version has no data set their-own" in texts(app)


def _with_dataset(computation: Computation, name: str) -> Computation:
    found = computation.answer()
    found["config"]["dataset"] = found["dataset"] = name
    computation._printed = json.dumps(found)
    return computation


def test_words_for_quantities() -> None:
    assert quantity("macs.sparse_features") == "MACs, sparse features"
    assert ticket_import.measures_as_read({"reach": 0.5}, {"reach": 0.25})["Change"].tolist() == [
        "\N{MINUS SIGN}50.0 %"
    ]


def test_a_file_is_brought_checked_and_closed(ticket: Ticket) -> None:
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


def test_an_upload_may_be_as_large_as_the_page_says() -> None:
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
        f"{formats.count(errors.MOST_SAID)} characters",
    ],
)
def test_every_limit_is_the_one_that_is_promised(words: str) -> None:
    assert words in PROMISED
