"""Whatever is wrong is one clear line on standard error, with the exit code that scripts rely on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glt.cli.main import main
from glt.config import RunConfig
from glt.formats import as_typed
from glt.store import Store, run_name


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert "Traceback" not in captured.err
    return code, captured.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("run --dataset coar", "Unknown data set 'coar': did you mean 'cora'?"),
        ("run --method ugz", "Unknown method 'ugz': did you mean 'ugs'?"),
        ("run --model gnc", "Unknown model 'gnc': did you mean 'gcn'?"),
        ("run --task nodes", "Unknown task 'nodes': did you mean 'node'?"),
        ("run --preset offical", "Unknown preset 'offical': did you mean 'official'?"),
        ("run --set roundz=3", "Unknown setting 'roundz': did you mean 'rounds'?"),
        ("run --set p_graph=1.5", "p_graph cannot be '1.5'"),
        ("run --set rounds=two", "rounds cannot be 'two'"),
        ("run --set rounds=0 hidden=no", "2 settings cannot be used: hidden cannot be 'no'"),
        ("run --set rounds", "'rounds' is not a setting; write key=value"),
        ("run --set =3", "'=3' is not a setting"),
        ("run --seeds x", "'x' is not a seed"),
        ("run --seeds 1,,2", "'' is not a seed"),
        ("run --seeds 1.5", "'1.5' is not a seed"),
        ("run --seeds 5-1", "'5-1' is not a range"),
        ("run --seeds 0-999999999", "not a range of 1 to 1000 seeds"),
        ("run --threads 0", "'0' is less than 1"),
        *(
            (f"{verb} --threads 9999", "9999 threads are more than the ")
            for verb in ("run", "resume r", "pretrain", "sweep --grid hidden=4", "reproduce 4", "latency r --round 0")
        ),
        ("run --device tpu", "--device: Unknown device 'tpu'"),
        ("run --device cpu --devices cpu", "--device and --devices exclude each other"),
        ("run --devices cpu --device cpu", "--device and --devices exclude each other"),
        ("show", "Missing argument 'RUN'"),
        ("cost r --round x", "'x' is not a whole number"),
        ("delete", "name a run, or give --empty-trash"),
        ("frobnicate", "Unknown verb 'frobnicate'"),
        ("", "Missing command"),
        ("pretrain --dataset coar", "Unknown data set 'coar': did you mean 'cora'?"),
        ("pretrain --augmentation edge", "Unknown augmentation 'edge': did you mean 'edges'?"),
        ("pretrain --task nodes", "Unknown task 'nodes': did you mean 'node'?"),
        ("pretrain --set share=1", "share cannot be '1'"),
        ("pretrain --hidden 0", "hidden cannot be '0'"),
        ("pretrain --set patienc=3", "Unknown setting 'patienc': did you mean 'patience'?"),
        ("pretrain --set split_seed=3", "Task 'node' has no held-out edges: omit split_seed"),
        ("run --set pretraining=cora-node-gcn-graphcl-12345678", "pretraining cannot be"),
        ("sweep ", "The grid is empty"),
        ("sweep --grid", "--grid: give a value"),
        ("sweep --grid p_graph", "'p_graph' is not a setting; write key=value,value, as in p_graph=.05"),
        ("sweep --grid p_graph=", "'p_graph=' is not a setting"),
        ("sweep --grid p_graph=.1 p_graph=.2", "The grid names p_graph twice"),
        ("sweep --grid pgraph=.1", "Unknown setting 'pgraph': did you mean 'p_graph'?"),
        ("sweep --grid p_graph=.1,2", "p_graph cannot be '2'"),
        ("sweep --method random --grid gamma_graph=.1,.2", "The method random ignores gamma_graph"),
        ("reproduce teasr", "Unknown experiment 'teasr': did you mean 'teaser'?"),
        ("reproduce teaser --dataset pubmed", "The paper has no teaser for pubmed: choose one of"),
        ("reproduce teaser --model gat", "The paper has no teaser for gat"),
        ("sweep --grid p_graph=.1,.2 --set p_graph=.3", "p_graph is set to .3 and varied in the grid too"),
        ("sweep --grid model=gcn,gat --model gcn", "model is set to gcn and varied in the grid too"),
    ],
)
def test_bad_arguments_exit_with_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.setenv("GLT_STORE", str(tmp_path / "store"))
    code, said = complaint(capsys, *arguments.split())
    assert code == 2
    assert sentence in said
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("show nothing", "No run 'nothing' in the store"),
        ("stop nothing", "No run 'nothing'"),
        ("resume nothing", "No run 'nothing'"),
        ("audit nothing --round 1", "No run 'nothing'"),
        ("delete nothing", "No run 'nothing'"),
        ("show cora-node-gcn-ugs", "did you mean cora-node-gcn-ugs-"),
        (f"cost {run_name(RunConfig())} --round 1", f"has no seeds yet: start it with `{as_typed('run')}`."),
        ("run --config nowhere/config.json", "config.json is missing"),
    ],
)
def test_what_is_not_there_exits_with_1(
    capsys: pytest.CaptureFixture[str], store: Store, arguments: str, sentence: str
) -> None:
    store.create(RunConfig())
    code, said = complaint(capsys, *arguments.split())
    assert code == 1
    assert sentence in said


def test_a_store_that_cannot_be_written_exits_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, said = complaint(capsys, "run", "--store", str(tmp_path / "file" / "store"))
    assert code == 1
    assert "cannot be written" in said
    assert "choose another store" in said


def test_an_unforeseen_fault_is_one_line_and_a_traceback_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    def explode(_: Store) -> None:
        raise RuntimeError("boom\nand more")

    monkeypatch.setattr(Store, "contents", explode)
    code, said = complaint(capsys, "list", "--json")
    assert code == 1
    assert said.startswith("Unexpected RuntimeError (boom and more)")
    monkeypatch.setenv("GLT_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        main(["list", "--json"])
    monkeypatch.undo()


@pytest.mark.parametrize("verb", ["run", "pretrain"])
def test_a_device_that_is_not_there_leaves_no_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, said = complaint(capsys, verb, "--device", "cuda", "--store", str(tmp_path / "store"))
    assert (code, said) == (1, "There is no CUDA device here: start the run with --device cpu.\n")
    assert not (tmp_path / "store").exists()


def test_a_damaged_run_can_be_deleted(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    damaged = store.create(RunConfig())
    (damaged.path / "config.json").write_text("{")
    assert main(["delete", damaged.name]) == 0
    assert capsys.readouterr().out == f"Moved {damaged.name} to the trash of {store.root}.\n"
    assert store.damaged() == []


@pytest.mark.parametrize(
    ("listed", "code", "sentence"),
    [
        ("gpu", 2, "'gpu' is not a device: use cpu, cuda, or one of several as cuda:0, cuda:1"),
        ("cpu,", 2, "'' is not a device"),
        ("cpu,cpu", 1, "The devices cpu, cpu name cpu twice: name each device once."),
        ("cuda:0,cuda:9", 1, "There is no CUDA device here: start the run with --devices cpu."),
    ],
)
@pytest.mark.parametrize("verb", ["run", "sweep --grid p_graph=.1,.2", "reproduce teaser", "pretrain"])
def test_devices_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: str, listed: str, code: int, sentence: str
) -> None:
    store = tmp_path / "store"
    found, said = complaint(capsys, *verb.split(), "--devices", listed, "--store", str(store))
    assert found == code
    assert sentence in said
    assert not store.exists()
