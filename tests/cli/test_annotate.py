"""`annotate`, and what `list` and `show` tell of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from glt.cli.main import main
from glt.config import RunConfig
from glt.formats import file_size
from glt.store import Run, Store, bundled_examples, paths


@pytest.fixture
def run(store: Store) -> Run:
    return store.create(RunConfig(hidden=16, rounds=1))


def test_a_title_and_a_note_are_listed_and_shown(store: Store, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", run.name, "--title", "[bold]mine[/]", "--note", "try p = 10 %\nagain"]) == 0
    assert "[bold]mine[/]" in capsys.readouterr().out
    for verb in (["list"], ["show", run.name]):
        assert main(verb) == 0
        out = capsys.readouterr().out
        assert run.name in out.replace("\n", "") or run.name[:20] in out
        assert "[bold]mine[/]" in out
        assert "again" in out


def test_json_lists_every_run_and_says_what_is_said(store: Store, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    other = store.create(RunConfig(hidden=8, rounds=1))
    assert main(["annotate", run.name, "--hide", "--color", "sky", "--json"]) == 0
    said = {"color": "sky", "hidden": True}
    assert json.loads(capsys.readouterr().out) == {"run": run.name, "annotation": said}
    assert main(["list", "--json"]) == 0
    entries = {entry["run"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert entries[run.name]["annotation"] == said
    assert "annotation" not in entries[other.name]
    assert main(["show", run.name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["annotation"] == said


def test_a_hidden_run_is_counted_and_listed_on_request(
    store: Store, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", run.name, "--hide"]) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert run.name[-8:] not in out
    assert "1 run (1 hidden: --all lists them)" in out.replace("\n", " ")
    assert main(["list", "--all"]) == 0
    assert run.name[-8:] in capsys.readouterr().out
    assert main(["annotate", run.name, "--show"]) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    assert run.name[-8:] in capsys.readouterr().out


def test_all_is_taken_back_at_once_and_nothing_asked_shows(
    store: Store, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", run.name, "--title", "mine", "--color", "blue"]) == 0
    assert main(["annotate", run.name, "--color", "none"]) == 0
    assert store.annotations().of(run.name).said() == {"title": "mine"}
    capsys.readouterr()
    assert main(["annotate", run.name]) == 0
    assert "mine" in capsys.readouterr().out
    assert main(["annotate", run.name, "--clear"]) == 0
    assert store.annotations().entries == {}


def test_an_example_is_annotated_by_its_path(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    example = bundled_examples()[0]
    assert main(["annotate", str(example.path), "--title", "of the paper"]) == 0
    assert store.annotations().of(f"examples/{example.name}").title == "of the paper"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--title", "x" * 61], 2, "60 is the most"),
        (["--clear", "--hide"], 2, "give it alone"),
    ],
)
def test_what_cannot_be_said_is_one_line(
    run: Run, arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", run.name, *arguments]) == code
    assert told in capsys.readouterr().err


def test_a_damaged_file_is_named_and_runs_are_listed(
    store: Store, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    (store.root / paths.ANNOTATIONS).write_text("[]")
    assert main(["list"]) == 0
    captured = capsys.readouterr()
    assert "annotations.json is damaged" in captured.err
    assert run.name[-8:] in captured.out


@pytest.mark.parametrize("width", [50, 60, 80, 100, 200])
def test_no_number_of_the_list_is_cut_on_a_narrow_terminal(
    width: int,
    store: Store,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    draw_seed: Callable[..., None],
) -> None:
    for seed in range(1, 6):
        draw_seed(run.seed(seed), rounds=1)
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("\N{BOX DRAWINGS LIGHT VERTICAL}")]
    columns = list(
        zip(*([cell.strip() for cell in line.split("\N{BOX DRAWINGS LIGHT VERTICAL}")] for line in table), strict=True)
    )
    _, names, rounds, seeds, sizes, _ = columns
    assert "".join(names) == run.name
    assert "".join(rounds) == str(run.config.rounds)
    assert "".join(sizes) == file_size(run.size_bytes())
    assert [word for word in " ".join(seeds).replace(",", "").split() if word.isdecimal()] == list("12345")
