from __future__ import annotations

from analysis.drawing import screen
from analysis.figures.training import pretraining_curves
from glt.store import Epoch


def losses(*values: float) -> list[Epoch]:
    return [Epoch(epoch=number, loss=value) for number, value in enumerate(values)]


def test_every_seed_is_a_line_with_its_lowest_epoch_marked() -> None:
    figure = screen.draw(pretraining_curves({0: losses(3.0, 1.0, 2.0), 2: losses(4.0, 3.5), 5: []}))
    lines = [trace for trace in figure.data if trace.mode == "lines" and trace.hovertext]
    assert [(line.name, tuple(line.x), tuple(line.y)) for line in lines] == [
        ("Seed 0", (1, 2, 3), (3.0, 1.0, 2.0)),
        ("Seed 2", (1, 2), (4.0, 3.5)),
    ]
    assert [(tuple(mark.x), tuple(mark.y)) for mark in figure.data if mark.mode == "markers"] == [
        ((2,), (1.0,)),
        ((2,), (3.5,)),
    ]


def test_a_long_one_is_thinned_but_keeps_its_ends_and_its_lowest() -> None:
    epochs = losses(*(abs(number - 4321.0) for number in range(10_000)))
    line, mark = screen.draw(pretraining_curves({0: epochs})).data
    assert len(line.x) == 1000
    assert (line.x[0], line.x[-1]) == (1, 10_000)
    assert (tuple(mark.x), tuple(mark.y)) == ((4322,), (0.0,))
