"""Numbers on pages, and the diagnostics beside a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from analysis import published
from analysis.measures.tables import measurement_table
from analysis.tables.curves import curve_table
from analysis.tables.rounds import rounds_table
from app.views import curves, measurements, tickets
from app.views.curves import AT_CHANCE, CUTS
from glt.config import canonical_json
from glt.store import Run, paths
from glt.store.checksums import add_checksums


def test_the_numbers_of_a_curve_sort_as_numbers(make_run: Callable[..., Run]) -> None:
    table = curves.numbers(curve_table(rounds_table([make_run("ugs")])))
    assert table["Test accuracy"].tolist() == pytest.approx([80.1, 79.1, 78.1, 77.1])
    assert table["MACs"].tolist() == pytest.approx([2000, 1000, 666.67, 500], abs=0.01)
    assert table["Verdict"].tolist() == ["", "no verdict", "no verdict", "no verdict"]
    assert curves.OFF_START not in table
    noted = rounds_table([make_run("admm")]).assign(solver_edges_changed=[float("nan"), 4.0, 0.0, 2.0] * 2)
    assert curves.numbers(curve_table(noted))[curves.OFF_START].tolist()[1:] == [4.0, 0.0, 2.0]


def test_the_papers_value_stands_under_ours(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run("ugs", rounds=13)], 13)
    read = measurements.as_read(table, ["average_clustering"], published.measurements("cora"))
    assert read.columns.tolist() == ["Measure", "Original", "UGS"]
    assert read["Original"].tolist() == ["0.24067", ":gray[0.24067]"]
    assert read["UGS"][1] == ":gray[0.15855]"


def test_seeds_that_do_not_vary_give_no_verdict(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
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
def test_the_margin_decides_what_is_shown(
    named: str, make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs", ("done",) * 3, rounds=2)
    write_tests(run, [[0.80, 0.799, 0.779], [0.80, 0.7985, 0.78], [0.80, 0.7995, 0.781]])
    app = open_page("tickets")
    assert app.number_input(key="margin").value == 0.5
    assert ["Sparsest round shown to lose less than 0.5 points against dense" in each.value for each in app.info] == [
        True
    ]
    assert "ticket, round 1" in " ".join(badge.value for badge in app.markdown)
    assert "MACs saved" in {metric.label for metric in app.metric}
    # An address of before names it otherwise.
    app = open_page("tickets", **{named: "3"})
    assert app.number_input(key="margin").value == 3
    assert "ticket, round 2" in " ".join(badge.value for badge in app.markdown)
    assert app.query_params["margin"] == "3"
    assert "tolerance" not in app.query_params


def test_a_round_that_no_seeds_can_settle_is_open_and_saves_nothing(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs", ("done",) * 3, rounds=1)
    write_tests(run, [[0.80, 0.81], [0.80, 0.78], [0.80, 0.80]])
    app = open_page("tickets")
    assert "Open, undecided with these seeds: UGS round 1." in app.info[0].value
    assert "open; closest by validation: round 1" in " ".join(badge.value for badge in app.markdown)
    labels = {metric.label for metric in app.metric}
    assert "MACs removed" in labels
    assert "MACs saved" not in labels
    said = " ".join(caption.value for caption in app.caption)
    assert "Open with 3 seeds: needs about" in said
    assert "3 seeds detect a distance of" in said


def test_a_paired_difference_shows_its_interval() -> None:
    row = {"difference": -0.004, "difference_low": -0.011, "difference_high": 0.003}
    assert tickets.difference(row) == "\N{MINUS SIGN}0.4 points (\N{MINUS SIGN}1.1 to +0.3)"
    alone = {"difference": 0.0, "difference_low": float("nan"), "difference_high": float("nan")}
    assert tickets.difference(alone) == "0.0 points"


UGS = "cora-node-gcn-ugs-df8e8f72"
OpenPage = Callable[..., AppTest]


def test_curves_list_cuts_without_a_gradient(open_page: OpenPage) -> None:
    app = open_page("curves", runs=UGS)
    assert not app.exception
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


def test_runs_say_where_a_search_was_at_chance(open_page: OpenPage) -> None:
    app = open_page("runs", run=UGS, training_round="13")
    assert not app.exception
    told = [each.value for each in app.caption]
    assert any(
        "validation is at chance from epoch 171 or earlier to the end; masks were read before, at epoch 15" in t
        for t in told
    )
