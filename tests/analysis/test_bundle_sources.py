"""A bundle of runs that need others computes those first, each once, and says what is no longer there."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.bundle import bundle_bytes, compute_command, lost_sources, steps_for
from analysis.cli.main import main
from analysis.figures.base import FigureChoices
from glt.cli.run import pretrain, pretrain_settings
from glt.pretraining.config import resolve_pretraining
from glt.store import Pretraining, Run, Store, bundled_examples, run_name

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


def opened(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".json", "md", "sh"))
        }


def test_what_a_run_needs_is_computed_before_it(first: Pretraining, source: Run, ticket: Run) -> None:
    files = opened(bundle_bytes([ticket], FigureChoices()))
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


def test_the_command_of_a_pretraining_says_all_its_settings(first: Pretraining) -> None:
    typed = shlex.split(compute_command(first.config, [0], "", "runs"))[2:]
    assert resolve_pretraining(pretrain_settings(pretrain.arguments(typed))) == first.config


def test_a_source_that_is_in_the_bundle_stands_there_once_and_first(source: Run, ticket: Run) -> None:
    steps = steps_for([ticket, source])
    assert list(steps.by_name)[1:] == [source.name, ticket.name]
    assert steps.by_name[source.name].seeds == [0, 1, 2]
    assert source.name not in steps.sources()


def test_examples_bring_what_they_need() -> None:
    assert list(steps_for([example(RANDOM_TICKET)]).by_name) == [ITS_SOURCE, RANDOM_TICKET]


def test_a_pretraining_that_is_gone_is_told_by_its_name() -> None:
    steps = steps_for([example(PRETRAINED)])
    (made,) = steps.sources().items()
    assert made[0] == run_name(made[1].config)
    assert not steps.lost


def test_what_is_lost_is_said_in_the_bundle_and_on_the_terminal(
    store: Store, source: Run, ticket: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source.path.rename(tmp_path / "elsewhere")
    (told,) = lost_sources([ticket])
    assert told.startswith(f"{ticket.name} needs {source.name}, which its store no longer holds")
    out = tmp_path / "b.zip"
    assert main(["bundle", ticket.name, "--store", str(store.root), "--out", str(out)]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == told
    files = opened(out.read_bytes())
    assert told in files["README.md"]
    assert f"# Missing: {told}" in files["commands.sh"]
