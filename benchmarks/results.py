"""Results of benchmarks: measured values, reports, the machine, and timing."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import psutil
from pydantic import BaseModel, ConfigDict, Field, model_validator

from glt.jobs.devices import Settings
from glt.jobs.environment import SOURCES, current_versions, git_state

Unit = Literal["s", "CPU s", "B", "ratio"]
Number = Annotated[float, Field(allow_inf_nan=False)]


class Measured(BaseModel):
    """A value with its unit; `p10` and `p90` for repeated measurements.

    The name is a path that starts with the benchmark's part: "epochs/cora/gcn/search".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(pattern=r"^[^/|<>\n]+(/[^/|<>\n]+)+$")]
    value: Number
    unit: Unit
    lower_is_better: bool = True
    p10: Number | None = None
    p90: Number | None = None
    note: Annotated[str, Field(pattern=r"^[^|<>\n]*$")] = ""

    @model_validator(mode="after")
    def _in_order(self) -> Measured:
        if (self.p10 is None) != (self.p90 is None):
            raise ValueError("p10 and p90 must be given together")
        if self.p10 is not None and self.p90 is not None and not self.p10 <= self.value <= self.p90:
            raise ValueError("the value must lie between p10 and p90")
        return self


class Failed(BaseModel):
    """A part that failed, and the last line of its error output."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    part: str
    reason: str


class Report(BaseModel):
    """Results with machine, versions, revision, time (UTC) and failed parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = Field(1, alias="schema")
    machine: dict[str, str | int | float]
    versions: dict[str, str]
    revision: str | None
    time: str
    results: tuple[Measured, ...]
    failed: tuple[Failed, ...] = ()

    @model_validator(mode="after")
    def _named_once(self) -> Report:
        names = [each.name for each in self.results]
        if len(names) != len(set(names)):
            raise ValueError("a result name is repeated")
        return self

    def by_name(self) -> dict[str, Measured]:
        """Return the results by their names."""
        return {each.name: each for each in self.results}

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"


def spread(
    name: str, values: Sequence[float], unit: Unit = "CPU s", lower_is_better: bool = True, note: str = ""
) -> Measured:
    """Return median, 10th and 90th percentile of repetitions, to four digits."""
    found = np.quantile(np.asarray(values, dtype=np.float64), [0.1, 0.5, 0.9])
    low, middle, high = (float(f"{value:.4g}") for value in found)
    return Measured(name=name, value=middle, unit=unit, lower_is_better=lower_is_better, p10=low, p90=high, note=note)


def single(name: str, value: float, unit: Unit, lower_is_better: bool = True) -> Measured:
    """Return a single measurement."""
    return Measured(name=name, value=float(f"{value:.6g}"), unit=unit, lower_is_better=lower_is_better)


def repeated(
    name: str,
    step: Callable[[], object],
    most: int,
    seconds: float = 5,
    clock: Callable[[], float] = time.process_time,
    untimed: int = 1,
) -> Measured:
    """Run `step` once untimed, then up to `most` times while `seconds` have not passed, and return its times."""
    for _ in range(untimed):
        step()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < most and (not taken or time.perf_counter() - begun < seconds):
        started = clock()
        step()
        taken.append(clock() - started)
    return spread(name, taken, "CPU s" if clock is time.process_time else "s")


def document(results: Iterable[Measured]) -> dict[str, Any]:
    """Return results as a benchmark command prints them."""
    return {"results": [each.model_dump() for each in results]}


# Machine, versions and revision.

EDITED = "+modified"
FURTHER_PACKAGES = ("networkx", "igraph", "pandas", "streamlit")


def machine() -> dict[str, str | int | float]:
    """Return the processor's model, cores, memory and kind of system."""
    return {
        "processor": _processor(),
        "cores": psutil.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of the numerical and drawing packages."""
    return {**current_versions(), **{name: found for name in FURTHER_PACKAGES if (found := _version(name))}}


def revision() -> str | None:
    """Return the commit, marked if the sources were edited since."""
    state = git_state(SOURCES)
    commit: str | None = state["revision"]
    return f"{commit}{EDITED}" if commit and state.get("modified") else commit


def _processor() -> str:
    # platform.processor() is empty on many Linux systems.
    lines = Path("/proc/cpuinfo")
    if lines.is_file():
        for line in lines.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


# Commands and timing.


def command_parser(name: str, description: str) -> ArgumentParser:
    """Return the parser of a benchmark command; its output is JSON with and without `--json`."""
    parser = ArgumentParser(prog=f"python -m benchmarks {name}", description=description)
    parser.add_argument("--json", action="store_true", help="accepted for uniformity")
    return parser


def cpu_seconds(step: Callable[[], object]) -> float:
    """Return the CPU seconds of one run of `step`."""
    started = time.process_time()
    step()
    return time.process_time() - started


# Measurements in a separate process, for their own peak memory.

HERE = "--here"
ROOT = Path(__file__).parents[1]


def in_own_process(name: str, words: Sequence[str], further: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run `python -m benchmarks NAME --here ...` with the settings of a worker and return the JSON it prints."""
    environment = {**Settings().variables(), **os.environ, "OMP_NUM_THREADS": "1", **(further or {})}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks", name, HERE, *words],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def peak_bytes() -> int:
    """Return the peak resident memory of this process in bytes.

    On Linux from VmHWM: getrusage of a child starts with its parent's peak.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
