"""docs/speed.md is made of a report: what it measured, what is aimed at, and what was not reached."""

from __future__ import annotations

from pathlib import Path

from benchmarks.results import Failed, Measured, Report, single, spread
from benchmarks.speed_page import page, write_page
from glt.formats import MISSING


def report(*results: Measured, failed: tuple[Failed, ...] = ()) -> Report:
    machine = {"processor": "EPYC", "cores": 2, "memory_gb": 24.9, "system": "Linux x86_64"}
    about = {"revision": "0123456789abcdef", "time": "2026-11-28T21:00:00+00:00", "versions": {"torch": "2.13.0"}}
    return Report(machine=machine, **about, results=results, failed=failed)


def row(text: str, start: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_aims_stand_next_to_what_was_measured() -> None:
    found = page(
        report(spread("epochs/cora/gcn/search", [0.020, 0.022, 0.023]), single("runs/cora/20 rounds", 200, "s"))
    )
    reached = row(found, "Cora, GCN of 512: search epoch")
    assert reached[1:] == ["at most 24 ms", "22 ms (20.4 ms - 22.8 ms)", "yes"]
    assert row(found, "Cora, 20 rounds of UGS")[1:] == ["at most 2.8 min", "3.3 min", "no"]
    assert row(found, "Two seeds side by side over one alone")[3] == "not measured"
    assert "Not reached: Cora, 20 rounds of UGS.\n" in found


def test_times_faster_are_to_be_high() -> None:
    name = "formulations/cora/times faster than authors"
    found = page(report(single(name, 240, "ratio", lower_is_better=False)))
    assert row(found, "The same as the authors run it, over ours")[1:] == ["at least 250", "240", "no"]


def test_epochs_and_floors_have_their_tables() -> None:
    found = page(
        report(
            single("epochs/cora/gat/search", 0.8, "CPU s"),
            single("epochs/cora/gat/search memory", 1.3e9, "B"),
            single("floors/cora/search/epoch", 0.030, "CPU s"),
            single("floors/cora/search/floor", 0.025, "CPU s"),
            single("floors/cora/search/floor of seen rows", 0.020, "CPU s"),
            single("floors/cora/search/epoch over floor", 1.2, "ratio"),
            single("floors/cora/search/epoch over floor of seen rows", 1.5, "ratio"),
            Measured(name="floors/cora/search/kernels/X W", value=0.003, unit="CPU s", note="1 x, embedding_bag"),
        )
    )
    assert row(found, "Cora") == ["Cora", "GAT, 8 x 512", "800 ms", MISSING, MISSING, "1.30 GB"]
    assert row(found, "Cora, search") == ["Cora, search", "30 ms", "25 ms", "1.2", "20 ms", "1.5"]
    aim = row(found, "Cora, GCN of 512: search epoch over the floor of the rows it needs")
    assert aim[2:] == ["1.5", "no"]
    assert row(found, "X W") == ["X W", "1 x, embedding_bag", "3 ms"]


def test_parts_that_failed_are_named_and_machine_and_revision_said() -> None:
    found = page(report(single("stores/x/listed", 1, "s"), failed=(Failed(part="start", reason="no browser"),)))
    assert "These parts failed when this was measured: start." in found
    assert "EPYC, 2 cores, 24.9 GB of memory, Linux x86_64. torch 2.13.0. Measured on 2026-11-28" in found
    assert "at revision 0123456789ab." in found


def test_results_of_pages_stand_in_a_grid() -> None:
    found = page(
        report(
            single("pages/Runs/first/seconds", 2.6, "s"),
            single("pages/Runs/first/browser cpu seconds", 2.8, "CPU s"),
            single("pages/Curves/load/seconds", 1.5, "s"),
            single("pages/memory/before", 74e6, "B"),
        )
    )
    assert row(found, "what")[1:] == ["seconds", "browser cpu seconds"]
    assert row(found, "Runs, first")[1:] == ["2.6 s", "2.8 s"]
    assert row(found, "Curves, load")[1:] == ["1.5 s", MISSING]
    assert row(found, "memory, before")[1:] == ["74 MB", "B"]


def test_the_command_writes_the_page_of_a_report(tmp_path: Path) -> None:
    written = report(single("stores/1000 runs/listed", 1.5, "s"))
    (tmp_path / "report.json").write_text(written.to_json())
    assert write_page(["--report", str(tmp_path / "report.json"), "--out", str(tmp_path / "speed.md")]) == 0
    assert (tmp_path / "speed.md").read_text() == page(written)
