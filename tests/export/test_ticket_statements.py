"""A ticket file is computed again and held to every number it states, and to what its settings allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glt.config import make_config
from glt.export.contradictions import contradictions
from glt.export.ticket import Ticket
from glt.export.unchecked import unchecked
from glt.masks import EdgeMask, Masks
from glt.store import SeedRun, run_name
from tests.export.changed_files import Arrays, changed, checked


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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda document: document.update(seed=-3), "Its seed is -3"),
        (lambda document: document["record"].update(round=2), "It is of round 2, and its settings end at round 1."),
        (lambda document: document["record"].update(round=0), "At round 0 p_graph 0.4 leaves 10,556 edge entries"),
        (lambda document: document["config"].update(p_graph=0.9), "At round 1 p_graph 0.9 leaves 1,056 edge entries"),
        (lambda document: document["config"].update(p_weight=0.9), "At round 1 p_weight 0.9 leaves"),
        (lambda document: document.update(metric="auc"), "Its metric is auc"),
        (
            lambda document: document["data"].update(hash="0" * 64),
            "The hash it states of cora is not that of the graph",
        ),
        (lambda document: document["data"].update(hash=None), "The hash it states of cora is not that of cora here."),
        (
            lambda document: document["config"].update(dataset="pubmed"),
            "Its graph is of cora, its settings say pubmed.",
        ),
        (lambda document: document.update(run="../../x"), "It says its run is ../../x, and its settings are those of"),
        (lambda document: document["config"].update(method="random"), "It says its run is cora-node-gcn-ugs-"),
        (lambda document: document["config"].update(dropout=0.1), "It says its run is cora-node-gcn-ugs-"),
        (lambda document: document["config"].update(epochs=4), "It says its run is cora-node-gcn-ugs-"),
        (lambda document: document["config"].update(method="theirs"), "It says its run is cora-node-gcn-ugs-"),
        (is_of("citeseer"), "The hash it states of citeseer is that of cora here."),
        (is_of("citeseer"), "Its graph has 2,708 nodes, and citeseer has 3,327."),
        (is_of("their-own"), "The hash it states of their-own is that of cora here."),
        (
            lambda document: document.update(class_names=document["class_names"][::-1]),
            "The names it gives to classes are not those of cora here.",
        ),
        (
            lambda document: document.update(node_ids=document["node_ids"][::-1]),
            "The names it gives to nodes are not those of cora here.",
        ),
        (lambda document: document.update(node_ids=None), "The names it gives to nodes are not those of cora here."),
        (
            lambda document: document["data"].update(raw_rows=7),
            "It states 7 rows as published of cora, and cora here had 5,429.",
        ),
        (
            lambda document: document.update(environment={"data_hash": "0" * 64}),
            "The hash it states of cora is not that of the data it was computed on.",
        ),
        (
            lambda document: document["record"].update(best_epoch=14, test_last=0.01),
            "Its best epoch is the last one, but it states two test scores for it.",
        ),
    ],
)
def test_what_cannot_all_be_true_fails_the_check(path: Path, change: Callable[[Arrays], None], sentence: str) -> None:
    report = checked(changed(path, change))
    assert not report.passed
    assert any(told.startswith(sentence) for told in report.contradictions)


def test_a_run_of_a_method_that_is_not_here_is_named_after_its_settings(path: Path) -> None:
    def change(document: Arrays) -> None:
        document["config"]["method"] = "theirs"
        document["run"] = "cora-node-gcn-theirs-01234567"

    assert checked(changed(path, change)).contradictions == ()


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
    assert {*said} - {*told} == {"environment.versions", "environment.anything"}


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
