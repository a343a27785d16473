"""Reports of benchmarks: results, comparison with the baseline, failures and docs/speed.md."""

from __future__ import annotations

import asyncio
import json
import random
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rich.console import Console
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import report as reports
from benchmarks import results
from benchmarks import session as visiting
from benchmarks.__main__ import COMMANDS
from benchmarks.load import _failures, _slope, _spread
from benchmarks.parts import PARTS, Part, as_results
from benchmarks.report import Verdict, collect, compare, differences, measured, ratio_table, read_report, value_words
from benchmarks.results import Failed, Measured, Report, document, repeated, single, spread
from benchmarks.session import Visitor
from benchmarks.speed_page import page, write_page
from glt.errors import ConfigError, DataError
from glt.formats import MISSING

# A folder without ogbn-arxiv: a StudioError, reported in one line.
NO_FOLDER = Part("missing", None, quick=("arxiv-loading", "--root", "/nowhere/at/all"))
REFUSED = Part("refused", None, quick=("floors", "--datasets", "nothing"))


def test_every_part_is_a_command_or_one_of_the_app() -> None:
    known = {*COMMANDS, "start", "events", "load"}
    names = {words[0] for part in PARTS for words in (part.usual, part.quick, part.full) if words}
    assert names <= known
    assert len({part.name for part in PARTS}) == len(PARTS)


def test_a_failed_part_is_named_and_the_rest_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Part("whole", None, quick=("stores", "--runs", "1", "--seconds", "0"))
    monkeypatch.setattr(reports, "PARTS", (REFUSED, NO_FOLDER, whole))
    options = Namespace(quick=True, full=False, only=None, out=tmp_path / "report.json")
    report = measured(options, Console(stderr=True, quiet=True))
    refused, missing = report.failed
    assert (refused.part, missing.part) == ("refused", "missing")
    assert "invalid choice: 'nothing'" in refused.reason
    assert "/" not in missing.reason.replace("n/a", "")
    sizes = {each.name: each.value for each in report.results if each.unit == "B"}
    assert sizes["stores/round 0 of cora gcn/weights"] > sizes["stores/round 20 of cora gcn/weights"] > 0
    assert sizes["stores/1 runs/size"] > 0
    assert read_report(tmp_path / "report.json") == report


def test_documents_of_the_app_become_results() -> None:
    """Of memory by the minute, start and end are results."""
    minutes = [{"uss": 200, "minute": 0}, {"uss": 300, "minute": 1}, {"uss": 210, "minute": 2}]
    document = {
        "Curves": {"first": {"seconds": 1.5, "server_cpu_seconds": 0.25}, "shown": 3},
        "memory": {"before": 100, "by_minute": minutes, "uss_mb_a_minute": 0.1},
        "seconds": {"live": {"count": 7, "p95": 0.4}},
        "text": "no number",
    }
    assert {each.name: (each.value, each.unit) for each in as_results("load", document)} == {
        "load/Curves/first/seconds": (1.5, "s"),
        "load/Curves/first/server cpu seconds": (0.25, "CPU s"),
        "load/memory/before": (100e6, "B"),
        "load/memory/start/uss": (200e6, "B"),
        "load/memory/end/uss": (210e6, "B"),
        "load/seconds/live/p95": (0.4, "s"),
    }


@pytest.mark.parametrize("text", ["", "{", json.dumps({"schema": 2})])
def test_a_file_that_is_not_a_report_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"report\.json is not a benchmark report"):
        read_report(path)


def test_a_baseline_needs_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "PARTS", ())
    monkeypatch.setattr(reports, "BASELINE", tmp_path / "baseline.json")
    with pytest.raises(ConfigError, match="every part"):
        collect(["--quick", "--save-baseline", "--out", str(tmp_path / "report.json")])
    assert not (tmp_path / "baseline.json").exists()
    assert collect(["--save-baseline", "--out", str(tmp_path / "report.json")]) == 0
    assert read_report(tmp_path / "baseline.json").machine == results.machine()


def test_machine_description_is_the_processor_without_host_name() -> None:
    found = results.machine()
    assert set(found) == {"processor", "cores", "memory_gb", "system"}
    assert found["processor"]


def report(*results: Measured, **about: str) -> Report:
    return Report(machine={"processor": "P", **about}, versions={}, revision=None, time="", results=results)


def ranged(value: float, low: float, high: float, lower_is_better: bool = True) -> Measured:
    return Measured(name="a/b", value=value, unit="s", p10=low, p90=high, lower_is_better=lower_is_better)


