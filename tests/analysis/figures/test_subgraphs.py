from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from analysis.cli.main import main
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw, on_page, plan
from analysis.figures.base import FigureChoices
from analysis.subgraphs.samplers import Sample
from glt.errors import ConfigError, StoreError
from glt.store import Run

SMALL = Sample(kind="ego", size=40)


def lines(figure: Figure, panel: int) -> list[int]:
    """Count the removed, one-way and two-way edges of a panel."""
    drawn = [c for c in figure.axes[panel].collections if isinstance(c, LineCollection)]
    return [len(collection.get_segments()) for collection in drawn]


def test_panels_hold_the_same_edges_and_the_same_places(make_run: Callable[..., Run]) -> None:
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


def test_what_the_round_itself_removed_is_marked_and_most_changed_is_a_sample(make_run: Callable[..., Run]) -> None:
    changed = FigureChoices(round=2, sample=Sample(kind="changed", size=40), fresh=True)
    drawing = plan("subgraphs", [make_run()], changed)
    figure = on_page(drawing, changed)
    gone, one_way, both, fresh = lines(figure, 1)
    assert f", {fresh} just removed" in figure.axes[1].get_xlabel()
    edges = drawing.points[(drawing.points["kind"] == "edge") & (drawing.points["panel"] != "Original")]
    assert edges["removed_now"].sum() == fresh > 0
    assert (edges["state"] == "removed").sum() == gone + fresh
    assert len(edges) == gone + one_way + both + fresh


def test_named_nodes_are_a_sample(make_run: Callable[..., Run]) -> None:
    run = make_run()
    chosen = FigureChoices(sample=Sample(kind="nodes", size=10, nodes=(0, 5)))
    nodes = plan("subgraphs", [run], chosen).points.query("kind == 'node'")
    assert len(nodes) == 2 * nodes["node"].nunique()
    with pytest.raises(ConfigError, match="at least one node"):
        plan("subgraphs", [run], FigureChoices(sample=Sample(kind="nodes")))


def test_the_last_round_and_the_first_seed_are_taken(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(4, 7), rounds=2)
    figure = draw("subgraphs", [run], FigureChoices(sample=SMALL))
    assert figure.axes[1].get_title() == "UGS, round 2"
    assert lines(figure, 1) == lines(draw("subgraphs", [run], FigureChoices(seed=4, round=2, sample=SMALL)), 1)


def test_width_is_kept_and_bytes_are_equal(make_run: Callable[..., Run]) -> None:
    run = make_run()
    choices = FigureChoices(venue="neurips", sample=SMALL)
    figure = draw("subgraphs", [run], choices)
    assert figure.get_size_inches()[0] == 5.5
    assert figure_bytes(figure, "pdf") == figure_bytes(draw("subgraphs", [run], choices), "pdf")
    assert np.isfinite(figure.get_size_inches()).all()


def test_bad_choices_are_refused(make_run: Callable[..., Run], make_scored: Callable[..., Run]) -> None:
    run = make_run()
    with pytest.raises(ConfigError, match="kind of sample"):
        draw("subgraphs", [run], FigureChoices(sample=Sample(kind="stroll")))
    with pytest.raises(StoreError, match="no round 9"):
        draw("subgraphs", [run], FigureChoices(round=9, sample=SMALL))
    with pytest.raises(ConfigError, match="one graph, not on Cora and Citeseer: choose"):
        draw("subgraphs", [run, make_scored("random", [[0.8]], dataset="citeseer")], FigureChoices(sample=SMALL))


def test_command_line(make_run: Callable[..., Run], tmp_path: Path) -> None:
    out = tmp_path / "pair.svg"
    arguments = ["--round", "2", "--sample", "class", "--class", "3", "--size", "30", "--out", str(out)]
    assert main(["figure", "subgraphs", str(make_run().path), *arguments]) == 0
    assert out.read_text().startswith("<?xml")
