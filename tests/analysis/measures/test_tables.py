"""Tables and trends of measurements, and explanations of measures."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import published
from analysis.cli.main import main
from analysis.drawing import screen
from analysis.figures.trend import trend_curves
from analysis.measures import descriptions
from analysis.measures.cache import MeasureCache
from analysis.measures.compute import MeasuredRound, measure, measure_mask, measure_round
from analysis.measures.descriptions import explanation, explanations
from analysis.measures.graph import MeasuredGraph
from analysis.measures.networkx_engine import DEFINITIONS
from analysis.measures.null_model import DRAWS, random_survivors, random_twins
from analysis.measures.tables import measurement_table, trend_table
from glt import formats
from glt.datasets import load_graph
from glt.errors import ConfigError, DataError, StoreError
from glt.masks import EdgeMask
from glt.store import Run, Store
from tests.conftest import imported_by


def test_rows_are_the_original_and_then_each_run_with_mean_and_spread(make_run: Callable[..., Run]) -> None:
    ugs, random = make_run("ugs", seeds=(0, 1)), make_run("random", seeds=(3,))
    table = measurement_table([ugs, random], 2)
    assert table["label"].tolist() == ["Original", "UGS", "Random pruning"]
    assert table["seeds"].tolist() == [1, 2, 1]
    assert table["rounds"].tolist() == [(), (2,), (2,)]
    values = [measure_round(ugs.seed(seed), 2).sparsified["average_clustering"] for seed in (0, 1)]
    assert table["average_clustering"][1] == pytest.approx(sum(values) / 2)
    assert table["average_clustering_spread"][1] == pytest.approx(abs(values[0] - values[1]) / math.sqrt(2))
    assert math.isnan(table["average_clustering_spread"][2])
    assert table["edges"][0] == 5278
    assert table["edges_kept_both_ways"][1] < table["edges_kept_either_way"][1] < 1


def test_printed_values_have_columns(make_run: Callable[..., Run]) -> None:
    # Three rounds of a fifth each leave 51.2 %, about what the paper's thirteen do.
    ats = [3, 1]
    table = measurement_table([make_run("ugs", rounds=3)], ats, published=published.measurements("cora"))
    assert table["average_clustering_published"].fillna(-1).tolist() == [0.24067, 0.15855, -1]
    assert table["average_clustering"][0] == pytest.approx(0.24067, abs=5e-6)
    assert "reach_published" not in table


def test_the_null_row_has_equal_edges_and_is_reproducible(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(0, 1))
    first = measurement_table([run], 2, null=True)
    assert first["kind"].tolist() == ["original", "run", "null"]
    assert first["edges"][1] == first["edges"][2]
    assert first["triangles"][1] != first["triangles"][2]
    assert measurement_table([run], 2, null=True).equals(first)
    assert first["seeds"].tolist() == [1, 2, 6], "drawn several times whatever the number of seeds"
    assert first["triangles_spread"][2] > 0


def test_several_rounds_have_a_row_each(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run(rounds=3), make_run("random", rounds=3)], [1, 3])
    assert table["label"].tolist()[1:] == [
        "UGS, round 1",
        "UGS, round 3",
        "Random pruning, round 1",
        "Random pruning, round 3",
    ]
    assert table["entries_kept"].tolist()[1:3] == pytest.approx([0.8, 0.512], abs=1e-3)


def test_slow_measures_are_optional(make_run: Callable[..., Run]) -> None:
    run = make_run()
    assert "mean_effective_resistance" not in measurement_table([run], 1)
    with_slow = measurement_table([run], 1, slow=True)
    assert with_slow["mean_effective_resistance"][0] == pytest.approx(1.606, abs=1e-3)


def test_node_rankings_are_compared_with_the_original(make_run: Callable[..., Run]) -> None:
    before, after = measure_round(make_run(rounds=3).seed(0), 3)
    assert before["pagerank_spearman"] == before["degree_spearman"] == 1
    assert 0.5 < after["pagerank_spearman"] < 0.95


def test_measures_of_one_family_are_computed_together(tmp_path: Path) -> None:
    graph, cache = MeasuredGraph.of(load_graph("cora")), MeasureCache(tmp_path)
    assert set(measure(graph, cache, names=["average_path_length"])) == {"average_path_length"}
    assert set(cache.get(graph.content_hash)) == {
        "average_path_length@1",
        "mean_node_betweenness@1",
        "mean_edge_betweenness@1",
    }
    with pytest.raises(ConfigError, match="reach"):
        measure(graph, cache, names=["reech"])


def test_unfinished_rounds_are_left_out(make_run: Callable[..., Run]) -> None:
    run = make_run(seeds=(0, 1, 2), rounds=2)
    unfinished = measurement_table([run], 7)
    assert unfinished["seeds"].tolist() == [1, 0]
    assert math.isnan(unfinished["average_clustering"][1])


def test_progress_reaches_one_in_even_steps(make_run: Callable[..., Run]) -> None:
    seen: list[float] = []
    measurement_table([make_run(seeds=(0, 1, 2))], 1, on_progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_bad_choices_are_refused(make_run: Callable[..., Run]) -> None:
    with pytest.raises(ConfigError, match="one graph, not on none"):
        measurement_table([], 0)
    with pytest.raises(StoreError, match="no round 9"):
        measure_round(make_run().seed(0), 9)
    with pytest.raises(DataError, match="another version of the data"):
        measure_mask(load_graph("cora"), EdgeMask.full("directed", 7))
    with pytest.raises(ConfigError, match="cannot be kept"):
        random_survivors(3, 4, seed=0)


def test_every_value_has_text(make_run: Callable[..., Run]) -> None:
    measured: MeasuredRound = measure_round(make_run().seed(0), 1)
    for name, value in measured.sparsified.items():
        assert descriptions.label(name)
        assert descriptions.value(name, value) != formats.MISSING


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


def test_the_null_trend_uses_five_draws_of_equal_density(make_run: MakeRun) -> None:
    made = make_run()
    table = trend_table([made], "triangles", null=True)
    null, run = (table[table["kind"] == kind].set_index("round") for kind in ("null", "run"))
    assert null.index.tolist() == [1, 2]
    assert null["seeds"].tolist() == [DRAWS, DRAWS]
    assert null["kept"][2] == pytest.approx(run["kept"][2])
    assert null["high"][2] > null["mean"][2] > 0
    assert trend_table([made], "triangles", null=True).equals(table)


def test_random_graphs_are_distinct_draws_with_equal_edges() -> None:
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


Capture = pytest.CaptureFixture[str]


def test_every_measure_has_definition_caveat_and_cost(make_run: Callable[..., Run]) -> None:
    printed = {each.name: each for each in explanations()}
    assert printed.keys() == measure_round(make_run().seed(0), 1, slow=True).sparsified.keys()
    assert [each.name for each in printed.values() if not (each.definition and each.reading and each.cost)] == []
    words = " ".join(each.definition + each.reading for each in printed.values())
    assert "`" not in words
    assert "NaN" not in words


def test_labels_state_the_largest_component() -> None:
    only = [each for each in explanations() if "largest component" in each.definition.lower()]
    only = [each for each in only if each.name != "largest_component_share"]
    assert {each.name for each in only} >= {"bridge_share", "algebraic_connectivity", "mean_effective_resistance"}
    assert {each.name for each in only if "(largest component)" not in each.label} == set()


def test_explanations_name_measures_by_label() -> None:
    assert "\N{LEFT DOUBLE QUOTATION MARK}Clustering, degree 2 and more" in explanation("average_clustering").reading


def test_the_command_explains_without_a_run(capsys: Capture) -> None:
    assert main(["measure", "--explain"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for each in explanations():
        assert (
            f"{each.label} ({each.name}) {each.definition} Reading it: {each.reading} {each.cost} {each.engine}"
            in printed
        )


NAMES_OF_THE_DESIGN = {
    "average_clustering",
    "mean_node_betweenness",
    "mean_edge_betweenness",
    "nodes",
    "edges",
    "isolated_nodes",
    "components",
    "largest_component_share",
    "average_path_length",
    "reach",
    "edge_homophily",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))


def test_measure_json_holds_both_graphs(make_run: MakeRun, store: Store, capsys: Capture) -> None:
    run = make_run(seeds=(4, 7))
    assert main(["measure", run.name, "--store", str(store.root), "--round", "0", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["run"], document["seed"], document["round"]) == (run.name, 4, 0)
    for part in ("original", "sparsified"):
        assert document[part].keys() >= NAMES_OF_THE_DESIGN
        assert round(document[part]["average_clustering"], 6) == 0.240673
        assert round(document[part]["mean_node_betweenness"], 7) == 0.0016528
        assert round(document[part]["mean_edge_betweenness"], 7) == 0.0010069
    assert captured.err == ""


def test_seeds_and_paths_select_the_measured_round(make_run: MakeRun, capsys: Capture) -> None:
    run = make_run(seeds=(4, 7))
    assert main(["measure", str(run.path), "--seed", "7", "--round", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["seed"] == 7
    assert document["sparsified"]["edges"] < document["original"]["edges"] == 5278
    assert document["sparsified"]["graph_sparsity"] == pytest.approx(0.36, abs=1e-3)


def test_measure_json_has_newer_and_slow_measures(make_run: MakeRun, capsys: Capture) -> None:
    path = str(make_run().path)
    assert main(["measure", path, "--round", "2", "--json"]) == 0
    usual = json.loads(capsys.readouterr().out)["sparsified"]
    assert {"entries_kept", "pagerank_spearman", "algebraic_connectivity", "bridge_share"} <= usual.keys()
    assert main(["measure", path, "--round", "2", "--json", "--all"]) == 0
    everything = json.loads(capsys.readouterr().out)["sparsified"]
    assert everything.keys() - usual.keys() == {"mean_effective_resistance"}


def test_the_networkx_option_reports_differences(
    make_run: MakeRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Paths from all of Cora's nodes take NetworkX half a minute; the rest goes the same way.
    for name in ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness"):
        monkeypatch.delitem(DEFINITIONS, name)
    path = str(make_run().path)
    assert main(["measure", path, "--round", "2", "--engine", "networkx", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "networkx"
    assert document["differences"]["sparsified"].keys() == DEFINITIONS.keys() - {"mean_effective_resistance"}
    assert max(document["differences"]["sparsified"].values()) < 1e-8
    assert main(["measure", path, "--round", "2", "--engine", "networkx"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "between NetworkX and our faster versions" in printed
    assert main(["measure", path, "--round", "2", "--engine", "fast", "--json"]) == 0
    fast = json.loads(capsys.readouterr().out)
    assert "differences" not in fast
    assert fast["sparsified"] == pytest.approx(document["sparsified"], rel=1e-8)


def test_networkx_time_counts_unmeasured_graphs_only(
    make_run: MakeRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every definition is quick here, and said to be slow.
    for name in ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness"):
        monkeypatch.delitem(DEFINITIONS, name)
    monkeypatch.setitem(DEFINITIONS, "nodes", replace(DEFINITIONS["nodes"], pace=1e-6))
    arguments = ["measure", str(make_run().path), "--round", "2", "--engine", "networkx"]
    assert main(arguments) == 0
    assert "for 2 graphs; Ctrl-C stops." in capsys.readouterr().err
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""


def test_without_json_a_table_is_printed(make_run: MakeRun, capsys: Capture) -> None:
    assert main(["measure", str(make_run().path), "--round", "1"]) == 0
    text = capsys.readouterr().out
    for words in ("Original", "Sparsified", "Average clustering", "0.24067", "5,278", "100.0 %"):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--round", "9"], 1, "no round 9"),
        (["--round", "0", "--seed", "5"], 1, "no seed 5"),
        (["--round", "one"], 2, "not a whole number"),
        (["--round", "-1"], 2, "--round"),
        ([], 2, "--round"),
    ],
)
def test_errors_are_one_line(make_run: MakeRun, arguments: list[str], code: int, words: str, capsys: Capture) -> None:
    assert main(["measure", str(make_run().path), *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_unknown_run_and_unknown_verb(make_run: MakeRun, store: Store, capsys: Capture) -> None:
    name = make_run().name
    assert main(["measure", name[:-1], "--store", str(store.root), "--round", "0"]) == 1
    assert name in capsys.readouterr().err
    assert main(["weigh"]) == 2
    assert "measure" in capsys.readouterr().err


def test_measuring_imports_no_torch_or_pandas(make_run: MakeRun) -> None:
    # igraph, which finds bridges, cores and triangles, loads matplotlib and Plotly where they are installed.
    code = "import sys; from analysis.cli.main import main; assert main(sys.argv[1:]) == 0"
    arguments = ("measure", str(make_run().path), "--round", "1", "--json")
    assert imported_by(code, "torch streamlit pyvis pandas", *arguments) == set()
