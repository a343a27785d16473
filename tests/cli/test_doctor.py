"""Equal findings of several seeds of a run are one line; others stand each on their own."""

from __future__ import annotations

from pathlib import Path

from glt.cli.doctor import lines_on
from glt.doctor import Examined, Finding, Repaired


def test_equal_findings_of_seeds_are_one_line() -> None:
    run = Path("runs/a")
    same = [Finding(run / f"seed-{seed}" / "init.safetensors", "is missing", "it is made again") for seed in (0, 3)]
    other = Finding(run / "seed-1" / "init.safetensors", "is damaged", "it is made again")
    beside = Finding(run / "figure.png", "is not GLT Studio's", "it stays as it is", is_fault=False)
    found = (*same, other, beside)
    assert list(lines_on(Examined(run, found), Repaired((), found, None))) == [
        "runs/a: init.safetensors of seeds 0, 3 is missing: it is made again.",
        "runs/a/seed-1/init.safetensors is damaged: it is made again.",
        "runs/a/figure.png is not GLT Studio's: it stays as it is.",
    ]