@pytest.mark.parametrize(
    ("now", "before", "ratio", "verdict"),
    [
        (ranged(2, 1.8, 2.2), ranged(4, 3.5, 4.5), 0.5, "better"),
        (ranged(4, 3.5, 4.5), ranged(2, 1.8, 2.2), 2.0, "worse"),
        (ranged(3, 2.0, 4.0), ranged(2, 1.8, 2.2), 1.5, "same"),
        (ranged(10, 9, 11, lower_is_better=False), ranged(5, 4, 6, lower_is_better=False), 2.0, "better"),
        (Measured(name="a/b", value=1.15, unit="s"), Measured(name="a/b", value=1.0, unit="s"), 1.15, "same"),
        (Measured(name="a/b", value=1.3, unit="s"), Measured(name="a/b", value=1.0, unit="s"), 1.3, "worse"),
    ],
)
def test_ratios_and_verdicts(now: Measured, before: Measured, ratio: float, verdict: Verdict) -> None:
    (found,) = compare(report(now), report(before))
    assert (found.ratio, found.verdict) == (pytest.approx(ratio), verdict)


def test_unmatched_results_zeros_and_other_machines_are_noted() -> None:
    new, gone, now, zero = (
        Measured(name=name, value=value, unit="s")
        for name, value in (("a/new", 1), ("a/gone", 1), ("a/b", 1), ("a/b", 0))
    )
    found = [(each.name, each.verdict, each.ratio) for each in compare(report(new), report(gone))]
    assert found == [("a/new", "new", None), ("a/gone", "gone", None)]
    assert next(compare(report(now), report(zero))).ratio is None
    assert differences(report(processor="New"), report(processor="Old")) == ["machine: processor Old before, New now"]
    assert differences(report(), report()) == []


def test_the_table_marks_changes() -> None:
    table = ratio_table(compare(report(ranged(4, 3.5, 4.5)), report(ranged(2, 1.8, 2.2))))
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["a/b", "4 s", "3.5 s - 4.5 s", "2 s", "2.00", "worse"]


@pytest.mark.parametrize(
    ("unit", "value", "words"),
    [
        ("s", 0.0213, "21.3 ms"),
        ("CPU s", 6.15, "6.15 s"),
        ("s", 150, "2.5 min"),
        ("B", 4.4e8, "0.44 GB"),
        ("B", 30_200, "30.2 kB"),
        ("ratio", 1.304, "1.3"),
    ],
)
def test_values_as_text(unit: str, value: float, words: str) -> None:
    assert value_words(Measured.model_validate({"name": "a/b", "value": value, "unit": unit}), value) == words


ABOUT: dict[str, Any] = {"machine": {"processor": "P"}, "versions": {}, "revision": None, "time": "2026-01-01T00:00:00"}


def test_a_report_round_trips_with_unique_names() -> None:
    repetitions = spread("a/b", [float(value) for value in range(1, 12)], "s")
    assert (repetitions.p10, repetitions.value, repetitions.p90) == (2, 6, 10)
    report = Report(**ABOUT, results=(single("runs/cora", 12.3456789, "s"), repetitions))
    written = report.to_json()
    assert Report.model_validate_json(written) == report
    assert json.loads(written)["schema"] == 1
    assert json.loads(written)["results"][0] == {
        "name": "runs/cora",
        "value": 12.3457,
        "unit": "s",
        "lower_is_better": True,
        "p10": None,
        "p90": None,
        "note": "",
    }
    # A part prints what the collector reads.
    expected = json.loads(json.dumps(document(report.results)))
    assert tuple(Measured.model_validate(each) for each in expected["results"]) == report.results
    with pytest.raises(ValidationError, match="repeated"):
        Report(**ABOUT, results=(repetitions, repetitions))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "no part"},
        {"name": "a/b|c"},
        {"unit": "hours"},
        {"value": float("nan")},
        {"p10": 0.5},
        {"p10": 2.0, "p90": 3.0},
        {"host": "somewhere"},
    ],
)
def test_invalid_results_are_refused(wrong: dict[str, Any]) -> None:
    right = {"name": "a/b", "value": 1.0, "unit": "s"}
    assert Measured.model_validate(right)
    with pytest.raises(ValidationError):
        Measured.model_validate({**right, **wrong})


def test_a_step_is_repeated_for_its_time_at_least_once() -> None:
    calls: list[int] = []
    found = repeated("a/b", lambda: calls.append(1), most=4)
    assert (len(calls), found.unit) == (5, "CPU s")
    calls.clear()
    repeated("a/b", lambda: calls.append(1), most=4, seconds=0)
    assert len(calls) == 2


def speed_page_report(*results: Measured, failed: tuple[Failed, ...] = ()) -> Report:
    machine = {"processor": "EPYC", "cores": 2, "memory_gb": 24.9, "system": "Linux x86_64"}
    about = {"revision": "0123456789abcdef", "time": "2026-11-28T21:00:00+00:00", "versions": {"torch": "2.13.0"}}
    return Report(machine=machine, **about, results=results, failed=failed)


