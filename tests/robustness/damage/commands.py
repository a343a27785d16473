"""Damages of one file of a run, and every command that reads a run folder, run in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from analysis.cli.main import main as analysis_main
from glt.cli.main import main as glt_main
from glt.store import State

STATES = set(get_args(State))


class Outcome(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


# RUN and STORE stand for a run and its store, OUT for a file to write.
CHEAP: dict[str, tuple[str, ...]] = {
    "list": ("glt", "list", "--json", "--store", "STORE"),
    "show": ("glt", "show", "RUN", "--json", "--store", "STORE"),
    "cost": ("glt", "cost", "RUN", "--round", "1", "--json", "--store", "STORE"),
    "table": ("analysis", "table", "tickets", "RUN", "--format", "json", "--store", "STORE"),
    "doctor": ("glt", "doctor", "RUN", "--json", "--store", "STORE"),
}
READERS: dict[str, tuple[str, ...]] = {
    **CHEAP,
    "audit": ("glt", "audit", "RUN", "--round", "1", "--json", "--store", "STORE"),
    "measure": ("analysis", "measure", "RUN", "--round", "1", "--json", "--store", "STORE"),
    "paper": ("analysis", "table", "measurements", "RUN", "--round", "2", "--store", "STORE"),
    "figure": ("analysis", "figure", "training", "RUN", "--round", "1", "--out", "OUT", "--store", "STORE"),
    "scores": ("analysis", "leaders", "RUN", "--json", "--store", "STORE"),
}


def read(name: str, store: Path, run: str) -> Outcome:
    """Run one command over a store, and take what it wrote to a file as its output too."""
    out = store.parent / "out.svg"
    program, *rest = READERS[name]
    words = {"STORE": str(store), "RUN": run, "OUT": str(out)}
    result = run_command(program, [words.get(word, word) for word in rest])
    written = out.read_text() if out.exists() else ""
    out.unlink(missing_ok=True)
    return result._replace(out=(result.out + written).replace(str(store.parent), ""))


def run_command(program: str, arguments: Sequence[str]) -> Outcome:
    """Run one command and return its exit code and output."""
    main = glt_main if program == "glt" else analysis_main
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return Outcome(code, out.getvalue(), err.getvalue())


def complaint(name: str, result: Outcome, expected: Outcome, file: str) -> str:
    """Say what is wrong with a command's output on a store in which `file` is damaged; "" if nothing is.

    It either prints what it printed before, or fails with one sentence that names the file; states of seeds and the
    seconds of rounds may differ.
    """
    failed = result.code != 0
    faults = {
        "it is not a sentence": "Unexpected" in result.err or "Traceback" in result.err,
        "it is more than one sentence": len(result.err.strip().splitlines()) > 1,
        "it does not name the file": bool(result.err) and Path(file).name not in result.err,
        "it says something else": not failed and name != "doctor" and numbers(name, result) != numbers(name, expected),
        "it fails without a message": failed and not result.err and name != "doctor",
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


def numbers(name: str, result: Outcome) -> Any:
    """Return a command's output without states of seeds and seconds."""
    return without(json.loads(result.out)) if name in ("list", "show", "scores") else result.out


def without(value: Any) -> Any:
    """Drop states, seconds and the results version from a JSON document."""
    if isinstance(value, dict) and all(isinstance(each, str) and each in STATES for each in value.values()):
        return sorted(value)
    if isinstance(value, dict):
        return {
            key: without(each)
            for key, each in value.items()
            if key not in ("state", "seconds", "path", "results_version")
        }
    return [without(each) for each in value] if isinstance(value, list) else value


Damage = Callable[[Path], object]
FLIPS = 6


def damages(flips: int = FLIPS) -> dict[str, Damage]:
    """Return every damage by its name; `flips` is how many single bytes are flipped, one at a time."""
    return {
        **{f"cut to {eighth}/8": cut(eighth) for eighth in range(8)},
        **{f"flip {number}": flip(number) for number in range(flips)},
        "noise": lambda path: path.write_bytes(
            np.random.default_rng(list(path.name.encode())).bytes(path.stat().st_size)
        ),
        "folder": in_its_place(Path.mkdir),
        "full folder": in_its_place(lambda path: (path.mkdir(), (path / "something").write_text("else"))),
        "dangling link": in_its_place(lambda path: path.symlink_to(path.with_name("nowhere"))),
        "link to itself": in_its_place(lambda path: path.symlink_to(path.name)),
        # Reading it fails with an input/output error, for root too, as a bad sector does.
        "unreadable": in_its_place(lambda path: path.symlink_to("/proc/self/mem")),
        "removed": Path.unlink,
    }


def cut(eighth: int) -> Damage:
    """Keep so many eighths of the bytes."""
    return lambda path: os.truncate(path, path.stat().st_size * eighth // 8)


def flip(number: int) -> Damage:
    """Change one byte; the first ones lie in the head of the file, the rest anywhere."""

    def flip_byte(path: Path) -> None:
        content = bytearray(path.read_bytes())
        generator = np.random.default_rng([number, *path.name.encode()])
        place = int(generator.integers(min(len(content), 64) if number % 3 == 0 else len(content)))
        content[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(content)

    return flip_byte


def in_its_place(make: Damage) -> Damage:
    """Remove the file and make something else in its place."""

    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace
