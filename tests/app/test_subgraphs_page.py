"""The Subgraphs page: its sections, its samples and a second run beside the first."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis.removal.edges import CAUSES, Closeness, removal_causes, removal_rounds
from analysis.subgraphs.panel import node_name
from analysis.subgraphs.samplers import sample_nodes
from app.components import graph_select
from app.components.graph_select import find_nodes
from app.views import subgraphs
from glt.datasets import load_graph
from glt.errors import ConfigError
from glt.store import bundled_examples
from tests.app.conftest import MakeRun, OpenPage, texts


def pointed_out(app: AppTest) -> list[int]:
    """Return the nodes that the pictures are told to point out."""
    (component,) = app.get("bidi_component")
    nodes: list[int] = json.loads(component.proto.json)["nodes"]
    return nodes


def test_an_edge_in_the_url_is_described(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    low, high = (cora.node_ids[node] if cora.node_ids else str(node) for node in cora.edges[:, 10].tolist())
    app = open_page("subgraphs", section="why", at=low, to=str(cora.edges[1, 10]), round="2")
    assert not app.error
    assert f"The message from {low} to {high} " in texts(app)
    assert f"The message from {high} to {low} " in texts(app)
    assert pointed_out(app) == cora.edges[:, 10].tolist()
    assert app.query_params["at"] == low
    assert app.query_params["to"] == str(cora.edges[1, 10])


def test_a_removal_without_gradient_is_stated(open_page: OpenPage) -> None:
    run = next(run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72")
    cora, masks = load_graph("cora"), [run.seed(0).edge_mask(number) for number in range(21)]
    gone, causes = removal_rounds(masks), removal_causes(run.config, cora, masks)
    late, early = causes == CAUSES.index("no gradient"), (gone > 0) & (gone < 9)
    low, high = cora.edges[:, np.flatnonzero(late.all(axis=0))[0]].tolist()
    app = open_page("subgraphs", run=run.name, section="why", at=node_name(cora, low), to=str(high), round="20")
    assert texts(app).count("so its rank is the noise of the mask's start") == 2
    (table,) = [each.value for each in app.dataframe if "Neighbour" in each.value]
    assert "no gradient" in table["Cause, to it"].tolist()
    low, high = cora.edges[:, np.flatnonzero(early.all(axis=0))[0]].tolist()
    app = open_page("subgraphs", run=run.name, section="why", at=node_name(cora, low), to=str(high), round="20")
    assert texts(app).count("Cause: gradient.") == 2


def test_removed_edges_are_coloured_by_cause(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random", ("done",))
    (plain,) = open_page("subgraphs", round="3").get("iframe")
    (coloured,) = open_page("subgraphs", round="3", by_cause="1").get("iframe")
    assert "removed: random" in coloured.proto.srcdoc
    assert "Removed in round " in coloured.proto.srcdoc
    assert "removed: random" not in plain.proto.srcdoc


def test_edges_are_coloured_by_the_number_of_seeds_that_keep_them(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done", "done", "done"))
    app = open_page("subgraphs", round="3", by_consensus="1")
    (coloured,) = app.get("iframe")
    assert "kept with 2 of 3 seeds" in coloured.proto.srcdoc
    assert "UGS, 3 seeds, round 3" in coloured.proto.srcdoc
    assert "are kept with all 3 seeds, " in texts(app)


def test_a_consensus_needs_two_seeds(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    app = open_page("subgraphs", round="3", by_consensus="1")
    assert ["a consensus needs two" in error.value for error in app.error] == [True]


def test_a_run_without_edge_scores_is_stated(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random", ("done",))
    assert "there are no scores" in texts(open_page("subgraphs", section="why"))


def test_an_unknown_node_is_one_sentence(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    app = open_page("subgraphs", section="why", at="nobody")
    assert ["no node 'nobody'" in error.value for error in app.error] == [True]
    assert app.get("iframe"), "the pictures stay"


def test_causes_by_round_have_a_sentence_and_numbers(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random", ("done",))
    app = open_page("subgraphs", section="causes")
    assert not app.error
    assert "Random pruning: every removed entry was drawn at random." in texts(app)
    (table,) = [each.value for each in app.dataframe if "Cause" in each.value]
    assert table["Mean, %"].tolist() == [100.0] * len(table)


def test_edge_losses_have_a_sentence_except_in_round_0(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random", ("done",))
    app = open_page("subgraphs", section="losers", round="3")
    assert "edges removed" in texts(app)
    assert "By chance: 100 random draws" in texts(app)
    assert all(control.label != "Chance" for control in app.segmented_control)
    empty = open_page("subgraphs", section="losers", round="0")
    assert [heading.value for heading in empty.subheader] == ["No edge removed yet"]


def test_losses_of_a_search_are_compared_within_its_reach(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    view = {"section": "losers", "round": "2"}
    assert "the masks of as many directions (none, one or both) had a gradient" in texts(open_page("subgraphs", **view))
    assert "By chance: 100 random draws" in texts(open_page("subgraphs", chance="any", **view))


def test_the_whole_graph_of_cora_is_a_static_picture(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    app = open_page("subgraphs", section="whole", round="1")
    assert "Above 5,000 edges the picture is not interactive" in texts(app)


def test_a_small_whole_graph_is_interactive(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subgraphs, "MOST_DRAWN_EDGES", 6000)
    make_run("ugs", ("done",))
    app = open_page("subgraphs", section="whole", round="1", size="50")
    (whole,) = [frame.proto.srcdoc for frame in app.get("iframe") if "in the sample" in frame.proto.srcdoc]
    marked = json.loads(whole.partition('"marked": ')[2].partition("]")[0] + "]")
    assert marked == sample_nodes(load_graph("cora"), size=50).tolist()
    assert "The 50 nodes of the sample are outlined" in texts(app)


@pytest.mark.parametrize("view", [{"sample": "changed"}, {"sample": "nodes", "nodes": "0, 5 "}, {"sample": "ego"}])
def test_every_sampler_is_in_the_url(view: dict[str, str], make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    if "nodes" in view and cora.node_ids:
        view = {**view, "nodes": f"{cora.node_ids[0]}, {cora.node_ids[5]}"}
    app = open_page("subgraphs", round="2", **view)
    assert not app.error
    assert {name: app.query_params[name] for name in view} == {name: text.strip() for name, text in view.items()}


def test_a_second_run_is_shown_beside_the_first(make_run: MakeRun, open_page: OpenPage) -> None:
    first, other = make_run("ugs", ("done",)), make_run("random", ("done",), rounds=1)
    app = open_page("subgraphs", run=first.name, round="3", beside=other.name)
    assert app.query_params["beside"] == other.name
    (picture,) = app.get("iframe")
    assert "UGS, round 3" in picture.proto.srcdoc
    assert "Random pruning, round 1" in picture.proto.srcdoc
    assert 'id="play"' in picture.proto.srcdoc


def test_unknown_nodes_are_named_and_known_ones_drawn(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    assert cora.node_ids is not None
    app = open_page("subgraphs", sample="nodes", nodes=f"{cora.node_ids[3]}, zzz", round="1", section="losers")
    assert not app.error
    (warning,) = app.warning
    assert "no node 'zzz' in Cora: enter one of the data set's ids, such as" in warning.value
    assert "a number from 0 to 2707" in warning.value
    assert f"Sample: by node {cora.node_ids[3]} and neighbours, draw 0." in texts(app)
    none = open_page("subgraphs", sample="nodes", nodes="zzz, yyy", round="1")
    assert ["no node 'zzz', 'yyy'" in error.value for error in none.error] == [True]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({"sample": "ego", "node": "35"}, "Sample: ego network around 35, draw 0."),
        ({"sample": "walk", "draw": "2"}, "Sample: random walk around a random node, draw 2."),
        ({"sample": "class", "class": "1"}, "Sample: class Reinforcement Learning, draw 0."),
        ({"sample": "changed"}, "Sample: most changed, draw 0."),
    ],
)
def test_the_caption_describes_the_sample(
    view: dict[str, str], expected: str, make_run: MakeRun, open_page: OpenPage
) -> None:
    make_run("ugs", ("done",))
    assert expected in texts(open_page("subgraphs", round="1", section="losers", **view))


def test_ends_without_common_neighbours(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    closeness = Closeness(cora)
    edge = int(np.argmin(closeness.jaccard_of_edges))
    low, high = cora.edges[:, edge].tolist()
    assert closeness.jaccard_of_edges[edge] == 0
    app = open_page("subgraphs", section="why", at=node_name(cora, low), to=str(high), round="1")
    assert "; no feature (Jaccard index 0)." in texts(app)
    assert "0 features" not in texts(app)


def test_changing_the_section_keeps_the_node(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    app = open_page("subgraphs", section="why", at=node_name(cora, 35), to="all", round="1")
    next(group for group in app.button_group if group.key == "section").set_value("losers").run()
    assert (app.query_params["at"], pointed_out(app)) == (node_name(cora, 35), [35])
    assert pointed_out(open_page("subgraphs", section="losers", round="1")) == []


@pytest.mark.parametrize("section", ["why", "losers", "whole"])
def test_sections_follow_the_chosen_run(section: str, make_run: MakeRun, open_page: OpenPage) -> None:
    first, other = make_run("ugs", ("done",)), make_run("random", ("done",), rounds=1)
    view = {"run": first.name, "round": "3", "beside": other.name, "section": section}
    first_texts, second_texts = (
        texts(open_page("subgraphs", **view, **whose)) for whose in ({}, {"whose": other.name})
    )
    assert first_texts != second_texts
    if section == "why":
        assert "there are no scores" in second_texts
        assert "there are no scores" not in first_texts
    alone = open_page("subgraphs", run=first.name, round="3", section=section, whose=other.name)
    assert "whose" not in alone.query_params


def test_named_nodes_are_split_by_commas_or_spaces() -> None:
    cora = load_graph("cora")
    names = [cora.node_ids[node] if cora.node_ids else str(node) for node in (3, 1, 3)]
    assert find_nodes(cora, ", ".join(names)) == find_nodes(cora, " ".join(names)) == (3, 1)
    assert find_nodes(cora, "  ") == ()
    with pytest.raises(ConfigError, match="no node 'x'"):
        find_nodes(cora, f"{names[0]} x")
    with pytest.raises(ConfigError, match="at most 200"):
        find_nodes(cora, " ".join(["0"] * 201))


def test_all_edges_of_a_node_are_a_list(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs", ("done",))
    cora = load_graph("cora")
    name = cora.node_ids[0] if cora.node_ids else "0"
    app = open_page("subgraphs", section="why", at=name, to="all", round="2")
    assert pointed_out(app) == [0]
    neighbours = int((cora.edges == 0).sum())
    (table,) = app.dataframe
    assert len(table.value) == neighbours
    assert "The message from" not in texts(app)
    assert app.query_params["to"] == "all"


@pytest.mark.parametrize(
    ("picked", "expected"),
    [
        ([5], {"section": "why", "at": "name of 5", "to": "all"}),
        ([5, 9], {"section": "why", "at": "name of 5", "to": "9"}),
        ([], {"at": "", "to": "all"}),
        ([2708], {}),
        ([-1], {}),
        (["<b>"], {}),
        ([True], {}),
        ("5", {}),
        (None, {}),
    ],
)
def test_clicks_accept_nodes_of_the_graph_only(
    picked: Any, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(graph_select.url_state, "start", lambda name: None)
    monkeypatch.setattr(graph_select, "node_name", lambda graph, node: f"name of {node}")
    graph_select.choose(load_graph("cora"), picked)
    assert state == expected
