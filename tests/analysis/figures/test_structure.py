"""Figures of structure: degrees, layers, scores of an edge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.drawing import screen
from analysis.drawing.page import draw, plan
from analysis.figures.base import FigureChoices
from analysis.figures.degrees import Degrees, degree_curves
from analysis.removal.edges import CAUSES, removal_causes, removal_rounds
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import MAC_CONVENTIONS, RoundRecord, Run, Status, Store, bundled_examples


def test_a_line_is_the_share_of_nodes_with_at_least_so_many_neighbours() -> None:
    # One isolated node, two of degree 1 and one of degree 3.
    figure = screen.draw(degree_curves([Degrees("<i>Original</i>", "dense", np.array([1, 2, 0, 1]))]), dark=True)
    line, _ = figure.data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == pytest.approx([75, 25, 25])
    assert line.name == "&lt;i&gt;Original&lt;/i&gt;"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_graphs_without_edges_draw_an_empty_figure() -> None:
    line, _ = screen.draw(degree_curves([Degrees("Pruned", "ugs", np.array([4]))])).data
    assert len(line.x) == len(line.y) == 0


def test_a_deep_network_is_a_field_of_layers_by_rounds(tmp_path: Path) -> None:
    run = Store(tmp_path).create(RunConfig(rounds=1))
    seed, shapes = run.seed(0), {f"layers.{place}.weight": (4, 5) for place in range(28)}
    seed.make()
    seed.write_status(Status(state="done", seed=0))
    keep = {name: np.arange(20).reshape(4, 5) >= int(name.split(".")[1]) % 20 for name in shapes}
    tensors = {name: np.ones(shape, dtype=np.float32) for name, shape in shapes.items()}
    for number, weights in enumerate((WeightMask.full(shapes), WeightMask(keep))):
        masks = Masks(EdgeMask.full("directed", 3), weights)
        scores = dict.fromkeys(("val", "test", "test_last"), 0.5)
        macs = dict.fromkeys(MAC_CONVENTIONS, 1)
        seed.write_round(RoundRecord.of(number, masks, best_epoch=0, seconds=1.0, macs=macs, **scores), masks, tensors)
    area = draw("layers", [run], FigureChoices()).axes[0]
    (picture,) = area.images
    expected = [0, *(5.0 * (place % 20) for place in range(1, 28))]
    np.testing.assert_allclose(np.asarray(picture.get_array()), np.stack([np.zeros(28), expected], axis=1))
    named = [label.get_text() for label in area.get_yticklabels()]
    assert named[:3] == ["Layer 1", "Layer 5", "Layer 9"]


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
