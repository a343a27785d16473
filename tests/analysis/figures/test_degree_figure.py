from __future__ import annotations

import numpy as np
import pytest

from analysis.drawing import screen
from analysis.figures.degrees import Degrees, degree_curves


def test_a_line_is_the_share_of_nodes_with_at_least_so_many_neighbours() -> None:
    # One isolated node, two of degree 1 and one of degree 3.
    figure = screen.draw(degree_curves([Degrees("<i>Original</i>", "dense", np.array([1, 2, 0, 1]))]), dark=True)
    line, _ = figure.data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == pytest.approx([75, 25, 25])
    assert line.name == "&lt;i&gt;Original&lt;/i&gt;"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_graphs_without_edges_draw_nothing_and_break_nothing() -> None:
    line, _ = screen.draw(degree_curves([Degrees("Pruned", "ugs", np.array([4]))])).data
    assert len(line.x) == len(line.y) == 0
