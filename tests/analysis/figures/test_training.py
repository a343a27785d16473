"""Training curves: stages, thinned lines with all their peaks, pre-training."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.drawing import screen
from analysis.figures.training import MOST_DRAWN, drawn_places, is_thinned, pretraining_curves, training_curves
from analysis.tables.rounds import epochs_table
from glt.store import Epoch, Epochs


def epochs(*stages: tuple[str, int], seed: int = 0) -> Epochs:
    generator = np.random.default_rng(seed)
    count = sum(length for _, length in stages)
    numbers = [np.arange(length, dtype=np.int32) for _, length in stages]
    which = np.repeat(np.arange(len(stages), dtype=np.int32), [length for _, length in stages])
    names = tuple(name for name, _ in stages)
    return Epochs(names, which, np.concatenate(numbers), *(generator.random(count) for _ in range(3)))


def test_the_epoch_table_has_consecutive_stages() -> None:
    given = epochs(("search", 3), ("retrain", 2))
    table = epochs_table(given)
    assert table["stage"].tolist() == ["search"] * 3 + ["retrain"] * 2
    assert table["epoch"].tolist() == [1, 2, 3, 1, 2]
    assert table["at"].tolist() == [1, 2, 3, 4, 5]
    assert table["val"].tolist() == given.val.tolist()
    assert epochs_table(Epochs((), *(np.empty(0, np.int32) for _ in range(5)))).empty


def test_a_repeated_epoch_appears_once_with_its_later_values() -> None:
    first, again = epochs(("search", 4)), epochs(("search", 3), seed=1)
    columns = ("stage", "epoch", "loss", "val", "test")
    joined = (np.concatenate([getattr(first, name), getattr(again, name)]) for name in columns)
    table = epochs_table(Epochs(first.stages, *joined))
    assert sorted(table["epoch"]) == [1, 2, 3, 4]
    assert table.set_index("epoch")["test"].to_dict() == {
        **dict(zip([1, 2, 3], again.test, strict=True)),
        4: first.test[3],
    }


def test_short_stages_are_drawn_completely() -> None:
    table = epochs_table(epochs(("search", 3), ("retrain", 2)))
    figure = screen.draw(training_curves(table, "accuracy"))
    assert not is_thinned(table)
    assert [list(trace.x) for trace in figure.data if trace.hovertext] == [[1, 2, 3]] * 3 + [[4, 5]] * 3
    assert np.allclose(np.concatenate([figure.data[k].y for k in (1, 4)]), 100 * table["val"])
    assert [note.text for note in figure.layout.annotations] == ["search", "retrain"]
    assert [note.x for note in figure.layout.annotations] == [1, 4]


def test_a_long_stage_is_drawn_with_its_ends_and_every_peak() -> None:
    table = epochs_table(epochs(("search", 40_000), ("retrain", 10)))
    table.loc[12_345, ["loss", "val", "test"]] = [9.0, 2.0, -1.0]
    figure = screen.draw(training_curves(table, "accuracy"))
    assert is_thinned(table)
    for trace, column, factor in zip(figure.data, ("loss", "val", "test"), (1, 100, 100), strict=False):
        whole = factor * table[column].iloc[:40_000]
        assert 2 < len(trace.y) <= MOST_DRAWN + 2
        assert (trace.x[0], trace.x[-1]) == (1, 40_000)
        assert (trace.y.min(), trace.y.max()) == (whole.min(), whole.max())
        assert np.array_equal(trace.y, whole.iloc[np.asarray(trace.x) - 1])
        assert (np.diff(trace.x) > 0).all()
    assert 12_346 in figure.data[0].x


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 100, 101, 997])
def test_every_stretch_keeps_its_lowest_and_highest_value(rows: int) -> None:
    values = np.random.default_rng(rows).random((rows, 2))
    places = drawn_places(values, 40)
    assert places[0] == 0
    assert places[-1] == rows - 1
    width = -(-rows // 10) if rows > 40 else 1
    for begin in range(0, rows, width):
        stretch = values[begin : begin + width]
        for column in range(2):
            assert {begin + stretch[:, column].argmin(), begin + stretch[:, column].argmax()} <= set(places.tolist())


def test_missing_values_hide_no_peak() -> None:
    values = np.full((1000, 1), np.nan)
    values[[10, 500]] = [[1.0], [3.0]]
    assert {0, 10, 500, 999} <= set(drawn_places(values, 20).tolist())
    assert isinstance(screen.draw(training_curves(epochs_table(epochs(("a", 2))), "accuracy")).to_json(), str)


@pytest.mark.parametrize(
    ("losses", "kind"),
    [
        ([2.0, 1.0, 0.001, 0.0001], None),
        ([2.0, 1.0, 90.0, 1.0], None),
        ([2.0, 1.0, 110.0, 1.0], "log"),
        ([2.0, 1e6, 1e7, 1e8], "log"),
        ([4000.0, 1.0, 1.0, 1.0], "log"),
        ([0.0, 1.0, 1e6, 1.0], None),
        ([2.0, math.nan, math.inf, 1.0], None),
        ([math.nan] * 4, None),
    ],
)
def test_a_jumping_loss_does_not_flatten_the_others(losses: list[float], kind: str | None) -> None:
    table = epochs_table(epochs(("search", 4)))
    table["loss"] = losses
    axis = screen.draw(training_curves(table, "accuracy")).layout.yaxis2
    assert axis.type == kind
    assert axis.title.text == ("Loss (log scale)" if kind else "Loss")


def test_a_logarithmic_axis_has_a_handful_of_ticks() -> None:
    table = epochs_table(epochs(("search", 3)))
    table["loss"] = [1.0, 1e12, 1.0]
    assert screen.draw(training_curves(table, "accuracy")).layout.yaxis2.dtick == 3


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


def test_a_long_pretraining_is_thinned_with_ends_and_minimum() -> None:
    epochs = losses(*(abs(number - 4321.0) for number in range(10_000)))
    line, mark = screen.draw(pretraining_curves({0: epochs})).data
    assert len(line.x) == 1000
    assert (line.x[0], line.x[-1]) == (1, 10_000)
    assert (tuple(mark.x), tuple(mark.y)) == ((4322,), (0.0,))
