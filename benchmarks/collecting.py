"""Every part in turn, one report of all, and its ratios to the saved baseline: `python -m benchmarks all`.

A part that fails or takes too long is named at the end and loses nothing of the others. What is measured is in the file
after every part. `--quick` takes a minute or two, the usual set 25 on two quiet cores, `--full` hours.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.app_parts import as_results
from benchmarks.comparing import compare, differences
from benchmarks.machine import machine, revision, versions
from benchmarks.own_process import ROOT
from benchmarks.parts import PARTS, Part
from benchmarks.ratio_table import ratio_table, results_table
from benchmarks.results import Failed, Measured, Report
from glt.errors import ConfigError, DataError
from glt.user_path import user_path

HERE = Path(__file__).parent
BASELINE, LATEST = HERE / "baseline.json", HERE / "latest.json"
FOLDERS = re.compile(r"(?:/[\w.+-]+){2,}")


class _PartError(Exception):
    """A part gave no results; the text says why."""


def collect(words: Sequence[str]) -> int:
    """Measure as the command line says, write the report and print it; return 1 when a part failed."""
    options = _options(words)
    console = Console(stderr=True)
    report = measured(options, console)
    out = Console()
    before = read_report(BASELINE) if BASELINE.is_file() else None
    out.print(results_table(report) if before is None else ratio_table(compare(report, before)))
    for sentence in differences(report, before) if before else ():
        out.print(sentence, markup=False)
    for failed in report.failed:
        out.print(f"{failed.part} gave nothing: {failed.reason}", markup=False)
    if options.save_baseline:
        _save_baseline(report, options)
    return 1 if report.failed else 0


def _options(words: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks all", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="what takes a minute or two")
    size.add_argument("--full", action="store_true", help="whole runs and every network on every graph (hours)")
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS], help="these parts alone")
    parser.add_argument(
        "--out", type=user_path, default=LATEST, help="file of the report (default: benchmarks/latest.json)"
    )
    parser.add_argument("--save-baseline", action="store_true", help="later reports are compared with this one")
    parser.add_argument("--json", action="store_true", help="print the report too, as JSON, and nothing else")
    return parser.parse_args(words)


def measured(options: Namespace, console: Console) -> Report:
    """Run the chosen parts, writing the report after each."""
    size = "full" if options.full else "quick" if options.quick else "usual"
    report = _empty()
    for part in PARTS:
        words = part.words(size)
        if words is None or (options.only and part.name not in options.only):
            continue
        begun = time.perf_counter()
        console.print(f"{part.name} ...", highlight=False)
        report = added(report, part, words)
        options.out.write_text(report.to_json(), encoding="utf-8")
        console.print(f"{part.name}: {time.perf_counter() - begun:.0f} s", highlight=False)
    return report


def _empty() -> Report:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Report(machine=machine(), versions=versions(), revision=revision(), time=now, results=())


def added(report: Report, part: Part, words: Sequence[str]) -> Report:
    """Run a part in a process of its own and return the report with what it gave, or with the reason it failed."""
    try:
        found = _results(part, words)
    except _PartError as error:
        reason = FOLDERS.sub("...", str(error))
        return report.model_copy(update={"failed": (*report.failed, Failed(part=part.name, reason=reason))})
    return report.model_copy(update={"results": (*report.results, *found)})


def _results(part: Part, words: Sequence[str]) -> list[Measured]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT, timeout=part.seconds
        )
    except subprocess.TimeoutExpired:
        raise _PartError(f"it was stopped after {part.seconds} s") from None
    if done.returncode:
        raise _PartError(last_line(done.stderr) or f"exit code {done.returncode}")
    return read_results(part.name, done.stdout)


def read_results(name: str, printed: str) -> list[Measured]:
    """Read what a part printed: results, or a document of the app's benchmarks; raises _PartError for anything else."""
    try:
        found: dict[str, Any] = json.loads(printed)
        if "results" in found:
            return [Measured.model_validate(each) for each in found["results"]]
        return as_results(name, found)
    except (ValueError, AttributeError, TypeError) as error:
        raise _PartError(f"what it printed cannot be read ({last_line(str(error))})") from None


def last_line(text: str) -> str:
    """Return the last line of a text that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def read_report(path: Path) -> Report:
    """Read a report; raises DataError for a file that is none."""
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no report of the benchmarks ({last_line(str(error))}): measure again.") from None


def _save_baseline(report: Report, options: Namespace) -> None:
    if options.quick or options.only:
        raise ConfigError("A baseline needs every part: leave --quick and --only out.")
    BASELINE.write_text(report.to_json(), encoding="utf-8")
