"""The figure of an edge's scores says which cuts no gradient decided."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.drawing.page import plan
from analysis.figures.base import FigureChoices
from analysis.removal import removal_causes, removal_rounds
from analysis.removal.edges import CAUSES
from glt.datasets import load_graph
from glt.store import Run, bundled_examples


@pytest.fixture(scope="module")
def run() -> Run:
    return next(run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72")


def test_the_caption_names_cuts_without_a_gradient(run: Run) -> None:
    graph, masks = load_graph("cora"), [run.seed(0).edge_mask(number) for number in range(21)]
    causes, rounds = removal_causes(run.config, graph, masks), removal_rounds(masks)
    without = causes == CAUSES.index("no gradient")
    assert without[rounds == 17].mean() == pytest.approx(0.9095, abs=1e-4)
    edge = int(np.flatnonzero((without & (rounds == 17)).any(axis=0))[0])
    drawing = plan("scores", [run], FigureChoices(edge=tuple(graph.edges[:, edge].tolist()), seed=0))
    assert "Cut without a gradient of the training loss" in drawing.caption
    assert "in round 17" in drawing.caption
    cut = drawing.points[drawing.points["cut"] == True]  # noqa: E712 - rounds without the edge have no value
    assert (cut["gradient"] == False).any()  # noqa: E712
    early = int(np.flatnonzero(((rounds > 0) & (rounds < 9)).all(axis=0))[0])
    assert "gradient" not in plan("scores", [run], FigureChoices(edge=tuple(graph.edges[:, early].tolist()))).caption
