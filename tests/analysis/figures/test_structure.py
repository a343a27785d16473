"""Figures of structure: degrees, layers, scores of an edge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from analysis.drawing import screen
from analysis.drawing.page import draw, on_page, plan
from analysis.figures.base import FigureChoices
from analysis.figures.degrees import Degrees, degree_curves
from analysis.removal.edges import CAUSES, removal_causes, removal_rounds
from analysis.subgraphs.samplers import Sample
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.errors import ConfigError, StoreError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import MAC_CONVENTIONS, RoundRecord, Run, Status, Store, bundled_examples


def test_degree_lines_are_complementary_cumulative_shares() -> None:
    # One isolated node, two of degree 1 and one of degree 3.
    figure = screen.draw(degree_curves([Degrees("<i>Original</i>", "dense", np.array([1, 2, 0, 1]))]), dark=True)
    line, _ = figure.data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == pytest.approx([75, 25, 25])
    assert line.name == "&lt;i&gt;Original&lt;/i&gt;"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_graphs_without_edges_give_an_empty_figure() -> None:
    line, _ = screen.draw(degree_curves([Degrees("Pruned", "ugs", np.array([4]))])).data
    assert len(line.x) == len(line.y) == 0


def test_a_deep_network_is_a_heat_map_of_layers_and_rounds(tmp_path: Path) -> None:
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


def test_the_caption_names_removals_without_gradient(run: Run) -> None:
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


SMALL = Sample(kind="ego", size=40)


def lines(figure: Figure, panel: int) -> list[int]:
    """Count the removed, one-way and two-way edges of a panel."""
    drawn = [c for c in figure.axes[panel].collections if isinstance(c, LineCollection)]
    return [len(collection.get_segments()) for collection in drawn]


def test_panels_share_edges_and_positions(make_run: Callable[..., Run]) -> None:
    runs = [make_run("ugs"), make_run("admm", edge_mask="undirected")]
    figure = draw("subgraphs", runs, FigureChoices(columns=2, round=2, sample=SMALL))
    original, ugs, admm = (lines(figure, panel) for panel in range(3))
    assert original[:2] == [0, 0]
    assert sum(original) == sum(ugs) == sum(admm) > 0
    assert min(ugs) > 0
    assert admm[0] > 0
    assert admm[1] == 0
    titles = [area.get_title() for area in figure.axes if area.get_visible()]
    assert titles == ["Original", "UGS (edge_mask = directed), round 2", "ADMM (edge_mask = undirected), round 2"]
    bounds = [area.dataLim.bounds for area in figure.axes[:3]]
    assert bounds[1] == pytest.approx(bounds[0])


def test_counts_are_under_each_panel(make_run: Callable[..., Run]) -> None:
    figure = draw("subgraphs", [make_run()], FigureChoices(round=2, sample=SMALL))
    gone, one_way, both = lines(figure, 1)
    total = gone + one_way + both
    assert figure.axes[1].get_xlabel() == f"{one_way + both} of {total} edges, {both} both ways"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"Kept", "Kept one way", "Removed"} <= set(labels)


def test_edges_removed_by_the_round_are_marked(make_run: Callable[..., Run]) -> None:
    changed = FigureChoices(round=2, sample=Sample(kind="changed", size=40), fresh=True)
    drawing = plan("subgraphs", [make_run()], changed)
    figure = on_page(drawing, changed)
    gone, one_way, both, fresh = lines(figure, 1)
    assert f", {fresh} just removed" in figure.axes[1].get_xlabel()
    edges = drawing.points[(drawing.points["kind"] == "edge") & (drawing.points["panel"] != "Original")]
    assert edges["removed_now"].sum() == fresh > 0
    assert (edges["state"] == "removed").sum() == gone + fresh
    assert len(edges) == gone + one_way + both + fresh


def test_removed_edges_are_drawn_by_cause() -> None:
    run = next(run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72")
    chosen = FigureChoices(round=17, sample=SMALL, causes=True)
    drawing = plan("subgraphs", [run], chosen)
    edges = drawing.points[(drawing.points["kind"] == "edge") & (drawing.points["panel"] != "Original")]
    counts = edges["cause"].value_counts().to_dict()
    assert set(counts) <= {"gradient", "no gradient"}
    assert sum(counts.values()) == (edges["state"] == "removed").sum() > 0
    figure = on_page(drawing, chosen)
    assert lines(figure, 1)[1:3] == [counts.get("gradient", 0), counts.get("no gradient", 0)]
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {f"Removed: {cause}" for cause in counts} <= labels
    assert "Removed" not in labels


def test_named_nodes_are_a_sample(make_run: Callable[..., Run]) -> None:
    run = make_run()
    chosen = FigureChoices(sample=Sample(kind="nodes", size=10, nodes=(0, 5)))
    nodes = plan("subgraphs", [run], chosen).points.query("kind == 'node'")
    assert len(nodes) == 2 * nodes["node"].nunique()
    with pytest.raises(ConfigError, match="at least one node"):
        plan("subgraphs", [run], FigureChoices(sample=Sample(kind="nodes")))


def test_defaults_are_the_last_round_and_first_seed(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(4, 7), rounds=2)
    figure = draw("subgraphs", [run], FigureChoices(sample=SMALL))
    assert figure.axes[1].get_title() == "UGS, round 2"
    assert lines(figure, 1) == lines(draw("subgraphs", [run], FigureChoices(seed=4, round=2, sample=SMALL)), 1)


def test_bad_choices_are_refused(make_run: Callable[..., Run], make_scored: Callable[..., Run]) -> None:
    run = make_run()
    with pytest.raises(ConfigError, match="kind of sample"):
        draw("subgraphs", [run], FigureChoices(sample=Sample(kind="stroll")))
    example = bundled_examples()[0]
    with pytest.raises(StoreError, match=r"There is no round 99 in .*: choose a round from 0 to"):
        plan("scores", [example], FigureChoices(round=99))
    with pytest.raises(StoreError, match="no round 9"):
        draw("subgraphs", [run], FigureChoices(round=9, sample=SMALL))
    with pytest.raises(ConfigError, match="one graph, not on Cora and Citeseer: choose"):
        draw("subgraphs", [run, make_scored("random", [[0.8]], dataset="citeseer")], FigureChoices(sample=SMALL))
