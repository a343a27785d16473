"""What is said of damage, of folders that are no store, and of rounds that are not a seed's own."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.cli.main import main
from glt.config import make_config
from glt.doctor import examine, repair
from glt.errors import StoreError
from glt.formats import as_typed
from glt.presets import resolve
from glt.store import Run, Status, Store
from tests.robustness.damage.commands import said
from tests.robustness.damage.conftest import SMALL

Copy = Callable[[], Store]


@pytest.mark.parametrize("name", ["nowhere", "a file"])
def test_a_store_that_is_not_there_is_not_well(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("text")
    answer = said("glt", ["doctor", "--store", str(tmp_path / name)])
    assert answer.code == 1
    assert str(tmp_path / name) in answer.err
    assert "no damage found" not in answer.out


def test_the_usual_store_need_not_be_made_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "later"))
    assert said("glt", ["doctor"]).code == 0


def test_a_lost_config_names_its_copy_and_the_command_that_goes_on(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    config = run.path / "config.json"
    config.write_bytes(config.read_bytes().replace(b'"rounds":2', b'"rounds":1'))
    answer = said("glt", ["doctor", run.name, "--mend", "--store", str(store.root)])
    (kept,) = (run.path / "set-aside").glob("*/config.json")
    again = as_typed("run", "--config", kept, "--store", store.root)
    assert answer.code == 1
    assert again in answer.out
    assert again in said("glt", ["list", "--store", str(store.root)]).err
    words = shlex.split(again)
    assert words[words.index("--config") + 1] == str(kept)


def test_a_config_that_tells_nothing_is_named_too(copy: Copy) -> None:
    run = copy().runs()[0]
    (run.path / "config.json").write_text("noise")
    (left,) = repair(examine(run.path)).left
    assert str(run.path / "set-aside") in left.then
    assert as_typed("run") in left.then


def test_a_renamed_folder_is_told_its_name_by_list(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    run.path.rename(store.root / "my best run")
    assert f"rename the folder back to {run.name}" in said("glt", ["list", "--store", str(store.root)]).err


def test_an_unknown_argument_names_the_help_of_its_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "RUN", "--round", "3"]) == 2
    assert "See: python -m glt show --help" in capsys.readouterr().err


def test_a_folder_of_elsewhere_is_told_without_the_store(copy: Copy, tmp_path: Path) -> None:
    store, other = copy(), copy()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "folder").mkdir(parents=True)
    (elsewhere / "folder" / "config.json").write_text("{}")
    told = said("glt", ["doctor", str(elsewhere / "folder"), "--store", str(store.root)]).out
    assert told.splitlines() == [
        f"{elsewhere / 'folder'} is not a run: give the name or the folder of a run.",
        f"{elsewhere}: 1 folder checked, 1 problem found, none of which --repair can fix.",
    ]
    (store.root / "folder").mkdir()
    assert "folder is not a run: move it out of the store." in said("glt", ["doctor", "--store", str(store.root)]).out
    both = [run.path for run in (other.runs()[0], store.runs()[0])]
    told = said("glt", ["doctor", *map(str, both), "--store", str(store.root)]).out
    assert told == f"{store.root}, {other.root}: 2 runs checked, no damage found.\n"


def test_a_kind_of_finding_in_many_runs_is_counted_at_the_end(copy: Copy) -> None:
    store = copy()
    source = store.runs()[0]
    for number in range(6):
        status = Status(state="running", seed=0, pid=2**22 + number, process_started=1.0)
        seed = store.create(make_config({**source.config.model_dump(), "learning_rate": (number + 1) / 64})).seed(0)
        seed.make()
        seed.write_status(status)
    once, every = "config.json is damaged", "status.json says running, but process ... no longer exists"
    (source.path / "config.json").write_text("noise")
    arguments = ["doctor", "--store", str(store.root)]
    told = said("glt", arguments).out.splitlines()
    assert f"In 6 runs: {every}." in told[-2:]
    assert not any(line.startswith("In ") and once in line for line in told)
    told = said("glt", [*arguments, "--mend"]).out.splitlines()
    assert f"Repaired in 6 runs: {every}." in told
    (places,) = (line for line in told if line.startswith("Set aside by repairs: "))
    assert (places.count("set-aside"), " and others; " in places) == (5, True)


@pytest.fixture
def run(copy: Copy) -> Run:
    return copy().runs()[0]


def test_a_copied_seed_is_not_another_seed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(run.path / "seed-0", run.path / "seed-5")
    with pytest.raises(StoreError, match=f"seed-5 holds the rounds of {run.name}/seed-0: move it out of the run"):
        run.seed(5).rounds()
    with run.seed(5).lock(), pytest.raises(StoreError, match="holds the rounds of"):
        run.seed(5).drop_unfinished()
    assert main(["show", run.name, "--store", str(run.path.parent)]) == 1
    assert "holds the rounds of" in capsys.readouterr().err
    looked = examine(run.path)
    assert [finding.path.name for finding in looked.findings] == ["seed-5"]
    repair(looked)
    assert not examine(run.path).findings
    assert run.seeds() == [0, 1]
    assert list(run.path.glob("set-aside/*/seed-5/rounds.jsonl"))


def test_swapped_seeds_are_noticed(run: Run) -> None:
    for one, other in (("seed-0", "aside"), ("seed-1", "seed-0"), ("aside", "seed-1")):
        (run.path / one).rename(run.path / other)
    for seed in (0, 1):
        with pytest.raises(StoreError, match=f"seed-{seed} holds the rounds of {run.name}/seed-{1 - seed}"):
            run.seed(seed).last_round()


def test_a_seed_of_another_run_is_noticed(run: Run) -> None:
    other = Store(run.path.parent).create(resolve({**SMALL, "p_graph": 0.2}))
    shutil.copytree(run.path / "seed-0", other.path / "seed-0")
    with pytest.raises(StoreError, match=f"holds the rounds of {run.name}/seed-0"):
        other.seed(0).rounds()


def test_a_round_that_nobody_finished_does_not_count(run: Run) -> None:
    table = run.path / "seed-0" / "rounds.jsonl"
    last = json.loads(table.read_text().splitlines()[-1])
    with table.open("a") as file:
        file.write(json.dumps({**last, "round": last["round"] + 1, "test": 0.999}) + "\n")
    with pytest.raises(StoreError, match=r"rounds\.jsonl is damaged in line 4 \(it has no checksum\)"):
        run.seed(0).rounds()
    assert [finding.path.name for finding in examine(run.path).findings]


def test_a_first_layer_of_another_seed_is_noticed(copy: Copy) -> None:
    pretraining = copy().pretrainings()[0]
    shutil.copytree(pretraining.path / "seed-0", pretraining.path / "seed-4")
    with pytest.raises(StoreError, match="seed-4 holds the result of seed 0"):
        pretraining.seed(4).first_layer()
    assert [finding.path.parent.name for finding in examine(pretraining.path).findings] == ["seed-4"]
