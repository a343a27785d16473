"""What needs torch is computed by a command in a process of its own; here it is run, and its answer or fault read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from glt.store import Run


def line(verb: str, run: Run, number: int, seed: int, *further: str) -> list[str]:
    """Return the arguments of a verb of `python -m glt` on one round of one seed."""
    return [verb, str(run.path), "--round", str(number), "--seed", str(seed), *further]


def shown(arguments: Sequence[str]) -> str:
    """Return the command as people type it."""
    return " ".join(["python -m glt", *arguments])


def answer(arguments: Sequence[str], noun: str, seconds_at_most: int) -> dict[str, Any]:
    """Return the JSON document that a command prints, or {"error": sentence} when it could not be done."""
    try:
        done = _run(arguments, seconds_at_most)
        found: dict[str, Any] = json.loads(done.stdout)
        return found
    except subprocess.TimeoutExpired:
        return {"error": _too_long(noun, seconds_at_most)}
    except json.JSONDecodeError:
        return {"error": _complaint(done, noun)}


def fault(arguments: Sequence[str], noun: str, seconds_at_most: int) -> str | None:
    """Run a command that writes a file; return None, or the sentence that says why it could not."""
    try:
        done = _run(arguments, seconds_at_most)
    except subprocess.TimeoutExpired:
        return _too_long(noun, seconds_at_most)
    return _complaint(done, noun) if done.returncode else None


def _run(arguments: Sequence[str], seconds_at_most: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "glt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds_at_most, check=False)


def _too_long(noun: str, seconds_at_most: int) -> str:
    return f"The {noun} took longer than {seconds_at_most} s: run the command above in a terminal."


def _complaint(done: subprocess.CompletedProcess[str], noun: str) -> str:
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"The {noun} printed nothing."
