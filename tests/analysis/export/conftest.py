"""Bundled runs that every figure has something to show of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from glt.store import Run, bundled_examples

COMPARED = ("cora-node-gcn-ugs-5840f40e", "cora-node-gin-ugs-bd58203c")
SWEEP = ("cora-node-gcn-ugs-5840f40e", "cora-node-gcn-ugs-df8e8f72")


@pytest.fixture(scope="session")
def runs_for() -> Callable[[str], Sequence[Run]]:
    """Return two runs of one seed on one graph, for an ablation two that differ in a setting."""
    examples = {run.name: run for run in bundled_examples()}

    def runs_for(name: str) -> Sequence[Run]:
        return [examples[each] for each in (SWEEP if name == "ablation" else COMPARED)]

    return runs_for
