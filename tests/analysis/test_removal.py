"""Removed edges: rounds, scores, common neighbours, sentences, and shares of groups, on graphs checked by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, combinations, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from analysis.drawing import screen
from analysis.drawing.description import Band, Description
from analysis.figures import pairs
from analysis.figures.base import FigureChoices
from analysis.figures.causes import describe as describe_causes
from analysis.figures.losers import edge_losses, losers, node_losses
from analysis.figures.pairs import pair_losses
from analysis.figures.scores import score_lines
from analysis.measures.null_model import reach_survivors
from analysis.palette import ink
from analysis.removal import groups
from analysis.removal.causes import cause_table, mean_shares
from analysis.removal.causes import sentences as sentences_on_causes
from analysis.removal.edges import (
    CAUSES,
    Closeness,
    Way,
    edges_of,
    no_scores,
    removal_causes,
    removal_rounds,
    removal_sentence,
)
from analysis.removal.groups import loss_table, outside, pair_matrix, sentences
from analysis.removal.scores import Decision, decisions_of, line_table, score_table
from glt.config import RunConfig
from glt.datasets import Graph, Provenance, Split, load_graph
from glt.errors import StoreError
from glt.masks import EdgeMask
from glt.presets import resolve
from glt.removal_causes import SearchStep
from glt.store import Run, bundled_examples
from tests.analysis.test_style import contrast

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


def test_a_returning_direction_counts_from_its_last_removal() -> None:
    keeps = ([1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1, 1])
    rounds = removal_rounds([EdgeMask("undirected", np.array(keep)) for keep in keeps])
    assert rounds.tolist() == [[3, 0, 0]] * 2


def test_scores_belong_to_survivors_of_the_round_before() -> None:
    later = decision([0.3, 0.1, 0.9, 0.2, 0.8, 0.7], FIRST, SECOND, 2)
    table = score_table([decision(SHARP), later], edge=2)
    assert table[["round", "way", "below", "equal", "entries", "cut"]].to_numpy().tolist() == [
        [1, 0, 3, 1, 8, False],
        [1, 1, 7, 1, 8, False],
        [2, 0, 0, 1, 6, True],
        [2, 1, 3, 1, 6, False],
    ]
    assert table["score"].tolist() == pytest.approx([0.6, 0.95, 0.1, 0.7])


def test_an_undirected_mask_decides_once() -> None:
    before = EdgeMask.full("undirected", 4)
    after = EdgeMask("undirected", np.array([1, 0, 1, 1]))
    table = score_table([decision([0.9, 0.1, 0.5, 0.6], before, after)], edge=1)
    assert table[["way", "below", "cut"]].to_numpy().tolist() == [[0, 0, True]]


def test_equal_scores_at_the_threshold_are_indistinguishable() -> None:
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


def test_removal_data_is_read_from_the_store(make_run: Callable[..., Run]) -> None:
    seed_run = make_run("random", rounds=2).seed(0)
    masks = [seed_run.masks(number).edges for number in range(3)]
    assert decisions_of(seed_run, masks) == []


def test_edge_list_of_a_node(graph: Graph) -> None:
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


def test_common_neighbours_and_jaccard_equal_networkx() -> None:
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


def test_the_sentence_states_round_and_score() -> None:
    scores = score_table([decision(SHARP)], edge=3)
    went = removal_sentence(Way("B", "A", 1), 1, 2, scores[scores["way"] == 1], cut=2)
    assert went == (
        "The message from B to A was removed in round 1: "
        "1 of the 8 remaining entries scored lower and the lowest 2 were removed."
    )
    nothing = scores.iloc[:0]
    assert removal_sentence(Way("A", "B", 0), 1, 2, nothing, 0) == "The message from A to B is kept in all 2 rounds."
    later = removal_sentence(Way("A", "B", 5), 3, 9, nothing, 0)
    assert later.endswith("is kept in round 3 and removed in round 5.")


def test_methods_without_scores_are_stated() -> None:
    assert "at random" in no_scores("random")
    assert "stores no edge scores" in no_scores("admm")


@pytest.mark.parametrize("ranks", [True, False])
def test_the_figure_draws_both_directions_and_escapes_their_names(ranks: bool) -> None:
    ways = [Way("<b>", "2", 0), Way("2", "<b>", 1)]
    figure = screen.draw(score_lines([decision(SHARP)], 3, ways, ranks=ranks, shown=1))
    lines = [trace.name for trace in figure.data if trace.mode == "lines" and trace.line.width == 2]
    assert lines == ["&lt;b&gt; to 2", "2 to &lt;b&gt;"]
    drawn = [trace for trace in figure.data if trace.hovertext]
    assert [trace.marker.symbol for trace in drawn] == ["circle", "x"]
    values = [list(trace.y) for trace in drawn]
    assert values == ([[50.0], [12.5]] if ranks else [[pytest.approx(0.7)], [pytest.approx(0.2)]])
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


def test_a_cause_is_that_of_the_last_removal(graph: Graph) -> None:
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
    sentence = removal_sentence(way, 2, 2, rows[rows["way"] == 1], 2)
    assert sentence.endswith("did not depend on its mask, so its rank is the noise of the mask's start.")
    assert "Cause" not in removal_sentence(replace(way, gone=0, cause=None), 2, 2, rows[rows["way"] == 1], 2)


@pytest.fixture(scope="module")
def bundled() -> dict[str, Run]:
    return {run.name: run for run in bundled_examples()}


def test_shares_of_causes_over_seeds(bundled: dict[str, Run]) -> None:
    run = bundled["cora-node-gcn-ugs-df8e8f72"]
    table = cause_table([run])
    assert (
        table.groupby(["seed", "round"])["entries"].sum() == table.groupby(["seed", "round"])["removed"].first()
    ).all()
    kept = [run.seed(3).edge_mask(number).kept for number in (12, 13)]
    of_round = table[(table["seed"] == 3) & (table["round"] == 13)].set_index("cause")
    assert of_round["removed"].tolist() == [kept[0] - kept[1]] * 2
    means = mean_shares(table).set_index(["round", "cause"])
    noise = table[(table["cause"] == "no gradient") & (table["round"] == 13)]["share"]
    assert noise.round(4).tolist() == [0.4, 0.3053, 0.5263, 0.0, 0.1298]
    row = means.loc[(13, "no gradient")]
    assert row[["mean", "low", "high"]].tolist() == pytest.approx([noise.mean(), noise.min(), noise.max()])
    assert (row["seeds"], row["top"]) == (5, pytest.approx(1.0))
    assert means.loc[(13, "gradient"), "top"] == pytest.approx(1 - noise.mean())
    (sentence,) = sentences_on_causes(mean_shares(table))
    assert sentence.startswith(
        "UGS: 91.8 % of the entries removed in round 20 had no gradient (mean of 5 seeds, 73.4 %"
    )
    assert sentence.endswith(" to 98.0 %), none before round 3.")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cora-node-gcn-random-113e68a9", "every removed entry was drawn at random"),
        ("cora-node-gcn-admm-0913104b", "every removed entry was removed by the solver"),
        ("cora-link-gcn-ugs-a234c2d4", "every removed entry had a gradient"),
        ("pubmed-node-gcn-ugs-960031db", "99.9 % of the entries removed in round 20 had no gradient (one seed)"),
    ],
)
def test_causes_in_a_sentence(bundled: dict[str, Run], name: str, sentence: str) -> None:
    (words,) = sentences_on_causes(mean_shares(cause_table([bundled[name]])))
    assert sentence in words


def test_published_shares_of_removals_without_a_gradient(bundled: dict[str, Run]) -> None:
    """The shares that docs/results.md and an independent recomputation give, seed 0."""
    runs = {"cora": "cora-node-gcn-ugs-df8e8f72", "citeseer": "citeseer-node-gcn-ugs-85790eb0"}
    runs["pubmed"] = "pubmed-node-gcn-ugs-960031db"
    shares = {}
    for name, run in runs.items():
        table = cause_table([bundled[run]])
        noise = table[(table["seed"] == 0) & (table["cause"] == "no gradient")].set_index("round")["share"]
        shares[name] = noise.round(2).to_dict()
    assert [shares["pubmed"][number] for number in (3, 4, 5, 20)] == [0.78, 0.97, 1.0, 1.0]
    assert [shares["citeseer"][number] for number in (13, 20)] == [0.93, 0.98]
    assert [shares["cora"][number] for number in (9, 13, 17, 20)] == [0.0, 0.4, 0.91, 0.98]


def test_the_figure_of_causes_stacks_to_all_removals(bundled: dict[str, Run]) -> None:
    described = describe_causes(cause_table([bundled["cora-node-gcn-ugs-df8e8f72"]]))
    (panel,) = described.panels
    bands = [layer for layer in panel.layers if isinstance(layer, Band)]
    assert [band.name for band in bands] == ["Gradient", "No gradient"]
    assert not np.asarray(bands[0].low).any()
    assert np.asarray(bands[1].low).tolist() == np.asarray(bands[0].high).tolist()
    assert np.asarray(bands[1].high) == pytest.approx(100)
    with pytest.raises(StoreError, match="No edge entry has been removed yet"):
        describe_causes(cause_table([]))


# Edges 0-1, 0-2, 1-2, 2-3, 3-4, 4-5; node 6 never had one.
LABELS = [0, 0, 0, 1, 1, -1, 0]
CUT = [0, 0, 0, 1, 0, 1]


@pytest.fixture
def losses_graph() -> Graph:
    nobody = np.empty(0, dtype=np.int64)
    edges = np.array([[0, 0, 1, 2, 3, 4], [1, 2, 2, 3, 4, 5]])
    split = Split(nobody, nobody, nobody)
    features = csr_array((7, 1), dtype=np.float32)
    return Graph("tiny", edges, features, np.array(LABELS), split, Provenance("by hand", 6, 0, 0), ("A", "<b>"))


@pytest.fixture
def table(losses_graph: Graph) -> pd.DataFrame:
    return loss_table(losses_graph, EdgeMask("undirected", 1 - np.array(CUT)), draws=40)


def rows(table: pd.DataFrame, grouping: str) -> dict[str, list[int]]:
    part = table[table["grouping"] == grouping]
    return {row["name"]: [row["lost"], row["size"]] for row in part.to_dict("records")}


def test_every_group_is_counted(table: pd.DataFrame) -> None:
    assert rows(table, "all") == {"All edges": [2, 6]}
    assert rows(table, "relation") == {"Same class": [0, 4], "Different classes": [1, 1], "A class unknown": [1, 1]}
    assert rows(table, "smaller_degree") == {"1": [1, 1], "2": [1, 5]}
    assert rows(table, "larger_degree") == {"2": [1, 3], "3": [1, 3]}
    assert rows(table, "pair") == {"A, A": [0, 3], "A, <b>": [1, 1], "<b>, <b>": [0, 1]}
    assert rows(table, "all_nodes") == {"All nodes": [1, 6]}
    assert rows(table, "class") == {"A": [0, 3], "<b>": [0, 2]}


def test_expected_shares_of_a_large_graph_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    cora = load_graph("cora")
    mask = EdgeMask("undirected", np.random.default_rng(0).random(cora.num_edges) < 0.7)
    drawn = loss_table(cora, mask, draws=300)
    monkeypatch.setattr(groups, "MOST_EDGES", 1000)
    counted = loss_table(cora, mask, draws=300)
    same = ["kind", "grouping", "group", "name", "size", "lost", "share"]
    pd.testing.assert_frame_equal(drawn[same], counted[same])
    often = drawn["size"] >= 100
    for column in ("null", "null_low", "null_high"):
        np.testing.assert_allclose(drawn[column][often], counted[column][often], atol=0.02)


def chances(steps: Sequence[SearchStep], alive: frozenset[int]) -> dict[int, float]:
    """Return the probability that each edge survives, by enumerating the draws of every step."""
    if not steps:
        return dict.fromkeys(alive, 1.0)
    parts = [[edge for edge in alive if steps[0].in_reach[edge] == level] for level in range(3)]
    drawn = [combinations(part, count) for part, count in zip(parts, steps[0].lost, strict=True)]
    outcomes = [alive - set(chain.from_iterable(gone)) for gone in product(*drawn)]
    found: dict[int, float] = dict.fromkeys(alive, 0.0)
    for left in outcomes:
        for edge, chance in chances(steps[1:], left).items():
            found[edge] += chance / len(outcomes)
    return found


# In round 1 edges 0 to 2 have a gradient in both directions, 3 in one, 4 and 5 in none; in round 2 only 0 and 1 have.
STEPS = [
    SearchStep(np.array([2, 2, 2, 1, 0, 0], dtype=np.int8), lost=(1, 0, 1)),
    SearchStep(np.array([2, 1, 0, 0, 0, 0], dtype=np.int8), lost=(2, 0, 0)),
]


def test_draws_within_reach_have_the_exact_expectation() -> None:
    expected = chances(STEPS, frozenset(range(6)))
    draws = np.stack([reach_survivors(STEPS, 6, seed) for seed in range(4000)])
    assert (draws.sum(axis=1) == 2).all()
    # Four standard errors.
    assert draws.mean(axis=0) == pytest.approx([expected[edge] for edge in range(6)], abs=0.032)
    assert len(set(np.round(list(expected.values()), 3))) == 3


def test_draws_take_the_rest_elsewhere_and_bring_edges_back() -> None:
    reach = np.array([2, 2, 0, 0], dtype=np.int8)
    few = SearchStep(reach, lost=(0, 0, 3))
    assert reach_survivors([few], 4, seed=1)[:2].tolist() == [False, False]
    assert reach_survivors([few], 4, seed=1).sum() == 1
    back = reach_survivors([few, SearchStep(reach, lost=(0, 0, 0), returned=2)], 4, seed=1)
    assert back.sum() == 3


def test_losses_within_reach_keep_the_number_of_edges(losses_graph: Graph) -> None:
    """Edges 0 to 2, inside a class, never had a gradient; as many of them are drawn as were removed: none."""
    mask = EdgeMask("undirected", 1 - np.array(CUT))
    step = SearchStep(np.array([0, 0, 0, 2, 2, 2], dtype=np.int8), lost=(0, 0, 2))
    table = loss_table(losses_graph, mask, draws=200, steps=[step]).set_index(["grouping", "group"])
    assert table.loc[("all", 0), ["share", "null", "null_low", "null_high"]].tolist() == pytest.approx([1 / 3] * 4)
    assert table.loc[("relation", 0), "null"] == pytest.approx(2 / 3 / 4, abs=0.05)
    assert table.loc[("relation", 1), "null"] == pytest.approx(2 / 3, abs=0.1)
    assert (table["size"] == loss_table(losses_graph, mask, draws=2).set_index(["grouping", "group"])["size"]).all()


def test_where_every_mask_has_a_gradient_both_nulls_agree(bundled: dict[str, Run]) -> None:
    cora, mask = load_graph("cora"), bundled["cora-node-gcn-ugs-df8e8f72"].seed(0).edge_mask(20)
    everywhere = np.full(cora.num_edges, 2, dtype=np.int8)
    gone = cora.num_edges - int(mask.either_way().sum())
    steps = [SearchStep(everywhere, lost=(0, 0, count)) for count in (gone // 3, gone - gone // 3)]
    within, of_any = (loss_table(cora, mask, draws=60, steps=each) for each in (steps, []))
    often = within["size"] >= 200
    for column in ("null", "null_low", "null_high"):
        assert within[column][often].to_numpy() == pytest.approx(of_any[column][often].to_numpy(), abs=0.04)


def test_figures_of_losses_state_their_null(bundled: dict[str, Run]) -> None:
    runs = [bundled[name] for name in ("cora-node-gcn-ugs-df8e8f72", "cora-node-gcn-random-113e68a9")]
    told = losers(runs, FigureChoices(round=13)).caption
    assert "the masks of as many directions (none, one or both) had a gradient (UGS)" in told.replace("for which ", "")
    assert "undirected edges as the round keeps (Random pruning)" in told
    alone = losers(runs, FigureChoices(round=13, chance="any")).caption
    assert "By chance: the middle 95% of 100 random draws of as many undirected edges as the round keeps." in alone


def test_only_significant_class_pairs_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    cora = load_graph("cora")
    same = cora.labels[cora.edges[0]] == cora.labels[cora.edges[1]]
    table = loss_table(cora, EdgeMask("undirected", same), draws=20)
    monkeypatch.setattr(pairs, "MOST_NUMBERED", 3)
    (field,) = screen.draw(pair_losses(table, cora.class_names)).data
    assert field.texttemplate is None
    share, low, high = (pair_matrix(table, 7, name) for name in ("share", "null_low", "null_high"))
    far = (share < low) | (share > high)
    assert np.asarray(field.z)[far].all()
    assert not np.nan_to_num(np.asarray(field.z)[~far]).any()


def test_one_remaining_direction_keeps_the_edge(losses_graph: Graph) -> None:
    one_way = EdgeMask("directed", np.array([1] * 6 + [0] * 6))
    assert (loss_table(losses_graph, one_way, draws=3)["lost"] == 0).all()


def test_the_class_matrix_is_symmetric_with_gaps(table: pd.DataFrame) -> None:
    matrix = pair_matrix(table, 2, "share")
    assert matrix.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert np.isnan(pair_matrix(table[table["group"] > 0], 2, "share")[0, 0])


def test_expected_removal_is_equal_for_all_groups() -> None:
    cora = load_graph("cora")
    mask = EdgeMask("undirected", np.random.default_rng(5).random(cora.num_edges) < 0.7)
    table = loss_table(cora, mask, draws=60)
    edges = table[(table["kind"] == "edges") & (table["size"] > 200)]
    cut = 1 - mask.kept / cora.num_edges
    assert edges["null"].to_numpy() == pytest.approx(cut, abs=0.01)
    # Hypergeometric: the share of a group of s among E has variance p (1 - p) / s (E - s) / (E - 1).
    size = edges["size"].to_numpy()
    deviation = np.sqrt(cut * (1 - cut) / size * (cora.num_edges - size) / (cora.num_edges - 1))
    width = (edges["null_high"] - edges["null_low"]).to_numpy()
    assert width == pytest.approx(2 * 1.96 * deviation, rel=0.35, abs=1e-9)
    assert outside(table).mean() < 0.2, "a random mask is hardly ever outside"


def test_class_dependent_removal_is_significant() -> None:
    cora = load_graph("cora")
    low, high = cora.labels[cora.edges]
    table = loss_table(cora, EdgeMask("undirected", low == high), draws=20)
    relation = table[table["grouping"] == "relation"].set_index("name")
    assert relation["share"].to_dict() == {"Same class": 0.0, "Different classes": 1.0}
    assert outside(relation).all()


def test_group_sentences_state_the_numbers(table: pd.DataFrame) -> None:
    first, second, third = sentences(table)
    assert first == "2 of 6 edges removed, 33.3 %."
    assert second.startswith("Between different classes 100.0 % removed (by chance 0.0 % to 100.0 %)")
    assert third.startswith("Nodes that lost their last edge: 1; by chance ")


def test_figures_draw_the_shares_and_escape_class_names(table: pd.DataFrame) -> None:
    (matrix,) = screen.draw(pair_losses(table, ("A", "<b>"))).data
    assert matrix.y == ("A", "&lt;b&gt;")
    assert [cell.rstrip("*") for cell in matrix.text[0]] == ["0", "100"]
    marks = [trace for trace in screen.draw(edge_losses(table, "ugs")).data if trace.hovertext]
    assert list(marks[0].x) == [0.0, 100.0, 100.0]
    nodes = [trace for trace in screen.draw(node_losses(table, "ugs")).data if trace.hovertext]
    assert list(nodes[0].y) == ["A", "&lt;b&gt;"]


def test_numeric_class_names_are_categories(table: pd.DataFrame) -> None:
    figure = screen.draw(pair_losses(table, ("3702", "511145")))
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("category", "category")


def test_without_classes_groups_are_by_degree(losses_graph: Graph) -> None:
    unknown = replace(losses_graph, labels=np.full(7, -1), class_names=())
    table = loss_table(unknown, EdgeMask("undirected", 1 - np.array(CUT)), draws=3)
    assert list(table["grouping"].unique()) == ["all", "smaller_degree", "larger_degree", "all_nodes"]
    marks = [trace for trace in screen.draw(edge_losses(table, "ugs")).data if trace.hovertext]
    assert [list(trace.y) for trace in marks] == [["1", "2"], ["2", "3"]]


@pytest.mark.parametrize("describe", [edge_losses, node_losses])
def test_a_mark_at_0_is_inside_the_axis(
    table: pd.DataFrame, describe: Callable[[pd.DataFrame, str], Description]
) -> None:
    figure = screen.draw(describe(table, "ugs"))
    assert min(share for trace in figure.data if trace.hovertext for share in trace.x) == 0
    # Pixels between the axis and the middle of a mark at 0, on the narrowest plot of the page.
    ranges = [axis.range for axis in figure.select_xaxes()]
    assert all(150 * -low / (high - low) >= 11 / 2 + 1 for low, high in ranges)


def test_the_axis_ends_at_the_drawn_groups(table: pd.DataFrame) -> None:
    edges = table.assign(share=(table["grouping"] == "pair") * 0.9, null_high=0.2)
    axes = screen.draw(edge_losses(edges, "ugs")).select_xaxes()
    assert [axis.range[1] for axis in axes] == pytest.approx([21, 21, 21])


@pytest.mark.parametrize("dark", [False, True])
def test_matrix_numbers_have_enough_contrast(dark: bool) -> None:
    table = loss_table(load_graph("cora"), EdgeMask("undirected", np.arange(5278) % 3 > 0))
    matrix = screen.draw(pair_losses(table, [str(label) for label in range(7)]), dark).data[0]
    text = matrix.textfont.color
    assert text == ink(dark).text
    assert min(contrast(text, ground) for _, ground in matrix.colorscale) >= 4.5
