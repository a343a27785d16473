from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.cli.main import main
from analysis.measures import explanation, explanations, measure_round
from glt.store import Run

Capture = pytest.CaptureFixture[str]


def test_every_number_has_a_definition_a_trap_and_a_cost(make_run: Callable[..., Run]) -> None:
    told = {each.name: each for each in explanations()}
    assert told.keys() == measure_round(make_run().seed(0), 1, slow=True).sparsified.keys()
    assert [each.name for each in told.values() if not (each.definition and each.reading and each.cost)] == []
    words = " ".join(each.definition + each.reading for each in told.values())
    assert "`" not in words
    assert "NaN" not in words


def test_what_covers_the_largest_component_only_says_so_in_its_label() -> None:
    only = [each for each in explanations() if "largest component" in each.definition.lower()]
    only = [each for each in only if each.name != "largest_component_share"]
    assert {each.name for each in only} >= {"bridge_share", "algebraic_connectivity", "mean_effective_resistance"}
    assert {each.name for each in only if "(largest component)" not in each.label} == set()


def test_a_measure_named_in_a_docstring_stands_there_by_its_label() -> None:
    assert "\N{LEFT DOUBLE QUOTATION MARK}Clustering, degree 2 and more" in explanation("average_clustering").reading


def test_the_command_explains_without_a_run(capsys: Capture) -> None:
    assert main(["measure", "--explain"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for each in explanations():
        assert (
            f"{each.label} ({each.name}) {each.definition} Reading it: {each.reading} {each.cost} {each.engine}" in said
        )
