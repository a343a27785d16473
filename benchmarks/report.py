"""All benchmarks in turn, one report, and its ratios to the saved baseline: `python -m benchmarks all`.

The report is written after every part, so a part that fails or times out loses nothing. `--quick` takes a minute or
two, the usual set 25 minutes on two quiet cores, `--full` hours.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Column, Table

from benchmarks.parts import PARTS, Part, as_results
from benchmarks.results import ROOT, Failed, Measured, Report, command_parser, machine, revision, versions
from glt.errors import ConfigError, DataError
from glt.formats import MISSING
from glt.user_path import user_path

Verdict = Literal["better", "worse", "same", "new", "gone"]
# A single measurement is assumed to vary by 10 % either way.
NOISE_OF_ONE = 0.1


@dataclass(frozen=True)
class Compared:
    """A value now and in the baseline, their ratio, and a verdict.

    The verdict is "same" if the ranges p10 to p90 overlap.
    """

    name: str
    now: Measured | None
    before: Measured | None
    ratio: float | None
    verdict: Verdict


def compare(now: Report, before: Report) -> Iterator[Compared]:
    """Yield every result of either report, in the order of the new one first."""
    known = before.by_name()
    for result in now.results:
        yield _compared(result, known.pop(result.name, None))
    for result in known.values():
        yield Compared(result.name, None, result, None, "gone")


def _compared(now: Measured, before: Measured | None) -> Compared:
    if before is None:
        return Compared(now.name, now, None, None, "new")
    ratio = now.value / before.value if before.value else None
    (low, high), (low_before, high_before) = limits(now), limits(before)
    if low <= high_before and high >= low_before:
        return Compared(now.name, now, before, ratio, "same")
    lower = high < low_before
    return Compared(now.name, now, before, ratio, "better" if lower == now.lower_is_better else "worse")


def limits(result: Measured) -> tuple[float, float]:
    """Return p10 and p90, or the assumed range of a single measurement.

    >>> limits(Measured(name="a/b", value=10, unit="s"))
    (9.0, 11.0)
    """
    if result.p10 is None or result.p90 is None:
        margin = NOISE_OF_ONE * abs(result.value)
        return result.value - margin, result.value + margin
    return result.p10, result.p90


def differences(now: Report, before: Report) -> list[str]:
    """Return one line per difference in machine or package versions."""
    lines = []
    for what, new, old in (("machine", now.machine, before.machine), ("versions", now.versions, before.versions)):
        names = sorted(key for key in {*new, *old} if new.get(key) != old.get(key))
        lines += [f"{what}: {key} {old.get(key, 'none')} before, {new.get(key, 'none')} now" for key in names]
    return lines


# Tables for the terminal.

GIGABYTE, MEGABYTE, KILOBYTE = 1e9, 1e6, 1e3
STYLES = {"better": "green", "worse": "red", "same": "dim", "new": "", "gone": "dim"}


def results_table(report: Report) -> Table:
    """Return the results as a table, without a baseline."""
    table = Table(
        Column("measured", overflow="fold"), *(Column(name, justify="right") for name in ("value", "p10-p90"))
    )
    for result in report.results:
        table.add_row(result.name, value_words(result, result.value), range_words(result))
    return table


def ratio_table(rows: Iterable[Compared]) -> Table:
    """Return a table of values now and in the baseline, with their ratio and verdict."""
    right = [Column(name, justify="right") for name in ("now", "p10-p90", "baseline", "ratio")]
    table = Table(Column("measured", overflow="fold"), *right, "")
    for row in rows:
        now, before = (MISSING if each is None else value_words(each, each.value) for each in (row.now, row.before))
        ratio = MISSING if row.ratio is None else f"{row.ratio:.2f}"
        spread = MISSING if row.now is None else range_words(row.now)
        mark = "" if row.verdict == "same" else row.verdict
        table.add_row(row.name, now, spread, before, ratio, mark, style=STYLES[row.verdict])
    return table


def value_words(result: Measured, value: float) -> str:
    """Return a value of a result as text, in a readable unit.

    >>> value_words(Measured(name="a/b", value=0.0241, unit="CPU s"), 0.0241)
    '24.1 ms'
    """
    if result.unit == "ratio":
        return f"{value:.3g}"
    if result.unit == "B":
        return _bytes(value)
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def _bytes(value: float) -> str:
    if value >= 0.1 * GIGABYTE:
        return f"{value / GIGABYTE:.2f} GB"
    return f"{value / MEGABYTE:.3g} MB" if value >= 0.1 * MEGABYTE else f"{value / KILOBYTE:.3g} kB"


def range_words(result: Measured) -> str:
    """Return p10 and p90 as text, a dash for a single measurement.

    >>> range_words(Measured(name="a/b", value=2, unit="s", p10=1.5, p90=2.5))
    '1.5 s - 2.5 s'
    """
    if result.p10 is None or result.p90 is None:
        return MISSING
    return f"{value_words(result, result.p10)} - {value_words(result, result.p90)}"


# Running the parts.

HERE = Path(__file__).parent
BASELINE, LATEST = HERE / "baseline.json", HERE / "latest.json"
FOLDERS = re.compile(r"(?:/[\w.+-]+){2,}")


class _PartError(Exception):
    """A part gave no results; the message says why."""


def collect(words: Sequence[str]) -> int:
    """Run the parts, write and print the report; return 1 if a part failed."""
    options = _options(words)
    console = Console(stderr=True)
    report = measured(options, console)
    out = Console()
    before = read_report(BASELINE) if BASELINE.is_file() else None
    out.print(results_table(report) if before is None else ratio_table(compare(report, before)))
    for sentence in differences(report, before) if before else ():
        out.print(sentence, markup=False)
    for failed in report.failed:
        out.print(f"{failed.part} failed: {failed.reason}", markup=False)
    if options.save_baseline:
        _save_baseline(report, options)
    return 1 if report.failed else 0


def _options(words: Sequence[str]) -> Namespace:
    parser = command_parser("all", "Run all benchmarks, write a report and compare it with the baseline.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a minute or two instead of 25 minutes")
    size.add_argument("--full", action="store_true", help="whole runs, every network on every graph (hours)")
    parser.add_argument("--only", nargs="+", choices=[part.name for part in PARTS], help="run only these parts")
    parser.add_argument(
        "--out", type=user_path, default=LATEST, help="file of the report (default: benchmarks/latest.json)"
    )
    parser.add_argument("--save-baseline", action="store_true", help="keep this report as the baseline of later ones")
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
    """Run a part in a separate process; return the report with its results or failure."""
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
        raise _PartError(f"stopped after {part.seconds} s") from None
    if done.returncode:
        raise _PartError(last_line(done.stderr) or f"exit code {done.returncode}")
    return read_results(part.name, done.stdout)


def read_results(name: str, printed: str) -> list[Measured]:
    """Read the JSON that a part printed; raise _PartError if it is invalid."""
    try:
        found: dict[str, Any] = json.loads(printed)
        if "results" in found:
            return [Measured.model_validate(each) for each in found["results"]]
        return as_results(name, found)
    except (ValueError, AttributeError, TypeError) as error:
        raise _PartError(f"its output cannot be read ({last_line(str(error))})") from None


def last_line(text: str) -> str:
    """Return the last non-empty line of a text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def read_report(path: Path) -> Report:
    """Read a report; raise DataError for any other file."""
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a benchmark report ({last_line(str(error))}): measure again.") from None


def _save_baseline(report: Report, options: Namespace) -> None:
    if options.quick or options.only:
        raise ConfigError("A baseline needs every part: omit --quick and --only.")
    BASELINE.write_text(report.to_json(), encoding="utf-8")
