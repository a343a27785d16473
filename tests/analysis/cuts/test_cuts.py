"""Fates, decisions, what the ends of an edge share and the sentence about it, on graphs checked by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from analysis.removal import (
    Closeness,
    Decision,
    Way,
    decisions_of,
    edges_of,
    fate_sentence,
    no_scores,
    removal_causes,
    removal_rounds,
    score_figure,
    score_table,
)
from analysis.removal.edges import CAUSES
from analysis.removal.scores import line_table
from glt.config import RunConfig
from glt.data import Graph, Provenance, Split, load_graph
from glt.masks import EdgeMask
from glt.presets import resolve
from glt.store import Run

# Edges 0-1, 0-2, 1-2, 2-3; both directions of each.
FULL = EdgeMask.full("directed", 4)
FIRST = EdgeMask("directed", np.array([0, 1, 1, 1, 1, 1, 1, 0]))
SECOND = EdgeMask("directed", np.array([0, 1, 0, 1, 0, 1, 1, 0]))


@pytest.fixture
def graph() -> Graph:
    nobody = np.empty(0, dtype=np.int64)
    words = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.float32)
    edges = np.array([[0, 0, 1, 2], [1, 2, 2, 3]])
    labels = np.array([0, 0, 1, -1])
    split = Split(nobody, nobody, nobody)
    return Graph("tiny", edges, csr_array(words), labels, split, Provenance("by hand", 4, 0, 0))


def decision(scores: list[float], before: EdgeMask = FULL, after: EdgeMask = FIRST, number: int = 1) -> Decision:
    return Decision(number, before, after, np.array(scores, dtype=np.float32))


SHARP = [0.1, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.2]


def test_each_direction_has_its_round() -> None:
    assert removal_rounds([FULL, FIRST, SECOND]).tolist() == [[1, 0, 2, 0], [2, 0, 0, 1]]
    assert not removal_rounds([FULL]).any()


def test_a_direction_that_comes_back_counts_when_it_went_for_good() -> None:
    keeps = ([1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1, 1])
    rounds = removal_rounds([EdgeMask("undirected", np.array(keep)) for keep in keeps])
    assert rounds.tolist() == [[3, 0, 0]] * 2


def test_scores_are_found_among_the_survivors_of_the_round_before() -> None:
    later = decision([0.3, 0.1, 0.9, 0.2, 0.8, 0.7], FIRST, SECOND, 2)
    table = score_table([decision(SHARP), later], edge=2)
    assert table[["round", "way", "below", "equal", "entries", "cut"]].to_numpy().tolist() == [
        [1, 0, 3, 1, 8, False],
        [1, 1, 7, 1, 8, False],
        [2, 0, 0, 1, 6, True],
        [2, 1, 3, 1, 6, False],
    ]
    assert table["score"].tolist() == pytest.approx([0.6, 0.95, 0.1, 0.7])


def test_a_direction_that_is_gone_has_no_score() -> None:
    later = decision([0.3, 0.1, 0.9, 0.2, 0.8, 0.7], FIRST, SECOND, 2)
    assert later.score_of(0) is None
    assert later.score_of(1) == pytest.approx(0.3)
    assert later.score_of(6) == pytest.approx(0.7)


def test_an_undirected_mask_decides_once() -> None:
    before = EdgeMask.full("undirected", 4)
    after = EdgeMask("undirected", np.array([1, 0, 1, 1]))
    table = score_table([decision([0.9, 0.1, 0.5, 0.6], before, after)], edge=1)
    assert table[["way", "below", "cut"]].to_numpy().tolist() == [[0, 0, True]]


def test_equal_scores_at_the_line_cannot_be_told_apart() -> None:
    after = EdgeMask("directed", np.array([0, 1, 1, 1, 1, 1, 0, 1]))
    tied = decision([0.5, 0.5, 0.5, 0.9, 0.9, 0.9, 0.1, 0.9], after=after)
    assert tied.blurred == (0.5, 0.5)
    assert tied.standing(0.5) == (1, 3)
    assert tied.standing(0.9) == (4, 4)
    assert decision(SHARP).blurred is None
    line = line_table([tied]).iloc[0]
    assert (line["blur_low"], line["blur_high"], line["cut"]) == (1 / 8, 4 / 8, 2)


def test_ranks_that_contradict_the_masks_are_equal_scores() -> None:
    """An example's ranks follow the order of entries among equal scores: a cut entry may have a higher rank."""
    ranks = [0.7, 0.1, 0.2, 0.3, 0.8, 0.9, 0.95, 0.0]
    contradicted = decision(ranks)
    assert contradicted.standing(np.float32(0.2)) == contradicted.standing(np.float32(0.7)) == (1, 4)


def test_what_is_stored_is_read_back(make_run: Callable[..., Run]) -> None:
    seed_run = make_run("random", rounds=2).seed(0)
    masks = [seed_run.masks(number).edges for number in range(3)]
    assert decisions_of(seed_run, masks) == []


def test_edges_of_a_node_tell_who_and_what_is_shared(graph: Graph) -> None:
    gone = removal_rounds([FULL, FIRST, SECOND])
    table = edges_of(graph, Closeness(graph), 2, gone, SECOND).set_index("neighbour")
    assert table.index.tolist() == [3, 1, 0], "the first to lose a direction stands on top"
    assert table.loc[1, ["sent", "received", "same_class"]].tolist() == [0, 2, False]
    assert table.loc[3, ["sent", "received"]].tolist() == [0, 1]
    assert table["common_neighbours"].to_dict() == {3: 0, 1: 1, 0: 1}
    assert table["common_neighbours_left"].to_dict() == {3: 0, 1: 0, 0: 0}
    assert table["common_features"].to_dict() == {3: 0, 1: 1, 0: 0}
    assert table["jaccard"].to_dict() == {3: 0, 1: pytest.approx(1 / 4), 0: 0}
    assert table["degree"].to_dict() == {3: 1, 1: 2, 0: 2}


