"""Tickets of the OGB sets: dense features, binary targets, edge features and links come back, and are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from glt.datasets import load_graph
from glt.errors import ConfigError, DataError
from glt.store import SeedRun
from glt.ticket_file import ticket as module
from glt.ticket_file.io import read_ticket, ticket_bytes
from glt.ticket_file.ticket import Ticket, arrays_of, make_ticket
from tests.ticket_file.conftest import changed, checked
from tests.ticket_file.test_loaders import documented_program

OF_THE_NETWORK = ("weight.", "mask.", "theta_0.")
WHOLE = {"batch_clusters": 0, "batch_clusters_eval": 1}
SETTINGS = {
    "arxiv gcn": {"dataset": "ogbn-arxiv", "model": "gcn"},
    "arxiv": {"dataset": "ogbn-arxiv", "model": "resgcn", "layers": 3},
    "proteins": {"dataset": "ogbn-proteins", "model": "resgcn", "layers": 3, "gen_self_loops": True, **WHOLE},
    "proteins undirected": {"dataset": "ogbn-proteins", "model": "resgcn", "edge_mask": "undirected", **WHOLE},
    "collab": {"dataset": "ogbl-collab", "task": "link", "model": "resgcn", "link_objective": "hadamard"},
}


@pytest.fixture
def of(
    draw: Callable[..., SeedRun], test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Ticket]:
    """Return the ticket of drawn masks and weights on the small folder of a setting's data set."""
    monkeypatch.setenv("GLT_DATA", str(test_data / "ogb_sample"))
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))
    load_graph.cache_clear()
    return lambda name: make_ticket(draw(**SETTINGS[name]), 1)


@pytest.fixture(autouse=True)
def graphs_are_of_this_test() -> Iterator[None]:
    yield
    load_graph.cache_clear()


def written(ticket: Ticket, folder: Path) -> Path:
    path = folder / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    return path


@pytest.mark.parametrize("name", SETTINGS)
def test_a_ticket_comes_back_whole_and_passes_where_it_can_be_told(
    of: Callable[[str], Ticket], tmp_path: Path, name: str
) -> None:
    ticket = of(name)
    path = written(ticket, tmp_path)
    again = read_ticket(path)
    assert again.graph.content_hash == ticket.graph.content_hash == load_graph(again.graph.name).content_hash
    report = checked(path)
    assert report.outputs_agree
    assert report.contradictions == ()
    # Masks and weights are drawn, and so is the score of their record.
    assert set(report.differs) <= {"val", "test", *(f"macs.{kind}" for kind in ticket.about.record.macs)}
    assert (report.test is None) == ("collab" in name)


def test_the_metric_is_that_of_the_data_set(of: Callable[[str], Ticket]) -> None:
    assert [of(name).about.metric for name in ("arxiv", "proteins", "collab")] == ["accuracy", "ROC-AUC", "Hits@50"]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_documented_loader_gives_the_same_outputs(of: Callable[[str], Ticket], tmp_path: Path, name: str) -> None:
    ticket = of(name)
    written(ticket, tmp_path)
    found = documented_program(tmp_path)
    largest = max(1.0, float(np.abs(ticket.outputs).max()))
    assert found["outputs"].abs().max() > 0.1
    assert (found["outputs"] - torch.from_numpy(ticket.outputs)).abs().max() <= 1e-5 * largest


BAD = {
    "features.dense": (np.zeros((149, 16), np.float32), r"features\.dense is \[149, 16\]"),
    "targets": (np.full((150, 112), 2, np.uint8), "rows of 0 and 1"),
    "edge_features": (np.zeros((954, 8), np.float32), "955 rows of numbers"),
}


@pytest.mark.parametrize("tensor", BAD)
def test_tensors_that_do_not_fit_are_refused(of: Callable[[str], Ticket], tmp_path: Path, tensor: str) -> None:
    values, told = BAD[tensor]
    with pytest.raises(DataError, match=told):
        read_ticket(changed(written(of("proteins"), tmp_path), **{tensor: values}))


def test_fewer_targets_than_outputs_are_refused(of: Callable[[str], Ticket], tmp_path: Path) -> None:
    path = written(of("proteins"), tmp_path)
    with pytest.raises(DataError, match="111 targets for 112 outputs"):
        read_ticket(changed(path, targets=np.zeros((150, 111), np.uint8)))


@pytest.mark.parametrize(
    ("pairs", "told"), [(np.array([[0], [120]]), "not in the graph"), (np.zeros(4, int), "four lists of pairs")]
)
def test_a_split_of_links_that_does_not_fit_is_refused(
    of: Callable[[str], Ticket], tmp_path: Path, pairs: np.ndarray, told: str
) -> None:
    path = written(of("collab"), tmp_path)
    with pytest.raises(DataError, match=told):
        read_ticket(changed(path, **{"links.test": pairs}))


def test_a_graph_beyond_memory_is_refused_before_anything_is_computed(
    of: Callable[[str], Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    of("proteins")
    monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    with pytest.raises(ConfigError, match=r"A ticket file on ogbn-proteins would hold 173 kB, more than 100 kB"):
        of("proteins")


@pytest.mark.parametrize("name", ["arxiv", "proteins"])
def test_the_size_that_is_held_against_memory_is_about_that_of_the_tensors(
    of: Callable[[str], Ticket], name: str
) -> None:
    ticket = of(name)
    held = sum(array.nbytes for tensor, array in arrays_of(ticket).items() if not tensor.startswith(OF_THE_NETWORK))
    assert module.tensor_bytes(ticket.graph) == pytest.approx(held, rel=0.1)
