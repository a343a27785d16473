"""What runs are called where one is chosen: what tells them apart stands where a select box does not cut it."""

from __future__ import annotations

from collections.abc import Callable

from app.components import run_select
from glt.store import Run


def test_what_tells_runs_apart_stands_first_and_alike_for_all_methods(make_run: Callable[..., Run]) -> None:
    runs = [make_run(name, hidden=h, epochs=10 * h) for name in ("ugs", "admm") for h in (16, 32)]
    assert [run_select.run_words(runs)[run.name] for run in runs] == [
        "UGS, hidden = 16 · Cora GCN",
        "UGS, hidden = 32 · Cora GCN",
        "ADMM, hidden = 16 · Cora GCN",
        "ADMM, hidden = 32 · Cora GCN",
    ]
