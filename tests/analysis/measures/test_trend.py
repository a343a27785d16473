from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest

from analysis.drawing import screen
from analysis.figures.trend import trend_curves
from analysis.measures import measure_round, trend_table
from analysis.measures.null_model import DRAWS, random_twins
from glt.errors import ConfigError
from glt.masks import EdgeMask
from glt.store import Run

MakeRun = Callable[..., Run]


def test_a_row_is_the_mean_and_interval_of_a_round_over_seeds(make_run: MakeRun) -> None:
    run = make_run(seeds=(0, 1, 2))
    table = trend_table([run], "average_clustering")
    values = [measure_round(run.seed(seed), 2).sparsified["average_clustering"] for seed in (0, 1, 2)]
    assert table["round"].tolist() == [0, 1, 2]
    assert table["seeds"].tolist() == [3, 3, 3]
    assert table["mean"][2] == pytest.approx(sum(values) / 3)
    # The 97.5 % point of Student's t with two degrees of freedom.
    half = 4.302653 * statistics.stdev(values) / 3**0.5
    assert table["high"][2] - table["mean"][2] == pytest.approx(half, rel=1e-4)
    assert table["mean"][0] == pytest.approx(table["original"][0])
    assert table["original"][0] == pytest.approx(0.240673, abs=1e-6)


def test_one_seed_has_no_interval_and_progress_ends_at_one(make_run: MakeRun) -> None:
    seen: list[float] = []
    table = trend_table([make_run(), make_run("random")], "triangles", on_progress=seen.append)
    assert table["low"].isna().all()
    assert table["label"].unique().tolist() == ["UGS", "Random pruning"]
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_counts_of_the_mask_have_a_trend_too(make_run: MakeRun) -> None:
    run = make_run()
    table = trend_table([run], "entries_kept")
    assert table["mean"].tolist() == pytest.approx([1.0, 0.8, 0.64], abs=1e-3)
    with pytest.raises(ConfigError, match="average_clustering"):
        trend_table([run], "average_clusterin")


def test_the_null_beside_it_is_as_dense_and_drawn_five_times(make_run: MakeRun) -> None:
    made = make_run()
    table = trend_table([made], "triangles", null=True)
    null, run = (table[table["kind"] == kind].set_index("round") for kind in ("null", "run"))
    assert null.index.tolist() == [1, 2]
    assert null["seeds"].tolist() == [DRAWS, DRAWS]
    assert null["kept"][2] == pytest.approx(run["kept"][2])
    assert null["high"][2] > null["mean"][2] > 0
    assert trend_table([made], "triangles", null=True).equals(table)


def test_twins_are_different_draws_of_the_same_number_of_edges() -> None:
    mask = EdgeMask("directed", np.tile([True, False, True, True, False, False], 10))
    twins = random_twins([(3, mask)])
    assert {int(twin.keep.sum()) for twin in twins} == {int(mask.either_way().sum())}
    assert len({twin.keep.tobytes() for twin in twins}) == DRAWS
    assert len(random_twins([(seed, mask) for seed in range(7)])) == 7
    assert random_twins([]) == []


def test_the_figure_has_a_line_a_run_its_null_and_the_original(make_run: MakeRun) -> None:
    runs = [make_run(seeds=(0, 1)), make_run("random", seeds=(0, 1))]
    table = trend_table(runs, "largest_component_share", null=True)
    figure = screen.draw(trend_curves(table, "largest_component_share", "kept"), dark=True)
    names = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert names == ["UGS", "Random pruning", "random, as dense"]
    line = next(trace for trace in figure.data if trace.name == "UGS" and trace.mode == "lines+markers")
    assert line.y[0] == pytest.approx(91.8, abs=0.05)
    assert list(line.x) == sorted(line.x, reverse=True)
    (rule,) = figure.layout.shapes
    assert rule.y0 == pytest.approx(100 * table["original"][0])
    assert "91.8 %" in figure.layout.annotations[0].text
    dotted = [trace for trace in figure.data if trace.mode == "lines" and trace.line.dash == "dot"]
    assert len(dotted) == 3


def test_a_label_in_the_figure_is_escaped(make_run: MakeRun) -> None:
    table = trend_table([make_run()], "triangles").assign(label="<b>x</b>")
    traces = screen.draw(trend_curves(table, "triangles")).data
    assert any(trace.name == "&lt;b&gt;x&lt;/b&gt;" for trace in traces)
    assert not any("<b><b>x" in text for trace in traces for text in trace.hovertext or ())
    assert not any(math.isnan(value) for trace in traces if trace.hovertext for value in trace.y)
