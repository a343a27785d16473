"""`export` and `import` as commands: files, formats, exit codes; examples give their graphs but no ticket."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
import scipy.sparse

from glt.cli.main import main
from glt.formats import file_size
from glt.presets import resolve
from glt.store import Run, Store, bundled_examples
from glt.ticket_file.io import ticket_bytes
from glt.ticket_file.ticket import make_ticket
from tests.conftest import write_true_rounds


@pytest.fixture
def run(store: Store) -> Run:
    """A round of random weights in a narrow GCN on Cora."""
    config = resolve({"hidden": 4, "rounds": 1, "p_graph": 0.5, "p_weight": 0.5})
    run = store.create(config)
    seed_run = run.seed(3)
    with seed_run.lock():
        write_true_rounds(seed_run)
    return run


def test_a_ticket_is_exported_and_imported(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ticket.zip"
    assert main(["export", run.name, "--round", "1", "--out", str(file)]) == 0
    assert capsys.readouterr().out == f"Wrote {file}, {file_size(file.stat().st_size)}.\n"
    assert main(["import", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["passed"]
    assert (document["run"], document["seed"], document["round"]) == (run.name, 3, 1)
    assert (document["entries_kept"], document["entries"]) == (5278, 10556)
    assert main(["import", str(file)]) == 0
    assert "Check passed" in capsys.readouterr().out


def test_a_file_written_into_standard_output_is_not_reported(tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    (link := tmp_path / "link.csv").symlink_to("/dev/stdout")
    command = [sys.executable, "-m", "analysis", "figure", "accuracy", bundled_examples()[0].reference, "--out"]
    with out.open("wb") as file:
        subprocess.run([*command, str(link)], stdout=file, check=True)
    piped = subprocess.run([*command, str(link)], capture_output=True, check=True).stdout
    assert b"Wrote" not in piped
    assert out.read_bytes() == piped


def test_wrong_numbers_fail_the_import(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticket = make_ticket(run.seed(3), 1)
    record = ticket.about.record.model_copy(update={"test": 0.999, "best_epoch": 10**6})
    about = ticket.about.model_copy(update={"record": record, "seed": -3, "run": "a\n\x1b[31mred"})
    file = tmp_path / "ticket.zip"
    file.write_bytes(ticket_bytes(replace(ticket, about=about)))
    assert main(["import", str(file)]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith("a [31mred, seed -3, round 1:")
    assert f"test differs: 0.999 in the file, {ticket.about.record.test:g} found." in lines
    assert "best_epoch is impossible: 1e+06." in lines
    assert "The seed is -3; valid seeds are 0 to 999999999." in lines
    (printed,) = (line for line in lines if line.startswith("In the file, but not verifiable here: "))
    assert printed.startswith(
        "In the file, but not verifiable here: test_last 0.776, seconds 2, search_seconds 4, seed, "
    )
    assert printed.endswith(".")
    assert ", config.learning_rate, " in printed
    assert lines[-2].startswith("Check failed: checksums fit,")
    assert main(["import", str(file), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["passed"], document["differs"], document["impossible"]) == (False, ["test"], ["best_epoch"])


def test_other_files_are_refused_before_torch_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    code = f"import sys; from glt.cli.main import main; main(['import', {str(tmp_path / 'x.zip')!r}])"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert done.stderr.count("\n") == 1
    assert "is not a ticket file" in done.stderr


def test_import_writes_the_sparse_graph(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ticket.zip"
    assert main(["export", run.name, "--round", "1", "--out", str(file)]) == 0
    assert main(["import", str(file), "--graph", str(tmp_path / "g.npz")]) == 0
    assert scipy.sparse.load_npz(tmp_path / "g.npz").nnz == run.seed(3).masks(1).edges.kept
    assert main(["import", str(file), "--graph", str(tmp_path / "g.pkl")]) == 2
    assert "has no known ending" in capsys.readouterr().err


def test_an_example_exports_its_graph_in_every_format(tmp_path: Path) -> None:
    example = next(each for each in bundled_examples() if each.config.dataset == "cora" and each.config.task == "node")
    kept = example.existing_seed().masks(5).edges.kept
    common = ["export", str(example.path), "--round", "5"]
    for form in ("graphml", "csv", "npz"):
        assert main([*common, "--format", form, "--out", str(tmp_path / f"g.{form}")]) == 0
    assert nx.read_graphml(tmp_path / "g.graphml").number_of_edges() == kept
    assert len(pd.read_csv(tmp_path / "g.csv")) == kept
    assert scipy.sparse.load_npz(tmp_path / "g.npz").nnz == kept


@pytest.mark.parametrize("verb", ["export", "latency"])
def test_an_example_has_no_weights(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "t.zip")] if verb == "export" else []
    assert main([verb, str(next(iter(bundled_examples())).path), "--round", "1", *out]) == 1
    assert "without weights" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("form", "name", "ending", "other"),
    [
        ("npz", "g.graphml", ".npz", "graphml"),
        ("ticket", "t.csv", ".zip", "csv"),
        ("graphml", "g.ZIP", ".graphml", "ticket"),
        ("csv", "x.csv.zip", ".csv", "ticket"),
    ],
)
def test_a_wrong_file_suffix_names_both_remedies(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, name: str, ending: str, other: str
) -> None:
    assert main(["export", run.name, "--round", "1", "--format", form, "--out", str(tmp_path / name)]) == 2
    assert f"--format is {form}: use the ending {ending}, or give --format {other}." in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_other_file_suffixes_are_accepted(run: Run, tmp_path: Path) -> None:
    assert main(["export", run.name, "--round", "1", "--format", "graphml", "--out", str(tmp_path / "g.xml")]) == 0
    assert nx.read_graphml(tmp_path / "g.xml").number_of_nodes() == 2708


@pytest.mark.parametrize("name", ["g.txt", "nowhere/g.csv"])
def test_an_unwritable_graph_path_is_reported_before_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["import", str(tmp_path / "none.zip"), "--graph", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / name).removesuffix("/g.csv") in error
    assert "is not there" not in error


def test_a_missing_folder_is_one_line(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "nowhere" / "g.csv"
    assert main(["export", run.name, "--round", "1", "--format", "csv", "--out", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--out" in error


def test_latency_prints_one_json_document(run, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ANN001
    assert main(["latency", run.name, "--round", "1", "--repeats", "2", "--warm-up", "0", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert "profiler" not in captured.err
    assert (document["run"], document["seed"], document["round"]) == (run.name, 3, 1)
    assert document["disk_bytes"]["round"] < document["disk_bytes"]["dense"]
    assert document["search_seconds"] == 4.0
    assert document["executions"][0]["name"] == "masked"
    assert (document["repeats"], document["warm_up"], document["threads"]) == (2, 0, 1)


def test_latency_prints_progress(run, capfd: pytest.CaptureFixture[str]) -> None:  # noqa: ANN001
    assert main(["latency", run.name, "--round", "1", "--repeats", "3", "--warm-up", "1", "--json", "--progress"]) == 0
    assert [float(line) for line in capfd.readouterr().err.split()] == [0.25, 0.5, 0.75, 1.0]