def test_common_neighbours_and_jaccard_are_those_of_networkx() -> None:
    cora = load_graph("cora")
    whole = nx.Graph(cora.edges.T.tolist())
    closeness = Closeness(cora)
    others = np.array(sorted(whole[1358]))
    expected = [len(list(nx.common_neighbors(whole, 1358, other))) for other in others.tolist()]
    assert closeness.common_neighbours(1358, others).tolist() == expected
    rows = cora.features[[1358, int(others[0])]].toarray() != 0
    dense = (rows[0] & rows[1]).sum() / (rows[0] | rows[1]).sum()
    assert closeness.jaccard(1358, others)[0] == pytest.approx(dense)
    edge = np.flatnonzero((cora.edges == [[min(1358, others[0])], [max(1358, others[0])]]).all(axis=0))[0]
    assert closeness.jaccard_of_edges[edge] == pytest.approx(dense)


def test_the_sentence_says_when_and_by_how_much() -> None:
    scores = score_table([decision(SHARP)], edge=3)
    went = fate_sentence(Way("B", "A", 1), 1, 2, scores[scores["way"] == 1], cut=2)
    assert went == (
        "The message from B to A went in round 1: "
        "1 of the 8 entries up for decision scored lower and the lowest 2 were cut."
    )
    nothing = scores.iloc[:0]
    assert fate_sentence(Way("A", "B", 0), 1, 2, nothing, 0) == "The message from A to B survives all 2 rounds."
    later = fate_sentence(Way("A", "B", 5), 3, 9, nothing, 0)
    assert later.endswith("is still there in round 3 and goes in round 5.")


def test_methods_without_scores_say_so() -> None:
    assert "draws" in no_scores("random")
    assert "keeps no scores" in no_scores("admm")


@pytest.mark.parametrize("ranks", [True, False])
def test_the_figure_draws_both_directions_and_escapes_their_names(ranks: bool) -> None:
    ways = [Way("<b>", "2", 0), Way("2", "<b>", 1)]
    figure = score_figure([decision(SHARP)], 3, ways, ranks=ranks, shown=1)
    drawn = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [trace.name for trace in drawn] == ["&lt;b&gt; to 2", "2 to &lt;b&gt;"]
    assert [trace.marker.symbol for trace in drawn] == [("circle",), ("x",)]
    values = [list(trace.y) for trace in drawn]
    assert values == ([[50.0], [12.5]] if ranks else [[pytest.approx(0.7)], [pytest.approx(0.2)]])
    assert isinstance(drawn[0].hovertext, tuple)
    assert not any("<b>" in text for text in pd.Series([t for trace in drawn for t in trace.hovertext]))


def trained_on_node_3(graph: Graph) -> tuple[RunConfig, Graph]:
    nobody = np.empty(0, dtype=np.int64)
    return resolve({"dataset": "cora", "degree": "fixed"}), replace(graph, split=Split(np.array([3]), nobody, nobody))


def test_each_direction_has_its_cause(graph: Graph) -> None:
    config, trained = trained_on_node_3(graph)
    causes = removal_causes(config, trained, [FULL, FIRST, SECOND])
    # 0 to 1 and 3 to 2 go in round 1, 1 to 2 and 1 to 0 in round 2; of two layers the first only counts into 3 and 2.
    assert [[CAUSES[code] for code in row] for row in causes.tolist()] == [
        ["no gradient", None, "gradient", None],
        ["no gradient", None, None, "gradient"],
    ]
    for method, cause in (("random", "random"), ("admm", "solver"), ("reinit", None)):
        other = resolve({"dataset": "cora", "method": method})
        assert CAUSES[removal_causes(other, trained, [FULL, FIRST])[0, 0]] == cause


def test_a_cause_is_that_of_the_round_in_which_an_entry_went_for_good(graph: Graph) -> None:
    config = resolve({"dataset": "cora", "method": "admm"})
    keeps = ([1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 1, 1], [1, 0, 0, 1])
    causes = removal_causes(config, graph, [EdgeMask("undirected", np.array(keep)) for keep in keeps])
    assert [[CAUSES[code] for code in row] for row in causes.tolist()] == [[None, "solver", "solver", None]] * 2


def test_a_decision_knows_which_masks_had_a_gradient(graph: Graph) -> None:
    known = replace(decision(SHARP), with_gradient=np.array([1, 1, 1, 1, 1, 1, 1, 0], dtype=np.bool_))
    assert known.cuts_without_gradient == 0.5
    assert np.isnan(decision(SHARP).cuts_without_gradient)
    assert line_table([known])["cuts_without_gradient"].tolist() == [0.5]
    assert score_table([known], edge=3)["gradient"].tolist() == [True, False]
    assert score_table([decision(SHARP)], edge=3)["gradient"].tolist() == [None, None]


def test_the_sentence_names_the_cause() -> None:
    rows = score_table([decision(SHARP)], edge=3)
    way = Way("3", "2", 1, "no gradient")
    sentence = fate_sentence(way, 2, 2, rows[rows["way"] == 1], 2)
    assert sentence.endswith("did not depend on its mask, so its rank is the noise of the start.")
    assert "Cause" not in fate_sentence(replace(way, gone=0, cause=None), 2, 2, rows[rows["way"] == 1], 2)
