"""Verification of ticket files: recomputation and consistency, for every data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.config import make_config
from glt.datasets import load_graph
from glt.errors import ConfigError, DataError
from glt.masks import EdgeMask, Masks
from glt.store import SeedRun, run_name
from glt.ticket_file import ticket as module
from glt.ticket_file.io import read_ticket, ticket_bytes
from glt.ticket_file.ticket import Ticket, arrays_of, make_ticket
from glt.ticket_file.verify import contradictions, unchecked
from tests.ticket_file.conftest import Arrays, changed, checked
from tests.ticket_file.test_io import assert_documented_program_agrees


def test_verification_recomputes_the_network(trained: SeedRun, path: Path) -> None:
    report = checked(path)
    assert report.passed
    assert report.max_output_difference <= 1e-6
    record = trained.rounds()[1]
    assert report.recorded_test == record.test
    assert report.test == pytest.approx(record.test, abs=0.002)
    masks = trained.masks(1)
    assert (report.entries_kept, report.weights_kept) == (masks.edges.kept, masks.weights.kept)


def test_changed_or_non_finite_outputs_fail(ticket: Ticket, path: Path) -> None:
    report = checked(changed(path, outputs=ticket.outputs + np.float32(0.01)))
    assert not report.passed
    assert report.max_output_difference == pytest.approx(0.01, rel=1e-3)
    holed = ticket.outputs.copy()
    holed[0, :2] = np.nan, np.inf
    report = checked(changed(path, outputs=holed))
    assert (report.passed, report.not_numbers) == (False, 2)
    assert report.max_output_difference <= 1e-6


def states(**numbers: float) -> Callable[[Arrays], None]:
    def change(document: Arrays) -> None:
        (document if "search_seconds" in numbers else document["record"]).update(numbers)

    return change


@pytest.mark.parametrize("name", ["test", "val", "graph_sparsity", "weight_sparsity", "edges_kept_either_way"])
def test_a_wrong_score_fails(path: Path, name: str) -> None:
    report = checked(changed(path, states(**{name: 0.999})))
    assert report.outputs_agree
    assert (report.passed, report.differs) == (False, [name])


def test_wrong_macs_fail(path: Path) -> None:
    report = checked(changed(path, lambda document: document["record"]["macs"].update(published=5)))
    assert (report.passed, report.differs) == (False, ["macs.published"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("test_last", 1.01), ("best_epoch", -1), ("best_epoch", 15), ("seconds", -0.1), ("search_seconds", -5)],
)
def test_an_impossible_number_fails(path: Path, name: str, value: float) -> None:
    report = checked(changed(path, states(**{name: value})))
    assert (report.passed, report.impossible) == (False, [name])


def test_unverifiable_statements_are_accepted(path: Path) -> None:
    report = checked(changed(path, states(best_epoch=3, seconds=9.0)))
    assert report.passed
    unfound = [each.name for each in report.stated if each.found is None]
    assert unfound == ["test_last", "best_epoch", "seconds", "search_seconds"]


def is_of(dataset: str) -> Callable[[Arrays], None]:
    """Say that everything is of another data set, in settings whose hash the name of the run fits."""

    def change(document: Arrays) -> None:
        document["data"]["name"] = document["config"]["dataset"] = dataset
        document["run"] = run_name(make_config(document["config"]))

    return change


LINK = {"task": "link", "link_objective": "bce"}
CONTRADICTIONS: list[tuple[Callable[[Arrays], None], str]] = [
    (lambda about: about.update(seed=-3), "The seed is -3; valid seeds are 0 to 999999999."),
    (lambda about: about["record"].update(round=2), "The round is 2, but the last one in the settings is 1."),
    (lambda about: about["record"].update(round=0), "After round 0 at p_graph 0.4, 10,556 edge entries must be"),
    (lambda about: about["config"].update(p_graph=0.9), "After round 1 at p_graph 0.9, 1,056 edge entries must be"),
    (lambda about: about["config"].update(p_weight=0.9), "After round 1 at p_weight 0.9, 2,"),
    (lambda about: about.update(metric="auc"), "The metric is auc, but node classification has accuracy."),
    (
        lambda about: about["data"].update(hash="0" * 64),
        "The stated hash of cora differs from that of the graph in the file.",
    ),
    (lambda about: about["data"].update(hash=None), "The stated hash of cora differs from that of the bundled cora."),
    (lambda about: about["config"].update(dataset="pubmed"), "The data set is cora, but pubmed in the settings."),
    (
        lambda about: about.update(run="../../x"),
        "The run is named ../../x, but its settings belong to cora-node-gcn-ugs-",
    ),
    *(
        (lambda about, change=change: about["config"].update(change), "The run is named cora-node-gcn-ugs-")
        for change in ({"method": "random"}, {"dropout": 0.1}, {"epochs": 4})
    ),
    *(
        (change, "The names of the data set, its classes or its nodes differ from those of cora.")
        for change in (
            is_of("citeseer"),
            is_of("their-own"),
            lambda about: about.update(class_names=about["class_names"][::-1]),
            lambda about: about.update(node_ids=about["node_ids"][::-1]),
            lambda about: about.update(node_ids=None),
        )
    ),
    (lambda about: about["data"].update(raw_rows=7), "The stated row counts differ from those of cora."),
]


@pytest.mark.parametrize(("change", "sentence"), CONTRADICTIONS)
def test_a_contradiction_fails(path: Path, change: Callable[[Arrays], None], sentence: str) -> None:
    report = checked(changed(path, change))
    assert not report.passed
    assert any(listed.startswith(sentence) for listed in report.contradictions)


def test_an_unknown_method_cannot_be_verified(path: Path) -> None:
    report = checked(changed(path, lambda about: about["config"].update(method="theirs")))
    assert report.contradictions == ()
    assert {"run", "config.method", "config.p_graph"} < {*report.unchecked}


def test_the_graph_of_a_link_ticket_is_the_training_graph(draw: Callable[..., SeedRun], tmp_path: Path) -> None:
    ticket = make_ticket(draw(**LINK), 1)
    assert contradictions(ticket) == ()
    other = replace(ticket, graph=make_ticket(draw(**LINK, split_seed=1), 1).graph)
    assert contradictions(other) == ("The graph in the file differs from cora.",)


def test_everything_unchecked_is_listed(ticket: Ticket, path: Path) -> None:
    """Unknown entries are listed too."""
    listed = unchecked(ticket.about)
    assert {"seed", "config.dropout", "config.epochs", "config.method", "data.source", "written_by.glt-studio"} < {
        *listed
    }
    assert not {"config.hidden", "config.p_graph", "class_names", "node_ids", "data.hash", "data.raw_rows"} & {*listed}

    def change(document: Arrays) -> None:
        document["environment"] = {"versions": {"torch": "9"}, "anything\n": 1, "data_hash": document["data"]["hash"]}

    found = checked(changed(path, change)).unchecked
    assert {*found} - {*listed} == {"environment.versions", "environment.anything", "environment.data_hash"}


def test_names_are_unchecked_without_the_data_set(ticket: Ticket) -> None:
    data = ticket.about.data.model_copy(update={"hash": "0" * 64, "name": "their-own"})
    listed = {*unchecked(ticket.about.model_copy(update={"data": data}))}
    assert {"class_names", "node_ids", "data.name", "data.raw_rows"} < listed


def test_symmetric_removal_is_no_contradiction(ticket: Ticket) -> None:
    """Of 5,278 edges floor(0.4 * 5,278) = 2,111 go, of 10,556 entries 4,222 and not an odd number such as 4,223."""
    listed = ticket.graph.num_edges
    for gone, expected in ((2111, 0), (2112, 1)):
        keep = np.tile(np.arange(listed) >= gone, 2)
        masks = Masks(EdgeMask("directed", keep), ticket.masks.weights)
        assert len(contradictions(replace(ticket, masks=masks))) == expected


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
def test_an_ogb_ticket_round_trips_and_verifies(of: Callable[[str], Ticket], tmp_path: Path, name: str) -> None:
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


def test_the_metric_follows_the_data_set(of: Callable[[str], Ticket]) -> None:
    assert [of(name).about.metric for name in ("arxiv", "proteins", "collab")] == ["accuracy", "ROC-AUC", "Hits@50"]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_documented_loader_gives_the_same_outputs(of: Callable[[str], Ticket], tmp_path: Path, name: str) -> None:
    assert_documented_program_agrees(of(name), tmp_path)


@pytest.mark.parametrize(
    ("name", "tensor", "values", "listed"),
    [
        ("proteins", "features.dense", np.zeros((149, 16), np.float32), r"features\.dense has shape \[149, 16\]"),
        ("proteins", "targets", np.full((150, 112), 2, np.uint8), "rows of 0 and 1"),
        ("proteins", "targets", np.zeros((150, 111), np.uint8), "111 targets for 112 outputs"),
        ("proteins", "edge_features", np.zeros((954, 8), np.float32), "it must have 955 rows"),
        ("collab", "links.test", np.array([[0], [120]]), "not in the graph"),
        ("collab", "links.test", np.zeros(4, int), "four lists of pairs"),
    ],
)
def test_tensors_of_wrong_shape_are_refused(
    of: Callable[[str], Ticket], tmp_path: Path, name: str, tensor: str, values: np.ndarray, listed: str
) -> None:
    with pytest.raises(DataError, match=listed):
        read_ticket(changed(written(of(name), tmp_path), **{tensor: values}))


def test_a_graph_beyond_memory_is_refused(of: Callable[[str], Ticket], monkeypatch: pytest.MonkeyPatch) -> None:
    of("proteins")
    monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    with pytest.raises(ConfigError, match=r"A ticket file on ogbn-proteins would have 173 kB, more than 100 kB"):
        of("proteins")


@pytest.mark.parametrize("name", ["arxiv", "proteins"])
def test_the_memory_estimate_is_near_the_tensor_size(of: Callable[[str], Ticket], name: str) -> None:
    ticket = of(name)
    held = sum(array.nbytes for tensor, array in arrays_of(ticket).items() if not tensor.startswith(OF_THE_NETWORK))
    assert module.tensor_bytes(ticket.graph) == pytest.approx(held, rel=0.1)