def row(text: str, start: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_aims_and_failed_parts_are_listed(tmp_path: Path) -> None:
    faster = "formulations/cora/times faster than authors"
    written = speed_page_report(
        spread("epochs/cora/gcn/search", [0.020, 0.022, 0.023]),
        single("runs/cora/20 rounds", 200, "s"),
        single(faster, 240, "ratio", lower_is_better=False),
        failed=(Failed(part="start", reason="no browser"),),
    )
    (tmp_path / "report.json").write_text(written.to_json())
    assert write_page(["--report", str(tmp_path / "report.json"), "--out", str(tmp_path / "speed.md")]) == 0
    found = (tmp_path / "speed.md").read_text()
    reached = row(found, "Cora, GCN of 512: search epoch")
    assert reached[1:] == ["at most 24 ms", "22 ms (20.4 ms - 22.8 ms)", "yes"]
    assert row(found, "Cora, 20 rounds of UGS")[1:] == ["at most 2.8 min", "3.3 min", "no"]
    assert row(found, "The same as the authors run it, over ours")[1:] == ["at least 250", "240", "no"]
    assert row(found, "Two seeds side by side over one alone")[3] == "not measured"
    assert "These parts failed when this was measured: start." in found
    assert "EPYC, 2 cores, 24.9 GB of memory, Linux x86_64. torch 2.13.0. Measured on 2026-11-28" in found
    assert "at revision 0123456789ab." in found


def test_epochs_and_floors_have_their_tables() -> None:
    found = page(
        speed_page_report(
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


def test_page_results_form_a_grid() -> None:
    found = page(
        speed_page_report(
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


@pytest.fixture
def visitor() -> Visitor:
    """A session that is not connected."""
    visitor = Visitor("http://localhost:1", random.Random(0))  # noqa: S311
    visitor._page = "runs"
    return visitor


def test_exceptions_and_error_boxes_count_as_errors(visitor: Visitor) -> None:
    failed, missing = ForwardMsg(), ForwardMsg()
    failed.delta.new_element.exception.type, failed.delta.new_element.exception.message = "KeyError", "round"
    visitor._take(failed)
    for shown in (Alert.ERROR, Alert.INFO):
        message = ForwardMsg()
        message.delta.new_element.alert.format, message.delta.new_element.alert.body = shown, f"box {shown}"
        visitor._take(message)
    missing.page_not_found.page_name = "nowhere"
    visitor._take(missing)
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_WITH_COMPILE_ERROR))
    whys = "KeyError: round", f"box {Alert.ERROR}", "page_not_found", "the script could not be compiled"
    assert visitor.errors == [f"runs: {why}" for why in whys]


def test_a_page_waits_for_its_own_finish(visitor: Visitor) -> None:
    visitor._asked = time.perf_counter(), False
    for status in (ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY):
        visitor._take(ForwardMsg(script_finished=status))
        assert not visitor.answers
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY))
    assert [(answer.page, answer.live) for answer in visitor.answers] == [("runs", False)]
    visitor._asked = time.perf_counter(), True
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    assert [answer.live for answer in visitor.answers] == [False, True]


def test_memory_slope_and_time_spread() -> None:
    grows = [{"uss": 100.0, "rss": 0.0}, *({"uss": 100.0 + 3 * k, "rss": 0.0, "minute": float(k)} for k in range(1, 6))]
    assert _slope(grows) == 3.0
    assert _slope(grows[:2]) is None
    assert _spread([1.0, 2.0, 3.0]) == {"count": 3, "p50": 2.0, "p95": 2.9, "most": 3.0}
    assert _spread([]) == {"count": 0}


def test_tracebacks_are_errors_except_closed_tabs() -> None:
    lines = ["Traceback (most recent call last):", '  File "app/main.py", line 1, in main', "    main()"]
    fault = [*lines, "KeyError: 'round'", ""]
    gone = [*lines, "starlette.websockets.WebSocketDisconnected: gone", ""]
    log = "\n".join(["2026 hello", *fault, "2026 words", *gone, "2026 words"])
    assert _failures(log) == (["KeyError: 'round'"], 1)
    assert _failures("all is well\n") == ([], 0)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (None, "runs: no answer within 0 s"),
        (KeyError("frag"), "runs: an answer could not be read: KeyError('frag')"),
        ("closed", "runs: no answer: the connection has ended"),
    ],
)
def test_a_missing_answer_states_why(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, ends: Exception | str | None, expected: str
) -> None:
    async def listen() -> None:
        if ends is None:
            await asyncio.Event().wait()
        if isinstance(ends, Exception):
            raise ends

    async def sent(fragment: str) -> None:
        assert not fragment

    async def ask() -> None:
        visitor._listening = asyncio.create_task(listen())
        await visitor.click()
        visitor._listening.cancel()

    monkeypatch.setattr(visiting, "PATIENCE", 0.05)
    monkeypatch.setattr(visitor, "_ask", sent)
    asyncio.run(ask())
    assert visitor.errors == [expected]
