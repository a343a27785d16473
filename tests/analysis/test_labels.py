"""A user's titles and colours in tables, legends and figures; nodes of unknown class in no class anywhere."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from analysis import palette
from analysis.bundle import bundle_bytes
from analysis.cli.main import main
from analysis.drawing import screen
from analysis.drawing.files import figure_bytes
from analysis.drawing.page import draw
from analysis.figures.accuracy import accuracy_curves
from analysis.figures.base import FigureChoices
from analysis.figures.pareto import pareto_front
from analysis.labels import run_labels, short_title
from analysis.latex import tickets_latex
from analysis.measures.centrality import betweenness
from analysis.measures.graph import MeasuredGraph
from analysis.measures.tables import node_table, with_names
from analysis.removal.groups import by_pair, edge_groupings, loss_table, node_groupings
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.overview import overview_png
from analysis.subgraphs.panel import classes_of, original_panel, take
from analysis.subgraphs.samplers import Sample, sample_nodes
from analysis.tables.captions import caption
from analysis.tables.curves import curve_table, with_front
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import tickets_table
from glt.datasets import DATASETS, Graph, load_graph
from glt.errors import ConfigError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.methods import METHODS
from glt.presets import resolve
from glt.store import COLORS, Run, Store
from glt.ticket_file.graph_formats import GRAPH_FORMATS, SparseGraph
from glt.ticket_file.io import read_ticket, ticket_bytes
from glt.ticket_file.ticket import Ticket, arrays_of, make_ticket
from glt.ticket_file.verify import check
from glt.training.problem import Problem
from tests.conftest import made_up
from tests.ticket_file.conftest import changed

MakeScored = Callable[..., Run]
NASTY = '<img src=x onerror="1"> $x^ & 5 %'


@pytest.fixture
def runs(make_scored: MakeScored) -> list[Run]:
    scores = [[0.8, 0.79, 0.78]] * 3
    return [make_scored("ugs", scores), make_scored("ugs", scores, hidden=64), make_scored("random", scores)]


def test_a_title_replaces_the_label_of_its_run(runs: list[Run], store: Store) -> None:
    before = run_labels(runs)
    store.annotate(runs[1].name, {"title": "Narrow"})
    assert run_labels(runs) == {**before, runs[1].name: "Narrow"}
    assert "Narrow" in caption(rounds_table(runs))
    assert (short_title(runs[1]), short_title(runs[2])) == ("Narrow", "Random pruning")
    store.annotate(runs[1].name, {"title": ""})
    assert run_labels(runs) == before


def test_runs_of_several_edge_scores_are_labelled_by_their_scores(make_scored: MakeScored) -> None:
    names = ("local_degree", "dspar", "teddy")
    runs = [make_scored("score", [[0.8, 0.79]], options={"score": name}) for name in names]
    other = make_scored("ugs", [[0.8, 0.79]])
    labels = run_labels([*runs, other])
    assert list(labels.values()) == [
        "Edge score (local degree)",
        "Edge score (DSpar)",
        "Edge score (TEDDY's score)",
        "UGS",
    ]
    assert run_labels([runs[0], other])[runs[0].name] == "Edge score (local degree)"


def test_equal_titles_get_the_end_of_the_name(runs: list[Run], store: Store) -> None:
    for run in runs[:2]:
        store.annotate(run.name, {"title": "mine"})
    labels = run_labels(runs)
    assert [labels[run.name] for run in runs[:2]] == [f"mine ({run.name[-8:]})" for run in runs[:2]]


def test_an_own_colour_keeps_the_runs_marker() -> None:
    styles = [palette.painted("admm", color) for color in COLORS]
    assert len({style.light for style in styles}) == len({style.dark for style in styles}) == len(COLORS)
    assert {style.symbol for style in styles} == {palette.style("admm").symbol}
    assert palette.DENSE not in COLORS


def test_an_own_colour_is_never_the_one_of_another_method() -> None:
    for method in METHODS.names():
        others = [palette.style(name) for name in METHODS.names() if name != method]
        painted = [palette.painted(method, color) for color in COLORS]
        assert not {style.light for style in painted} & {style.light for style in others}
        assert not {style.dark for style in painted} & {style.dark for style in others}
    assert palette.painted("ugs", "vermilion") == palette.style("ugs")


def test_an_own_colour_is_drawn_on_the_screen_and_on_paper(runs: list[Run], store: Store) -> None:
    store.annotate(runs[1].name, {"color": "green"})
    rounds = rounds_table(runs)
    table, green = curve_table(rounds), palette.painted("ugs", "green")
    for dark in (False, True):
        figure = screen.draw(accuracy_curves(table, rounds), dark)
        lines = {trace.legendgroup: trace.line.color for trace in figure.data if trace.mode == "lines+markers"}
        assert lines[runs[1].name] == green.color(dark)
        assert lines[runs[0].name] == palette.color("ugs", dark)
    front = screen.draw(pareto_front(with_front(curve_table(rounds, x="macs"), "macs"), rounds))
    assert green.light in {trace.marker.color for trace in front.data if isinstance(trace.marker.color, str)}
    (legend,) = draw("accuracy", runs, FigureChoices()).legends
    assert green.light.lower() in {to_hex(line.get_color()) for line in legend.get_lines()}


def test_an_own_colour_stays_visible_among_many_runs(make_scored: MakeScored, store: Store) -> None:
    crowd = [make_scored("ugs", [[0.8, 0.79]], p_graph=0.01 * (n + 1)) for n in range(5)]
    store.annotate(crowd[2].name, {"color": "blue"})
    rounds = rounds_table(crowd)
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    colors = [trace.line.color for trace in figure.data if trace.mode == "lines+markers"]
    assert colors.count(palette.painted("ugs", "blue").light) == 1
    assert len(set(colors)) == 5


def test_a_title_is_escaped_wherever_it_is_markup(runs: list[Run], store: Store) -> None:
    for run in runs:
        store.annotate(run.name, {"title": NASTY})
    rounds = rounds_table(runs[:1])
    figure = screen.draw(accuracy_curves(curve_table(rounds), rounds))
    texts = [trace.name or "" for trace in figure.data]
    texts += [text for trace in figure.data if trace.hovertext is not None for text in trace.hovertext]
    assert not [text for text in texts if "<img" in text]
    assert len([text for text in texts if "&lt;img" in text]) > 2
    latex = tickets_latex(tickets_table(rounds))
    assert r"\$x\textasciicircum{} \& 5 \%" in latex.replace(r"\\", " ")


def test_the_longest_titles_leave_room_for_curves(make_scored: MakeScored, store: Store) -> None:
    runs = [make_scored("ugs", [[0.8, 0.7]]), make_scored("random", [[0.7, 0.6]])]
    for place, run in enumerate(runs):
        store.annotate(run.name, {"title": f"{place} {'m' * 58}"})
    figure = draw("accuracy", runs, FigureChoices())
    (area,) = figure.axes
    assert area.get_position().width > 0.75


def test_the_figure_command_uses_titles_of_the_store(runs: list[Run], store: Store, tmp_path: object) -> None:
    plain, titled = f"{tmp_path}/plain.svg", f"{tmp_path}/titled.svg"
    command = ["figure", "accuracy", runs[0].name, "--store", str(store.root), "--out"]
    assert main([*command, plain]) == 0
    store.annotate(runs[0].name, {"title": "mine", "color": "blue"})
    assert main([*command, titled]) == 0
    drawn = figure_bytes(draw("accuracy", [store.find(runs[0].name)], FigureChoices()), "svg")
    with open(titled, "rb") as file, open(plain, "rb") as before:  # noqa: PTH123 - paths are text here
        content = file.read()
        assert content == drawn
        assert content != before.read()
    assert palette.painted("ugs", "blue").light.lower().encode() in content


def test_a_bundle_sets_titles_again(make_run: Callable[..., Run], store: Store) -> None:
    runs = [make_run("ugs")]
    store.annotate(runs[0].name, {"title": "it's mine", "color": "blue", "note": "for me alone"})
    with zipfile.ZipFile(io.BytesIO(bundle_bytes(runs[:1], FigureChoices()))) as bundle:
        script = bundle.read("commands.sh").decode()
        rows = json.loads(bundle.read("data/rounds.json"))
    assert f"""annotate {runs[0].name} --title 'it'"'"'s mine' --color blue --store runs""" in script
    assert rows[0]["label"] == "it's mine"
    assert "for me alone" not in script


UNKNOWN = "unknown class"


@pytest.fixture
def graph() -> Graph:
    return load_graph("citeseer")


@pytest.fixture
def nobody(graph: Graph) -> list[int]:
    """The nodes of unknown class."""
    found = np.flatnonzero(graph.labels == -1).tolist()
    assert len(found) == 15
    return found


@pytest.fixture
def ticket(tmp_path: Path, graph: Graph) -> Ticket:
    """A ticket on Citeseer, drawn and not trained."""
    seed = Store(tmp_path).create(resolve({"dataset": "citeseer", "hidden": 4, "rounds": 1})).seed(0)
    problem, generator = Problem(seed.config, graph), np.random.default_rng(0)
    weights = {spec.name: generator.normal(size=spec.shape).astype("f4") for spec in problem.specs}
    with seed.lock():
        seed.write_init(weights)
        seed.write_round(made_up(0, problem.full_masks(), seed), problem.full_masks(), weights)
    return make_ticket(seed, 0)


def test_tickets_omit_unknown_classes(ticket: Ticket, nobody: list[int], tmp_path: Path) -> None:
    assert arrays_of(ticket)["labels"][nobody].tolist() == [-1] * 15
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    again = read_ticket(path)
    assert again.graph.labels[nobody].tolist() == [-1] * 15
    assert check(again, path).contradictions == ()


def test_a_ticket_of_an_earlier_version_still_passes(ticket: Ticket, graph: Graph, tmp_path: Path) -> None:
    """There, the 15 nodes have class 0 and the content hash is the former one."""
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    (former,) = DATASETS.get("citeseer").former_hashes

    def change(document: dict[str, Any]) -> None:
        document["data"]["hash"] = document["environment"]["data_hash"] = former

    report = check(read_ticket(changed(path, change, labels=np.maximum(graph.labels, 0))), path)
    assert report.contradictions == ()
    assert graph.has_content(report.graph_hash)


def test_graph_files_omit_unknown_classes(graph: Graph, nobody: list[int]) -> None:
    sparse = SparseGraph.under(graph, EdgeMask.full("undirected", graph.num_edges), "Citeseer")
    read = nx.parse_graphml(GRAPH_FORMATS["graphml"].write(sparse).decode())
    classes = dict(read.nodes(data="class"))
    assert {name for name, printed in classes.items() if not printed} == {f"n{node}" for node in nobody}
    with np.load(io.BytesIO(GRAPH_FORMATS["npz"].write(sparse))) as held:
        assert np.flatnonzero(held["labels"] == -1).tolist() == nobody


def test_tables_mark_unknown_classes(graph: Graph, nobody: list[int]) -> None:
    assert classes_of(graph, nobody) == [UNKNOWN] * 15
    found = betweenness(MeasuredGraph.of(graph), 8)
    table = with_names(graph, node_table(graph, EdgeMask.full("directed", graph.num_edges), found, found, "original"))
    assert (table["class"] == UNKNOWN).sum() == 15


def test_groups_count_unknown_classes_as_none(graph: Graph, nobody: list[int]) -> None:
    edges = int(np.isin(graph.edges, nobody).any(axis=0).sum())
    relation = next(each for each in edge_groupings(graph) if each.name == "relation")
    assert relation.sizes[2] == edges == graph.num_edges - by_pair(graph).sizes.sum() > 0
    (by_class,) = [each for each in node_groupings(graph) if each.name == "class"]
    linked = np.unique(graph.edges)
    assert by_class.sizes.sum() == linked.size - np.isin(nobody, linked).sum()
    table = loss_table(graph, EdgeMask.full("directed", graph.num_edges), draws=2)
    assert table.loc[(table["grouping"] == "relation") & (table["group"] == 2), "size"].tolist() == [edges]


def test_panels_have_a_legend_key_for_unknown_classes(graph: Graph, nobody: list[int]) -> None:
    part = take(graph, sample_nodes(graph, "nodes", 30, nodes=nobody))
    assert part.legend_labels()[-1] == -1
    assert part.label_name(-1) == UNKNOWN
    assert f"{UNKNOWN}</li>" in panels_html([original_panel(graph, part)], False, 400)
    assert overview_png(original_panel(graph, part), np.array([0]))[:4] == b"\x89PNG"
    known = take(graph, np.flatnonzero(graph.labels == 2)[:5])
    assert known.legend_labels() == [2]


def test_paper_figures_have_a_legend_key_for_unknown_classes(graph: Graph, nobody: list[int], tmp_path: Path) -> None:
    run = Store(tmp_path).create(resolve({"dataset": "citeseer", "rounds": 1}))
    with run.seed(0).lock():
        masks = Masks(EdgeMask.full("directed", graph.num_edges), WeightMask.full({"layers.0.weight": (3703, 2)}))
        run.seed(0).write_init({"layers.0.weight": np.ones((3703, 2), dtype="f4")})
        run.seed(0).write_round(made_up(0, masks, run.seed(0)), masks, {"layers.0.weight": np.ones((3703, 2), "f4")})
    for grey in (False, True):
        choices = FigureChoices(sample=Sample("nodes", 30, nodes=tuple(nobody)), round=0, grey=grey)
        words = [text.get_text() for text in draw("subgraphs", [run], choices).findobj(Text)]
        assert words.count(UNKNOWN) == 1


def test_class_samples_exclude_unknown_classes(graph: Graph, nobody: list[int]) -> None:
    with pytest.raises(ConfigError, match=rf"The class of node '{nobody[0]}' in citeseer is unknown: choose a class"):
        sample_nodes(graph, "class", 10, center=nobody[0])
    for label in range(graph.num_classes):
        assert (graph.labels[sample_nodes(graph, "class", 10, center=nobody[0], label=label)] == label).all()
