"""Reproduction bundles: contents, commands, equal bytes, and sources of runs."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pandas as pd
import pytest

from analysis.bundle import bundle_bytes
from analysis.cli.main import main
from analysis.commands import compute_command, lost_sources, steps_for
from analysis.figures.base import FIGURES, FigureChoices
from analysis.tables.rounds import rounds_table
from glt.cli.run import pretrain, pretrain_settings
from glt.errors import StoreError
from glt.pretraining.config import resolve_pretraining
from glt.store import Pretraining, Run, Store, bundled_examples, run_name

CHOICES = FigureChoices(columns=2, x="all", round=1, margin=0.005)


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> Sequence[Run]:
    return [make_run("ugs", seeds=(0, 1)), make_run("random", seeds=(0, 1))]


@pytest.fixture(scope="module")
def made() -> list[bytes]:
    return []


@pytest.fixture
def content(runs: Sequence[Run], made: list[bytes]) -> bytes:
    """The bundle of `runs`, made once: it does not depend on the store."""
    if not made:
        made.append(bundle_bytes(runs, CHOICES))
    return made[0]


@pytest.fixture
def files(content: bytes) -> dict[str, bytes]:
    return opened(content)


def opened(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_command_line_gives_the_same_bytes(runs: Sequence[Run], content: bytes, tmp_path: Path) -> None:
    out = tmp_path / "b.zip"
    chosen = ["--columns", "2", "--x", "all", "--round", "1", "--margin", "0.5"]
    assert main(["bundle", *(str(run.path) for run in runs), *chosen, "--out", str(out)]) == 0
    assert out.read_bytes() == content


def test_files_named_in_the_readme_exist(files: dict[str, bytes]) -> None:
    readme = files["README.md"].decode()
    for path in files:
        if path.startswith(("figures/", "tables/")):
            assert f"`{path}`" in readme
    assert {"figures/accuracy.pdf", "figures/subgraphs.svg", "tables/tickets.tex", "data/measurements.csv"} <= set(
        files
    )
    assert "figure ablation: " in readme
    assert "figure scores: " in readme
    shown = {path.split("-", 1)[1] for path in files if path.startswith("data/figure-") and path.endswith(".json")}
    assert {f"{name}.json" for name in ("accuracy", "pareto", "trend", "degrees", "losers", "pairs")} <= shown
    assert files["figures/accuracy.pdf"].startswith(b"%PDF")


def test_one_failed_figure_leaves_the_others(runs: Sequence[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise ValueError("Axis limits cannot be\nNaN")

    monkeypatch.setitem(FIGURES._entries, "losers", replace(FIGURES.get("losers"), describe=fail))
    files = opened(bundle_bytes(runs, CHOICES))
    printed = "- figure losers: it could not be made (ValueError: Axis limits cannot be NaN)."
    assert printed in files["README.md"].decode()
    assert "figures/accuracy.pdf" in files
    assert "figures/losers.pdf" not in files


def test_omitted_parts_are_named(runs: Sequence[Run]) -> None:
    readme = opened(bundle_bytes(runs, FigureChoices()))["README.md"].decode()
    assert "A part of Cora and what " in readme
    assert "leave of it: seed 0, round 2." in readme
    assert "None" not in readme
    assert "--round 2 --seed 0" in readme


def test_numbers_and_settings_are_those_of_the_runs(runs: Sequence[Run], files: dict[str, bytes]) -> None:
    table = pd.read_csv(io.BytesIO(files["data/rounds.csv"]))
    assert table["test"].tolist() == rounds_table(runs)["test"].tolist()
    for run in runs:
        document = json.loads(files[f"runs-settings/{run.name}/config.json"])
        assert document["config"] == run.config.model_dump(mode="json")


def test_commands_of_a_bundle_parse(
    runs: Sequence[Run], files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [shlex.split(line) for line in files["commands.sh"].decode().splitlines() if line.startswith("glt ")]
    drawn = [line for line in lines if line[1] in ("figure", "table")]
    assert len(lines) - len(drawn) == len(runs)
    monkeypatch.chdir(tmp_path)
    store = runs[0].path.parent
    (tmp_path / "figures").mkdir()
    (tmp_path / "tables").mkdir()
    assert {line[-1] for line in drawn} == {path for path in files if path.startswith(("figures/", "tables/"))}
    for line in drawn:
        if line[-1].endswith((".pdf", ".tex")) or line[2] == "accuracy":
            line[line.index("--store") + 1] = str(store)
            assert main(line[1:]) == 0
    assert (tmp_path / "tables/tickets.tex").read_bytes() == files["tables/tickets.tex"]
    assert (tmp_path / "figures/accuracy.svg").read_bytes() == files["figures/accuracy.svg"]
    assert (tmp_path / "figures/accuracy.pdf").read_bytes() == files["figures/accuracy.pdf"]
    assert (tmp_path / "figures/subgraphs.pdf").read_bytes() == files["figures/subgraphs.pdf"]


def test_runs_without_rounds_and_wrong_suffixes_are_refused(
    make_run: Callable[..., Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = make_run("ugs", seeds=())
    with pytest.raises(StoreError, match="no finished round yet"):
        bundle_bytes([begun], CHOICES)
    assert main(["bundle", str(begun.path), "--out", str(tmp_path / "b.tar")]) == 2
    assert "use the ending .zip" in capsys.readouterr().err


MakeRun = Callable[..., Run]
SCORES = [[0.81, 0.8], [0.82, 0.79]]
PRETRAINED = "cora-node-gcn-ugs-5840f40e"
RANDOM_TICKET, ITS_SOURCE = "cora-node-gcn-reinit-f5de2516", "cora-node-gcn-ugs-df8e8f72"


@pytest.fixture
def first(make_pretraining: Callable[..., Pretraining]) -> Pretraining:
    return make_pretraining(("done", "done"), share=0.3)


@pytest.fixture
def source(first: Pretraining, make_scored: MakeRun) -> Run:
    """A run of three seeds, the second and third of which started from seed 0 of the pre-training."""
    run = make_scored("ugs", [*SCORES, SCORES[0]], rounds=1, options={"pretraining": first.name})
    for seed, of in enumerate((0, 0, 0)):
        run.seed(seed).write_environment({"pretraining": {"run": first.name, "seed": of, "sha256": "a" * 64}})
    return run


@pytest.fixture
def ticket(source: Run, make_scored: MakeRun) -> Run:
    return make_scored("reinit", SCORES, rounds=1, options={"masks_of": source.name, "draw": 0})


def example(name: str) -> Run:
    return next(run for run in bundled_examples() if run.name == name)


def texts(content: bytes) -> dict[str, str]:
    endings = (".json", "md", "sh")
    return {name: part.decode() for name, part in opened(content).items() if name.endswith(endings)}


def test_dependencies_are_computed_first(first: Pretraining, source: Run, ticket: Run) -> None:
    files = texts(bundle_bytes([ticket], FigureChoices()))
    typed = [line for line in files["commands.sh"].splitlines() if line.startswith(("glt run ", "glt pretrain "))]
    commands = [shlex.split(line)[1:] for line in typed]
    seeds = [command[command.index("--seeds") + 1] for command in commands]
    assert [command[0] for command in commands] == ["pretrain", "run", "run"]
    assert seeds == ["0", "0,1", "0,1"]
    configs = {name: json.loads(files[f"runs-settings/{name}/config.json"]) for name in (first.name, source.name)}
    assert configs[first.name]["kind"] == "pre-training"
    assert configs[source.name]["config"] == source.config.model_dump(mode="json")
    assert f"- `{source.name}`, seeds 0, 1, for `{ticket.name}`" in files["README.md"]
    assert "Missing" not in files["README.md"] + files["commands.sh"]


def test_the_command_of_a_pretraining_has_all_settings(first: Pretraining) -> None:
    typed = shlex.split(compute_command(first.config, [0], "", "runs"))[2:]
    assert resolve_pretraining(pretrain_settings(pretrain.arguments(typed))) == first.config


def test_sources_come_first_and_once(source: Run, ticket: Run) -> None:
    steps = steps_for([ticket, source])
    assert list(steps.by_name)[1:] == [source.name, ticket.name]
    assert steps.by_name[source.name].seeds == [0, 1, 2]
    assert source.name not in steps.sources()


def test_bundled_examples_include_their_dependencies() -> None:
    assert list(steps_for([example(RANDOM_TICKET)]).by_name) == [ITS_SOURCE, RANDOM_TICKET]


def test_a_missing_pretraining_is_recognised_by_its_name() -> None:
    steps = steps_for([example(PRETRAINED)])
    (made,) = steps.sources().items()
    assert made[0] == run_name(made[1].config)
    assert not steps.lost


def test_missing_sources_are_reported_in_the_bundle_and_on_the_terminal(
    store: Store, source: Run, ticket: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.path.rename(tmp_path / "elsewhere")
    (printed,) = lost_sources([ticket])
    assert printed.startswith(f"{ticket.name} needs {source.name}, which its store no longer holds")
    out = tmp_path / "b.zip"
    assert main(["bundle", ticket.name, "--store", str(store.root), "--out", str(out)]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == printed
    files = texts(out.read_bytes())
    assert printed in files["README.md"]
    assert f"# Missing: {printed}" in files["commands.sh"]
