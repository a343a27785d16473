"""The command that runs all parts: one that fails loses nothing of the others, and says why in one line."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import collecting, machine
from benchmarks.__main__ import COMMANDS
from benchmarks.app_parts import as_results
from benchmarks.collecting import collect, measured, read_report
from benchmarks.parts import PARTS, Part
from glt.errors import ConfigError, DataError

# Of this folder there is no structure of ogbn-arxiv, which is an error of the program's own.
MISSING = Part("missing", None, quick=("arxiv-loading", "--root", "/nowhere/at/all"))
REFUSED = Part("refused", None, quick=("floors", "--datasets", "nothing"))


def test_every_part_is_a_command_or_one_of_the_app() -> None:
    known = {*COMMANDS, "start", "events", "load"}
    names = {words[0] for part in PARTS for words in (part.usual, part.quick, part.full) if words}
    assert names <= known
    assert len({part.name for part in PARTS}) == len(PARTS)


def test_a_part_that_fails_is_named_and_the_rest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Part("whole", None, quick=("stores", "--runs", "1", "--seconds", "0"))
    monkeypatch.setattr(collecting, "PARTS", (REFUSED, whole))
    options = Namespace(quick=True, full=False, only=None, out=tmp_path / "report.json")
    report = measured(options, Console(stderr=True, quiet=True))
    assert [failed.part for failed in report.failed] == ["refused"]
    assert "invalid choice: 'nothing'" in report.failed[0].reason
    sizes = {each.name: each.value for each in report.results if each.unit == "B"}
    assert sizes["stores/round 0 of cora gcn/weights"] > sizes["stores/round 20 of cora gcn/weights"] > 0
    assert sizes["stores/1 runs/size"] > 0
    assert read_report(tmp_path / "report.json") == report


def test_no_folder_of_the_machine_stands_in_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PARTS", (MISSING,))
    options = Namespace(quick=True, full=False, only=None, out=tmp_path / "report.json")
    report = measured(options, Console(stderr=True, quiet=True))
    assert [failed.part for failed in report.failed] == ["missing"]
    assert "/" not in report.failed[0].reason.replace("n/a", "")


def test_documents_of_the_app_become_results() -> None:
    found = as_results(
        "pages",
        {
            "Curves": {"first": {"seconds": 1.5, "server_cpu_seconds": 0.25}, "shown": 3},
            "memory": {"before": 100, "after": 120},
            "text": "no number",
        },
    )
    assert {each.name: (each.value, each.unit) for each in found} == {
        "pages/Curves/first/seconds": (1.5, "s"),
        "pages/Curves/first/server cpu seconds": (0.25, "CPU s"),
        "pages/memory/before": (100e6, "B"),
        "pages/memory/after": (120e6, "B"),
    }


def test_of_memory_by_the_minute_start_and_end_are_results() -> None:
    minutes = [{"uss": 200, "minute": 0}, {"uss": 300, "minute": 1}, {"uss": 210, "minute": 2}]
    load = {"seconds": {"live": {"count": 7, "p95": 0.4}}, "memory": {"by_minute": minutes, "uss_mb_a_minute": 0.1}}
    found = {each.name: (each.value, each.unit) for each in as_results("load", load)}
    assert found == {
        "load/seconds/live/p95": (0.4, "s"),
        "load/memory/start/uss": (200e6, "B"),
        "load/memory/end/uss": (210e6, "B"),
    }


@pytest.mark.parametrize("text", ["", "{", json.dumps({"schema": 2})])
def test_a_file_that_is_no_report_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"report\.json is no report of the benchmarks"):
        read_report(path)


def test_a_baseline_needs_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PARTS", ())
    monkeypatch.setattr(collecting, "BASELINE", tmp_path / "baseline.json")
    with pytest.raises(ConfigError, match="every part"):
        collect(["--quick", "--save-baseline", "--out", str(tmp_path / "report.json")])
    assert not (tmp_path / "baseline.json").exists()
    assert collect(["--save-baseline", "--out", str(tmp_path / "report.json")]) == 0
    assert read_report(tmp_path / "baseline.json").machine == machine.machine()


def test_the_machine_is_its_processor_and_no_name() -> None:
    found = machine.machine()
    assert set(found) == {"processor", "cores", "memory_gb", "system"}
    assert found["processor"]
