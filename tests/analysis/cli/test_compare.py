"""`compare` and `leaders`: their JSON, their tables, and what they refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from analysis.cli.main import main
from glt.store import Run, Store

MakeScored = Callable[..., Run]


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
    told = (
        "against Random pruning (hidden = 512): significantly higher in every pruned round. Paired t tests of 3 seeds"
    )
    assert told in " ".join(out.split())
    assert "512 (default)" in out


def test_compare_with_too_few_seeds_says_so(
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
    ("arguments", "code", "told"),
    [
        (["compare", "{0}", "{0}"], 2, "name two"),
        (["leaders", "{0}", "--by", "hiden"], 2, "did you mean 'hidden'"),
        (["compare", "{0}", "nobody"], 1, "No run 'nobody'"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    runs: tuple[Run, Run],
    store: Store,
    arguments: list[str],
    code: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [argument.format(runs[0].name) for argument in arguments]
    assert main([*filled, "--store", str(store.root)]) == code
    assert told in capsys.readouterr().err


def test_leaders_break_no_word_in_eighty_columns(
    runs: tuple[Run, Run], store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    store.annotate(runs[0].name, {"title": "Convolutional network of sixty-four channels"})
    assert main(["leaders", *(run.name for run in runs), "--store", str(store.root)]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert {"Convolutional", "network", "sixty-four", "channels", "highest"} <= set(said.split())
    assert "A wider terminal also shows rounds" in " ".join(said.split())
