"""Runs on different data under one name: ranked apart, said under every table, and never held against each other."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from analysis.cli.main import main
from analysis.compare import paired_table
from analysis.curves import accuracy_figure
from analysis.export import FigureChoices, draw, tickets_latex
from analysis.leaderboard import leader_table
from analysis.tables import caption, check_shared_data, curve_table, data_words, rounds_table, tickets_table
from app.views.compare import first_pair
from glt.errors import ConfigError
from glt.store import Run

MakeRun = Callable[..., Run]
ONE, OTHER = "a" * 64, "b" * 64
SCORES = [[0.80, 0.78], [0.81, 0.79], [0.82, 0.80]]
LOWER = [[0.70, 0.69], [0.71, 0.68], [0.72, 0.70]]


def on(run: Run, *contents: str) -> Run:
    """Record that the seeds of a run were computed on these contents."""
    for seed, content in zip(run.seeds(), contents, strict=True):
        run.seed(seed).write_environment({"data_hash": content})
    return run


@pytest.fixture
def mixed(make_scored: MakeRun) -> list[Run]:
    return [on(make_scored("ugs", SCORES), *[ONE] * 3), on(make_scored("random", LOWER), *[OTHER] * 3)]


def test_runs_on_one_graph_are_told_apart_by_nothing(make_scored: MakeRun) -> None:
    known, unknown = on(make_scored("ugs", SCORES), *[ONE] * 3), make_scored("random", LOWER)
    rounds = rounds_table([known, unknown])
    assert set(rounds["data"]) == {""}
    assert data_words(rounds) == ""
    check_shared_data(rounds, "This")
    assert len(paired_table(rounds, known.name, unknown.name)) == 2


def test_each_run_has_the_data_it_was_computed_on(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    assert dict(zip(rounds["run"], rounds["data"], strict=True)) == {mixed[0].name: "aaaaaaaa", mixed[1].name: "b" * 8}
    assert set(tickets_table(rounds)["data"]) == {"a" * 8, "b" * 8}


def test_data_sets_with_names_of_their_own_are_no_mixture(make_scored: MakeRun) -> None:
    one, other = make_scored("ugs", SCORES), make_scored("ugs", SCORES, dataset="citeseer")
    assert data_words(rounds_table([on(one, *[ONE] * 3), on(other, *[OTHER] * 3)])) == ""


def test_seeds_of_one_run_on_different_data_are_said(make_scored: MakeRun) -> None:
    run = on(make_scored("ugs", SCORES), ONE, OTHER, ONE)
    assert f"({run.name} on content aaaaaaaa, bbbbbbbb)" in data_words(rounds_table([run]))


def test_captions_say_it(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    told = "Cora is not the same data in all runs"
    assert told in caption(rounds)
    assert told in tickets_latex(tickets_table(rounds))
    assert told not in caption(rounds_table(mixed[:1]))


def test_one_figure_does_not_hold_them(mixed: list[Run]) -> None:
    rounds = rounds_table(mixed)
    refusal = f"One figure cannot hold .* Cora: {mixed[0].name} on content aaaaaaaa and {mixed[1].name} on content bbbb"
    with pytest.raises(ConfigError, match=refusal):
        accuracy_figure(curve_table(rounds), rounds)
    for name in ("accuracy", "pareto"):
        with pytest.raises(ConfigError, match=refusal):
            draw(name, mixed, FigureChoices())


def test_a_comparison_is_refused(mixed: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (run.name for run in mixed)
    with pytest.raises(ConfigError, match="A comparison cannot hold scores on different data"):
        paired_table(rounds_table(mixed), one, other)
    assert main(["compare", one, other, "--store", str(mixed[0].path.parent)]) != 0
    assert "choose runs on one of them" in capsys.readouterr().err


def test_each_data_has_a_leader(mixed: list[Run], make_scored: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    second = on(make_scored("admm", LOWER), *[ONE] * 3)
    table = leader_table(rounds_table([*mixed, second]))
    assert table["run"].tolist() == [mixed[0].name, second.name, mixed[1].name]
    assert table["verdict"].tolist() == ["reference", "lower", "reference"]
    assert first_pair(table) == [mixed[0].name, second.name]
    names, store = [run.name for run in mixed], str(second.path.parent)
    assert main(["leaders", *names, "--store", store]) == 0
    assert "data aaaaaaaa" in capsys.readouterr().out
    assert main(["leaders", *names, "--store", store, "--json"]) == 0
    assert {row["verdict"] for row in json.loads(capsys.readouterr().out)} == {"reference"}


def test_the_highest_pair_is_of_one_data(make_scored: MakeRun) -> None:
    alone = on(make_scored("ugs", SCORES), *[ONE] * 3)
    rivals = [on(make_scored(method, LOWER), *[OTHER] * 3) for method in ("random", "admm")]
    assert first_pair(leader_table(rounds_table([alone, *rivals]))) == [alone.name]
