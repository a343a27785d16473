"""Messages on damage, on folders that are not stores, on rounds of other seeds, and on the machine."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from glt.cli.doctor import lines_on
from glt.cli.main import main
from glt.config import make_config
from glt.doctor import Examined, Finding, Repaired, examine, repair
from glt.doctor.environment import machine, packages
from glt.errors import StoreError
from glt.formats import as_typed
from glt.presets import resolve
from glt.store import Run, Status, Store
from tests.robustness.damage.commands import run_command
from tests.robustness.damage.conftest import SMALL

Patch = pytest.MonkeyPatch

Copy = Callable[[], Store]


def test_a_missing_store_is_an_error(tmp_path: Path, monkeypatch: Patch) -> None:
    (tmp_path / "a file").write_text("text")
    for name in ("nowhere", "a file"):
        answer = run_command("glt", ["doctor", "--store", str(tmp_path / name)])
        assert answer.code == 1
        assert str(tmp_path / name) in answer.err
        assert "no damage found" not in answer.out
    # The default store need not be made yet.
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "later"))
    assert run_command("glt", ["doctor"]).code == 0


def test_a_damaged_config_names_its_copy_and_the_command_to_continue(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    config = run.path / "config.json"
    config.write_bytes(config.read_bytes().replace(b'"rounds":2', b'"rounds":1'))
    answer = run_command("glt", ["doctor", run.name, "--mend", "--store", str(store.root)])
    (kept,) = (run.path / "set-aside").glob("*/config.json")
    again = as_typed("run", "--config", kept, "--store", store.root)
    assert answer.code == 1
    assert again in answer.out
    assert again in run_command("glt", ["list", "--store", str(store.root)]).err
    words = shlex.split(again)
    assert words[words.index("--config") + 1] == str(kept)
    # An unreadable copy is named too.
    run = copy().runs()[0]
    (run.path / "config.json").write_text("noise")
    (left,) = repair(examine(run.path)).left
    assert str(run.path / "set-aside") in left.then
    assert as_typed("run") in left.then


def test_an_unknown_argument_points_to_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "RUN", "--round", "3"]) == 2
    assert "See: python -m glt show --help" in capsys.readouterr().err


def test_folders_outside_the_store_are_refused(copy: Copy, tmp_path: Path) -> None:
    store, other = copy(), copy()
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "folder").mkdir(parents=True)
    (elsewhere / "folder" / "config.json").write_text("{}")
    printed = run_command("glt", ["doctor", str(elsewhere / "folder"), "--store", str(store.root)]).out
    assert printed.splitlines() == [
        f"{elsewhere / 'folder'} is not a run: give the name or the folder of a run.",
        f"{elsewhere}: 1 folder checked, 1 problem found, none of which --repair can fix.",
    ]
    (store.root / "folder").mkdir()
    assert (
        "folder is not a run: move it out of the store."
        in run_command("glt", ["doctor", "--store", str(store.root)]).out
    )
    both = [run.path for run in (other.runs()[0], store.runs()[0])]
    printed = run_command("glt", ["doctor", *map(str, both), "--store", str(store.root)]).out
    assert printed == f"{store.root}, {other.root}: 2 runs checked, no damage found.\n"


def test_findings_in_many_runs_are_counted(copy: Copy) -> None:
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
    printed = run_command("glt", arguments).out.splitlines()
    assert f"In 6 runs: {every}." in printed[-2:]
    assert not any(line.startswith("In ") and once in line for line in printed)
    printed = run_command("glt", [*arguments, "--mend"]).out.splitlines()
    assert f"Repaired in 6 runs: {every}." in printed
    (places,) = (line for line in printed if line.startswith("Set aside by repairs: "))
    assert (places.count("set-aside"), " and others; " in places) == (5, True)


@pytest.fixture
def run(copy: Copy) -> Run:
    return copy().runs()[0]


def test_a_copied_seed_is_detected(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_swapped_and_foreign_seeds_are_detected(run: Run) -> None:
    other = Store(run.path.parent).create(resolve({**SMALL, "p_graph": 0.2}))
    shutil.copytree(run.path / "seed-0", other.path / "seed-0")
    with pytest.raises(StoreError, match=f"holds the rounds of {run.name}/seed-0"):
        other.seed(0).rounds()
    for one, target in (("seed-0", "aside"), ("seed-1", "seed-0"), ("aside", "seed-1")):
        (run.path / one).rename(run.path / target)
    for seed in (0, 1):
        with pytest.raises(StoreError, match=f"seed-{seed} holds the rounds of {run.name}/seed-{1 - seed}"):
            run.seed(seed).last_round()
    (pretraining,) = Store(run.path.parent).pretrainings()
    shutil.copytree(pretraining.path / "seed-0", pretraining.path / "seed-4")
    with pytest.raises(StoreError, match="seed-4 holds the result of seed 0"):
        pretraining.seed(4).first_layer()
    assert [finding.path.parent.name for finding in examine(pretraining.path).findings] == ["seed-4"]


def test_a_round_without_checksum_does_not_count(run: Run) -> None:
    table = run.path / "seed-0" / "rounds.jsonl"
    last = json.loads(table.read_text().splitlines()[-1])
    with table.open("a") as file:
        file.write(json.dumps({**last, "round": last["round"] + 1, "test": 0.999}) + "\n")
    with pytest.raises(StoreError, match=r"rounds\.jsonl is damaged in line 4 \(it has no checksum\)"):
        run.seed(0).rounds()
    assert [finding.path.name for finding in examine(run.path).findings]


def test_doctor_compares_packages_with_pins(tmp_path: Path, monkeypatch: Patch) -> None:
    pins = tmp_path / "requirements.txt"
    pins.write_text(
        "# a comment\n-e .\n"
        f"numpy=={version('numpy')}  # as it is\n"
        'scipy==0.0.1 ; python_version >= "3.0"\n'
        'pandas==0.0.1 ; python_version < "3.0"\n'
        "no-such-package==1.0\n"
    )
    missing, line = packages(pins)
    assert missing == ["no-such-package"]
    assert "no-such-package is missing" in line
    assert f"scipy is {version('scipy')}, pinned ==0.0.1" in line
    assert "numpy" not in line
    assert "pandas" not in line
    # A local build suffix does not change the version.
    pins.write_text("torch==2.13.0\n")
    monkeypatch.setattr("glt.doctor.environment.version", lambda name: "2.13.0+cpu")
    assert packages(pins)[1].endswith("all 1 packages as pinned.")


def test_doctor_lists_data_sets_and_faults(test_data: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("GLT_DATA", str(test_data))
    found = machine(Store(tmp_path / "not made yet"))
    assert not found.faults
    line = next(line for line in found.lines if line.startswith("Data in"))
    assert str(test_data) in line
    available, missing = line.split("; not yet: ")
    assert "citeseer, cora, pubmed" in available
    assert "ogbn-arxiv" in missing
    (tmp_path / "file").write_text("")
    assert ["cannot be written" in fault for fault in machine(Store(tmp_path / "file")).faults] == [True]


def test_equal_findings_of_seeds_are_one_line() -> None:
    run = Path("runs/a")
    same = [Finding(run / f"seed-{seed}" / "init.safetensors", "is missing", "it is made again") for seed in (0, 3)]
    other = Finding(run / "seed-1" / "init.safetensors", "is damaged", "it is made again")
    beside = Finding(run / "figure.png", "was not written by GLT Studio", "it is not changed", is_fault=False)
    found = (*same, other, beside)
    assert list(lines_on(Examined(run, found), Repaired((), found, None))) == [
        "runs/a: init.safetensors of seeds 0, 3 is missing: it is made again.",
        "runs/a/seed-1/init.safetensors is damaged: it is made again.",
        "runs/a/figure.png was not written by GLT Studio: it is not changed.",
    ]
