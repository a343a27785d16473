"""Differences of two runs, paired by seed, against scipy and by hand; different settings; `compare` and `leaders`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy import optimize, stats

from analysis import palette
from analysis.cli.main import main
from analysis.compare import At, environment_differences, paired_seeds, paired_table, setting_differences, shared_seeds
from analysis.drawing import screen
from analysis.figures.seed_pairs import Side, paired_differences
from analysis.leaderboard import few_seeds_words, paired_words
from analysis.tables.rounds import rounds_table
from glt.config import RunConfig
from glt.errors import ConfigError
from glt.store import Run, Store
from tests.analysis.conftest import write_scores

MakeScored = Callable[..., Run]


def test_differences_intervals_and_p_values_equal_scipy(make_scored: MakeScored) -> None:
    generator = np.random.default_rng(1)
    one, other = generator.normal(0.8, 0.02, (4, 3)), generator.normal(0.79, 0.02, (4, 3))
    runs = make_scored("ugs", one.tolist()), make_scored("random", other.tolist())
    table = paired_table(rounds_table(runs), runs[0].name, runs[1].name)
    gaps = one - other
    assert table["round"].tolist() == [0, 1, 2]
    assert table["difference"].tolist() == pytest.approx(gaps.mean(axis=0))
    for number in range(3):
        gap = gaps[:, number]
        low, high = stats.t.interval(0.95, 3, loc=gap.mean(), scale=stats.sem(gap))
        assert (table["low"][number], table["high"][number]) == pytest.approx((low, high))
        assert table["p_value"][number] == pytest.approx(stats.ttest_rel(one[:, number], other[:, number]).pvalue)
    p = sorted(stats.ttest_rel(one[:, k], other[:, k]).pvalue for k in range(3))
    by_hand = np.maximum.accumulate([min(1.0, factor * each) for factor, each in zip((3, 2, 1), p, strict=True)])
    assert sorted(table["p_adjusted"]) == pytest.approx(by_hand)
    assert (table["verdict"] != "none").tolist() == (table["p_adjusted"] <= 0.05).tolist()
    assert table["family"].tolist() == [3, 3, 3]


def test_pairing_removes_the_effect_of_the_seed(make_scored: MakeScored) -> None:
    # Seeds lie ten points apart, yet each time the first is one point higher, give or take a tenth.
    one = make_scored("ugs", [[0.80, 0.711], [0.90, 0.810], [0.70, 0.609]])
    other = make_scored("random", [[0.80, 0.70], [0.90, 0.80], [0.70, 0.60]])
    table = paired_table(rounds_table([one, other]), one.name, other.name)
    assert table["difference"][1] == pytest.approx(0.01)
    assert table["verdict"].tolist() == ["no test", "higher"]
    assert paired_words(table, "A", "B") == (
        "A against B: significantly higher in every pruned round. Paired t tests of 3 seeds at 5 %, Holm over 1 round."
    )
    swapped = paired_table(rounds_table([one, other]), other.name, one.name)
    assert swapped["verdict"].tolist() == ["no test", "lower"]
    assert swapped["low"][1] == pytest.approx(-table["high"][1])


def test_only_shared_seeds_and_rounds_are_paired(make_scored: MakeScored) -> None:
    one, other = make_scored("ugs", [[0.8, 0.7, 0.6], [0.8, 0.7]]), make_scored("random", [[0.8, 0.6]])
    write_scores(other.seed(5), [0.9, 0.9])
    rounds = rounds_table([one, other])
    assert shared_seeds(rounds, one.name, other.name) == [0]
    pairs = paired_seeds(rounds, one.name, other.name)
    assert pairs[["round", "seed"]].to_numpy().tolist() == [[0, 0], [1, 0]]
    table = paired_table(rounds, one.name, other.name)
    assert table["seeds"].tolist() == [1, 1]
    assert table[["low", "high", "p_value"]].isna().all(axis=None)


def test_holm_correction_over_twenty_rounds(make_scored: MakeScored) -> None:
    """A t of 2.9 with four degrees of freedom is p = .044 alone; Holm over twenty rounds leaves no difference."""
    gaps = np.array([0.001, 0.004, 0.004, 0.008, 0.010])
    noise = np.random.default_rng(3).normal(0, 0.01, (5, 20))
    noise[:, 0] = gaps - 0.0005
    one = make_scored("ugs", [[0.8, *(0.7 + row)] for row in noise])
    other = make_scored("random", [[0.8, *[0.7] * 20]] * 5)
    table = paired_table(rounds_table([one, other]), one.name, other.name)
    assert table["p_value"][1] < 0.05
    assert set(table["verdict"][1:]) == {"none"}
    assert table["family"][1] == 20
    words = paired_words(table, "A", "B")
    assert "no significant difference in any pruned round" in words
    assert "Holm over 20 rounds; where there is none, a difference of " in words


def test_two_seeds_are_tested_and_have_no_interval(make_scored: MakeScored) -> None:
    one, other = make_scored("ugs", [[0.8, 0.7], [0.8, 0.72]]), make_scored("random", [[0.8, 0.5], [0.8, 0.5]])
    table = paired_table(rounds_table([one, other]), one.name, other.name)
    assert table["difference"][1] == pytest.approx(0.21)
    assert table[["low", "high"]].isna().all(axis=None)
    assert table["p_value"][1] == pytest.approx(stats.ttest_1samp([0.2, 0.22], 0).pvalue)
    assert "below three seeds there is no interval" in few_seeds_words([0, 1])
    assert "share no seed" in few_seeds_words([])


def test_at_equal_sparsity_the_other_run_is_interpolated(make_scored: MakeScored) -> None:
    # After two rounds at 5 % as much is gone as after one at 9.75 %.
    fine = make_scored("ugs", [[0.80, 0.78, 0.76, 0.74]], p_graph=0.05)
    coarse = make_scored("ugs", [[0.80, 0.70]], p_graph=0.0975)
    rounds = rounds_table([fine, coarse])
    table = paired_table(rounds, fine.name, coarse.name, at="graph")
    assert table["round"].tolist() == [0, 1, 2]
    between = 0.80 - 0.10 * 0.05 / 0.0975
    assert table["other"].tolist() == pytest.approx([0.80, between, 0.70])
    assert table["difference"].tolist() == pytest.approx([0.0, 0.78 - between, 0.06])


def test_scores_of_different_metrics_have_no_difference(make_scored: MakeScored) -> None:
    one, other = make_scored("ugs", [[0.8, 0.7]]), make_scored("ugs", [[0.8, 0.7]], task="link")
    with pytest.raises(ConfigError, match="node classification and link prediction"):
        paired_table(rounds_table([one, other]), one.name, other.name)


def test_sentences_follow_the_significance(make_scored: MakeScored) -> None:
    one = make_scored("ugs", [[0.8, 0.71, 0.6], [0.8, 0.70, 0.6], [0.8, 0.69, 0.6]])
    other = make_scored("random", [[0.8, 0.70, 0.6], [0.8, 0.71, 0.6], [0.8, 0.66, 0.6]])
    table = paired_table(rounds_table([one, other]), one.name, other.name)
    words = paired_words(table, "A", "B")
    assert words.startswith(
        "A against B: no significant difference in k = 1; no test in k = 2. Paired t tests of 3 seeds"
    )
    # Differences of 1, -1 and 3 points: the noncentral t with two degrees of freedom reaches 80 % power there.
    bound, scale = stats.t.ppf(0.975, 2), 0.02 / np.sqrt(3)
    size = optimize.brentq(lambda effect: stats.nct.sf(bound, 2, effect / scale) - 0.8, 0.001, 0.5)
    assert table["detectable"][1] == pytest.approx(size, rel=1e-4)
    assert f"a difference of {100 * size:.1f} points would have been shown with 80 % power" in words
    same = paired_table(rounds_table([one]), one.name, one.name)
    assert paired_words(same, "A", "A") == (
        "A against A: no test in any pruned round. A test needs two shared seeds whose differences vary."
    )


MakeRun = Callable[..., Run]


def test_different_settings_mark_the_default() -> None:
    one = RunConfig(hidden=64, rounds=5, options={"masks_from": "last"})
    found = setting_differences(one, RunConfig(p_graph=0.1))
    rows = {row.setting: row.words() for row in found.rows}
    assert rows == {
        "hidden": ("64", "512 (default)"),
        "p_graph": ("5 % (default)", "10 %"),
        "masks_from": ("last", "best_validation (default)"),
        "rounds": ("5", "20 (default)"),
    }
    assert (found.only_one, found.only_other) == ({}, {})


def test_settings_used_by_one_method_only() -> None:
    found = setting_differences(RunConfig(gamma_graph=0.5), RunConfig(method="random"))
    assert [row.setting for row in found.rows] == ["method"]
    assert found.only_one["gamma_graph"] == 0.5
    assert found.only_other == {}
    assert "p_graph" not in found.only_one


def test_environments_are_compared_over_all_seeds(make_run: MakeRun) -> None:
    one, other = make_run("ugs", seeds=(0, 1)), make_run("random")
    versions = {"python": "3.11.7", "torch": "2.13.0"}
    for seed in (0, 1):
        one.seed(seed).write_environment({"versions": versions, "threads": 1, "data_hash": "a" * 64})
    later = {"resumed_with": [{"torch": "2.14.0", "python": "3.11.7"}], "data_hash": "b" * 64}
    other.seed(0).write_environment({"versions": versions, "threads": 2, "device": "cpu", **later})
    found = {each.what: (each.one, each.other) for each in environment_differences(one, other)}
    assert found == {
        "torch": (("2.13.0",), ("2.13.0", "2.14.0")),
        "threads": (("1",), ("2",)),
        "device": ((), ("cpu",)),
        "data (hash)": (("aaaaaaaa",), ("bbbbbbbb",)),
    }


def draw(one: Run, other: Run, label: str = "A", at: At = "round") -> go.Figure:
    pairs = (rounds_table([one, other]), one.name, other.name, "test", at)
    sides = [Side(run.name, label, palette.style(run.config.method)) for run in (one, other)]
    return screen.draw(paired_differences(paired_table(*pairs), paired_seeds(*pairs), *sides, at=at))


@pytest.fixture
def one(make_scored: MakeScored) -> Run:
    return make_scored("ugs", [[0.8, 0.711, 0.6], [0.8, 0.710, 0.62], [0.8, 0.709, 0.58]])


@pytest.fixture
def other(make_scored: MakeScored) -> Run:
    return make_scored("random", [[0.8, 0.70, 0.6]] * 3)


def test_significant_differences_are_marked(one: Run, other: Run) -> None:
    figure = draw(one, other)
    marks = {trace.marker.symbol: trace for trace in figure.data if trace.mode == "markers" and trace.customdata}
    assert set(marks) == {"triangle-up", "circle-open"}
    assert marks["triangle-up"].y.tolist() == pytest.approx([1.0])
    assert list(marks["triangle-up"].customdata[0]) == [one.name, 1]
    assert marks["triangle-up"].marker.color == palette.color("ugs")
    (band,) = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(band.x) == 6
    assert [shape.y0 for shape in figure.layout.shapes] == [0]


def test_two_seeds_have_no_band(make_scored: MakeScored) -> None:
    figure = draw(make_scored("ugs", [[0.8, 0.7], [0.8, 0.6]]), make_scored("random", [[0.8, 0.7], [0.8, 0.7]]))
    assert not [trace for trace in figure.data if trace.fill == "toself"]
    texts = [text for trace in figure.data if trace.hovertext for text in trace.hovertext]
    assert all("too few for an interval" in text for text in texts)
    low, high = figure.layout.yaxis.range
    assert -13 < low < -10
    assert 0 < high < 3


def test_wide_intervals_are_clipped_but_seeds_are_not(make_scored: MakeScored) -> None:
    figure = draw(make_scored("ugs", [[0.8, 0.9], [0.8, 0.5], [0.8, 0.7]]), make_scored("random", [[0.8, 0.7]] * 3))
    low, high = figure.layout.yaxis.range
    assert -32 < low < -25
    assert 25 < high < 32


def test_a_title_is_never_read_as_html(one: Run, other: Run) -> None:
    figure = draw(one, other, '<img src=x onerror="1">')
    words = [note.text for note in figure.layout.annotations] + [trace.name or "" for trace in figure.data]
    words += [text for trace in figure.data if trace.hovertext for text in trace.hovertext]
    assert not [text for text in words if "<img" in text]
    assert [text for text in words if "&lt;img" in text]


def test_marks_over_sparsity_use_the_first_runs_sparsity(one: Run, other: Run) -> None:
    figure = draw(one, other, at="graph")
    marks = [trace for trace in figure.data if trace.mode == "markers" and trace.customdata]
    places = sorted(place for trace in marks for place in trace.x)
    assert places == pytest.approx([0, 5, 9.75])


@pytest.fixture
def runs(make_scored: MakeScored) -> tuple[Run, Run]:
    one = make_scored("ugs", [[0.80, 0.711], [0.90, 0.810], [0.70, 0.609]], hidden=64)
    return one, make_scored("random", [[0.80, 0.70], [0.90, 0.80], [0.70, 0.60]])


def answer(arguments: list[str], store: Store, capsys: pytest.CaptureFixture[str]) -> object:
    assert main([*arguments, "--store", str(store.root), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_compare_gives_settings_and_paired_differences(
    runs: tuple[Run, Run], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(["compare", *(run.name for run in runs)], store, capsys)
    assert isinstance(found, dict)
    assert [row["setting"] for row in found["settings"]] == ["method", "hidden"]
    assert found["only_one"]["gamma_graph"] == 0.01
    assert found["shared_seeds"] == [0, 1, 2]
    dense, pruned = found["paired"]
    assert (dense["difference"], dense["p_value"], dense["verdict"]) == (0, None, "no test")
    assert pruned["difference"] == pytest.approx(0.01)
    assert (pruned["round"], pruned["seeds"], pruned["verdict"]) == (1, 3, "higher")


def test_compare_prints_tables_and_a_sentence(
    runs: tuple[Run, Run], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *(run.name for run in runs), "--store", str(store.root)]) == 0
    out = capsys.readouterr().out
    assert "+1.0 ± 0.2 " in out
    printed = (
        "against Random pruning (hidden = 512): significantly higher in every pruned round. Paired t tests of 3 seeds"
    )
    assert printed in " ".join(out.split())
    assert "512 (default)" in out


def test_compare_reports_too_few_seeds(
    make_scored: MakeScored, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [make_scored(method, [[0.8, 0.7], [0.8, 0.6]]).name for method in ("ugs", "random")]
    assert main(["compare", *names, "--store", str(store.root)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "share only seeds 0, 1" in out
    assert "±" not in out


def test_leaders_by_run_and_by_setting(runs: tuple[Run, Run], store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    names = [run.name for run in runs]
    rows = answer(["leaders", *names], store, capsys)
    assert isinstance(rows, list)
    assert [(row["method"], row["verdict"], row["best_round"]) for row in rows] == [
        ("ugs", "reference", 1),
        ("random", "lower", 1),
    ]
    grouped = answer(["leaders", *names, "--by", "hidden"], store, capsys)
    assert isinstance(grouped, list)
    assert [(row["label"], row["runs"]) for row in grouped] == [("hidden = 64", 1), ("hidden = 512", 1)]
    assert main(["leaders", *names, "--store", str(store.root)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"\breference *$", out, re.MULTILINE)
    assert "significantly" in out


@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["compare", "{0}", "{0}"], 2, "name two"),
        (["leaders", "{0}", "--by", "hiden"], 2, "did you mean 'hidden'"),
        (["compare", "{0}", "nobody"], 1, "No run 'nobody'"),
    ],
)
def test_incomparable_runs_are_one_line(
    runs: tuple[Run, Run],
    store: Store,
    arguments: list[str],
    code: int,
    printed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [argument.format(runs[0].name) for argument in arguments]
    assert main([*filled, "--store", str(store.root)]) == code
    assert printed in capsys.readouterr().err


def test_leaders_fit_eighty_columns(
    runs: tuple[Run, Run], store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store.annotate(runs[0].name, {"title": "Convolutional network of sixty-four channels"})
    assert main(["leaders", *(run.name for run in runs), "--store", str(store.root)]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert {"Convolutional", "network", "sixty-four", "channels", "highest"} <= set(printed.split())
    assert "A wider terminal also shows rounds" in " ".join(printed.split())
