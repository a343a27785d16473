"""A ticket file is computed again and held to every number it states, and to what its settings allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.config import make_config
from glt.masks import EdgeMask, Masks
from glt.store import SeedRun, run_name
from glt.ticket_file.ticket import Ticket, make_ticket
from glt.ticket_file.verify import contradictions, unchecked
from tests.ticket_file.conftest import Arrays, changed, checked


def test_a_check_computes_the_network_again(trained: SeedRun, path: Path) -> None:
    report = checked(path)
    assert report.passed
    assert report.max_output_difference <= 1e-6
    record = trained.rounds()[1]
    assert report.recorded_test == record.test
    assert report.test == pytest.approx(record.test, abs=0.002)
    masks = trained.masks(1)
    assert (report.entries_kept, report.weights_kept) == (masks.edges.kept, masks.weights.kept)


def test_other_outputs_fail_the_check(ticket: Ticket, path: Path) -> None:
    report = checked(changed(path, outputs=ticket.outputs + np.float32(0.01)))
    assert not report.passed
    assert report.max_output_difference == pytest.approx(0.01, rel=1e-3)
    assert not checked(changed(path, outputs=np.full_like(ticket.outputs, np.nan))).passed


def test_outputs_that_are_no_numbers_are_counted(ticket: Ticket, path: Path) -> None:
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
def test_a_number_that_is_not_found_fails_the_check(path: Path, name: str) -> None:
    report = checked(changed(path, states(**{name: 0.999})))
    assert report.outputs_agree
    assert (report.passed, report.differs) == (False, [name])


def test_macs_that_are_not_found_fail_the_check(path: Path) -> None:
    report = checked(changed(path, lambda document: document["record"]["macs"].update(published=5)))
    assert (report.passed, report.differs) == (False, ["macs.published"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("test_last", 1.01), ("best_epoch", -1), ("best_epoch", 15), ("seconds", -0.1), ("search_seconds", -5)],
)
def test_a_number_that_no_run_has_fails_the_check(path: Path, name: str, value: float) -> None:
    report = checked(changed(path, states(**{name: value})))
    assert (report.passed, report.impossible) == (False, [name])


def test_what_leaves_no_trace_is_taken_as_stated(path: Path) -> None:
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
    (lambda about: about.update(seed=-3), "The seed is -3; seeds are 0 to 999999999."),
    (lambda about: about["record"].update(round=2), "The round is 2; the settings end at round 1."),
    (lambda about: about["record"].update(round=0), "After round 0 at p_graph 0.4, 10,556 edge entries are left"),
    (lambda about: about["config"].update(p_graph=0.9), "After round 1 at p_graph 0.9, 1,056 edge entries are left"),
    (lambda about: about["config"].update(p_weight=0.9), "After round 1 at p_weight 0.9, 2,"),
    (lambda about: about.update(metric="auc"), "The metric is auc; that of node classification is accuracy."),
    (
        lambda about: about["data"].update(hash="0" * 64),
        "The stated hash of cora is not that of the graph in the file.",
    ),
    (lambda about: about["data"].update(hash=None), "The stated hash of cora is not that of cora here."),
    (lambda about: about["config"].update(dataset="pubmed"), "The data set is cora; the settings say pubmed."),
    (
        lambda about: about.update(run="../../x"),
        "The run is named ../../x; its settings are those of cora-node-gcn-ugs-",
    ),
    *(
        (lambda about, change=change: about["config"].update(change), "The run is named cora-node-gcn-ugs-")
        for change in ({"method": "random"}, {"dropout": 0.1}, {"epochs": 4})
    ),
    (is_of("citeseer"), "The names of the data set, its classes or its nodes are not those of cora here."),
    (is_of("their-own"), "The names of the data set, its classes or its nodes are not those of cora here."),
    (
        lambda about: about.update(class_names=about["class_names"][::-1]),
        "The names of the data set, its classes or its nodes are not those of cora here.",
    ),
    (
        lambda about: about.update(node_ids=about["node_ids"][::-1]),
        "The names of the data set, its classes or its nodes are not those of cora here.",
    ),
    (
        lambda about: about.update(node_ids=None),
        "The names of the data set, its classes or its nodes are not those of cora here.",
    ),
    (lambda about: about["data"].update(raw_rows=7), "The stated counts of rows are not those of cora."),
]


@pytest.mark.parametrize(("change", "sentence"), CONTRADICTIONS)
def test_a_contradiction_fails_the_check(path: Path, change: Callable[[Arrays], None], sentence: str) -> None:
    report = checked(changed(path, change))
    assert not report.passed
    assert any(told.startswith(sentence) for told in report.contradictions)


def test_the_run_of_an_unknown_method_cannot_be_verified(path: Path) -> None:
    report = checked(changed(path, lambda about: about["config"].update(method="theirs")))
    assert report.contradictions == ()
    assert {"run", "config.method", "config.p_graph"} < {*report.unchecked}


def test_the_graph_of_a_link_file_is_the_training_part_of_its_data_set(
    draw: Callable[..., SeedRun], tmp_path: Path
) -> None:
    ticket = make_ticket(draw(**LINK), 1)
    assert contradictions(ticket) == ()
    other = replace(ticket, graph=make_ticket(draw(**LINK, split_seed=1), 1).graph)
    assert contradictions(other) == ("The graph in the file is not that of cora.",)


def test_all_that_is_not_checked_is_named(ticket: Ticket, path: Path) -> None:
    """Whatever else is stated is told too: nothing is left out because a list does not know it."""
    told = unchecked(ticket.about)
    assert {"seed", "config.dropout", "config.epochs", "config.method", "data.source", "written_by.glt-studio"} < {
        *told
    }
    assert not {"config.hidden", "config.p_graph", "class_names", "node_ids", "data.hash", "data.raw_rows"} & {*told}

    def change(document: Arrays) -> None:
        document["environment"] = {"versions": {"torch": "9"}, "anything\n": 1, "data_hash": document["data"]["hash"]}

    said = checked(changed(path, change)).unchecked
    assert {*said} - {*told} == {"environment.versions", "environment.anything", "environment.data_hash"}


def test_names_are_only_stated_where_the_data_set_is_not_here(ticket: Ticket) -> None:
    data = ticket.about.data.model_copy(update={"hash": "0" * 64, "name": "their-own"})
    told = {*unchecked(ticket.about.model_copy(update={"data": data}))}
    assert {"class_names", "node_ids", "data.name", "data.raw_rows"} < told


def test_edges_that_went_whole_are_no_contradiction(ticket: Ticket) -> None:
    """Of 5,278 edges floor(0.4 * 5,278) = 2,111 go, of 10,556 entries 4,222 and not an odd number such as 4,223."""
    listed = ticket.graph.num_edges
    for gone, told in ((2111, 0), (2112, 1)):
        keep = np.tile(np.arange(listed) >= gone, 2)
        masks = Masks(EdgeMask("directed", keep), ticket.masks.weights)
        assert len(contradictions(replace(ticket, masks=masks))) == told
