"""Subgraphs: the same nodes before and after pruning, and removed edges. Begin at `page`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.drawing import screen
from analysis.drawing.description import Description
from analysis.figures.causes import caption_of
from analysis.figures.causes import describe as describe_causes
from analysis.figures.losers import edge_losses, node_losses
from analysis.figures.pairs import pair_losses
from analysis.figures.scores import score_lines
from analysis.labels import dataset_label, metric_label, short_title
from analysis.removal.causes import cause_table, mean_shares
from analysis.removal.causes import sentences as sentences_on_causes
from analysis.removal.edges import Way, degrees, edges_of, no_classes, no_scores, removal_history, removal_sentence
from analysis.removal.groups import chance_words, loss_table, sentences
from analysis.removal.scores import Decision, score_table
from analysis.runs import shared_graph, training_part
from analysis.stability import consensus_table, consensus_words
from analysis.subgraphs.html import panels_html
from analysis.subgraphs.panel import (
    GraphPanel,
    Subgraph,
    class_names,
    classes_of,
    consensus_panel,
    has_classes,
    make_panel,
    node_name,
    original_panel,
    take,
)
from analysis.subgraphs.samplers import SAMPLERS
from app.components import controls, frame, graph_select, run_select, url_state
from app.components.downloads import drawn, numbers_popover, show_figure, show_number_table
from app.components.frame import plain
from app.components.graph_select import RoundSample, find_node
from app.data import cache
from glt import formats
from glt.datasets import Graph
from glt.datasets.graph import IntArray
from glt.errors import ConfigError
from glt.lottery.graph import graph_of
from glt.masks import EdgeMask
from glt.removal_causes import SearchStep, search_steps
from glt.store import Run

HEIGHT = 660
BESIDE = "beside"
ABOUT_CAUSES = "Colours removed edges by what decided the removal of their last direction; hovering tells both."
ABOUT_CONSENSUS = "Colours edges by the number of seeds that keep them in this round, all seeds of the run together."
ABOUT_COMPARING = "Adds a panel: the same nodes in the same seed of another run."
SECTIONS = {
    "why": "Removal of an edge",
    "causes": "Causes by round",
    "losers": "Losses by class and degree",
    "whole": "Whole graph",
}
# Edges of a hub that are listed, those removed first.
MOST_LISTED = 1000


@dataclass(frozen=True, eq=False)
class View:
    """The choices above the pictures."""

    run: Run
    seed: int
    number: int
    beside: Run | None
    graph: Graph
    sample: RoundSample
    by_cause: bool
    by_consensus: bool

    @property
    def runs(self) -> list[Run]:
        """The runs with a panel."""
        return [self.run] if self.beside is None else [self.run, self.beside]

    @property
    def part(self) -> Subgraph:
        """The sampled subgraph with its layout."""
        needs_mask = "cut" in SAMPLERS.get(self.sample.sample.kind).uses
        mask = cache.edge_mask(self.run, self.seed, self.number) if needs_mask else None
        return graph_select.subgraph(self.graph, self.sample, None if mask is None else ~mask.either_way())


def page() -> None:
    """Show the page."""
    with frame.page("Subgraphs", "The same nodes before and after pruning, in the same places."):
        finished = run_select.finished_runs(
            "run", "Nothing to draw yet", "Subgraphs appear as soon as a run has finished a round.", "hub"
        )
        if not finished:
            return
        view = _controls(finished)
        pictures = st.container(key="pictures")
        nodes: tuple[int, ...] = ()
        # Errors are shown here, so that the panels stay.
        with frame.or_why():
            nodes = _section(view)
        with pictures, frame.or_why():
            _panels(view)
        graph_select.listen(view.graph, nodes)


def _controls(finished: list[Run]) -> View:
    with frame.row("controls"):
        run = run_select.pick_run(finished)
        seed = run_select.pick_seed(run)
        graph = graph_of(run.seed(seed))
        number = run_select.pick_round(run.seed(seed).whole_rounds())
        others = [other for other in finished if _is_comparable(run, other, seed)]
        words = run_select.run_words(finished)
        options = {"": "No other run", **{other.reference: words[other.reference] for other in others}}
        run_select.gone_from(BESIDE, options)
        changed = run_select.let_go(BESIDE)
        named = controls.optional(BESIDE, "Compare with", options, width=240, help=ABOUT_COMPARING, on_change=changed)
        beside = next((other for other in others if other.reference == named), None)
    with frame.row("sample-controls"):
        sample = graph_select.pick_round_sample(graph)
        with frame.row("switches", "center", width="content"):
            by_consensus = controls.switch("by_consensus", "Consensus", help=ABOUT_CONSENSUS)
            # A consensus is of all seeds, and an edge may go by other causes in each.
            by_cause = controls.switch("by_cause", "Causes", help=ABOUT_CAUSES, disabled=by_consensus)
    run_select.tell_gone(BESIDE)
    graph_select.tell_unknown(graph, sample)
    return View(run, seed, number, beside, graph, sample, by_cause, by_consensus)


def _panels(view: View) -> None:
    if view.by_consensus:
        _consensus(view)
        return
    part, centre = view.part, view.sample.sample.center
    rounds = [min(view.number, run.seed(view.seed).whole_rounds() - 1) for run in view.runs]
    html = _document(view.graph, part, view.runs, rounds, view.seed, frame.is_dark(), centre, view.by_cause)
    shown = [_panel(view.graph, part, run, view.seed, last) for run, last in zip(view.runs, rounds, strict=True)]
    alt = [f"{panel.title}: {'; '.join(panel.caption)}." for panel in (original_panel(view.graph, part), *shown)]
    name = dataset_label(view.graph.name)
    st.iframe(html, height=HEIGHT, alt=" ".join([f"{name}, the same nodes side by side.", *alt]))
    config, record = view.run.config, view.run.seed(view.seed).rounds()[view.number]
    kept, both = formats.percent(record.edges_kept_either_way), formats.percent(record.edges_kept_both_ways)
    frame.caption(
        f"{plain(run_select.run_words([view.run])[view.run.reference])}, seed {view.seed}, round {record.round}: graph "
        f"sparsity {formats.percent(record.graph_sparsity)}, weight sparsity "
        f"{formats.percent(record.weight_sparsity)}, test {metric_label(config.dataset, config.task)} "
        f"{formats.percent(record.test)}.",
        f"Undirected edges kept: {kept} either way, {both} both ways. "
        f"{plain(graph_select.describe(view.graph, view.sample))} {training_part(config)}",
    )


def _consensus(view: View) -> None:
    """Show with how many seeds of each run every edge is kept in the round."""
    part, masks = view.part, [_masks_of_seeds(run, view.number) for run in view.runs]
    titles = [
        f"{short_title(run)}, {formats.number_of(len(own), 'seed')}, round {view.number}"
        for run, own in zip(view.runs, masks, strict=True)
    ]
    shown = [consensus_panel(view.graph, part, own, title) for own, title in zip(masks, titles, strict=True)]
    panels = [original_panel(view.graph, part), *shown]
    words = [consensus_words(consensus_table(own)) for own in masks]
    html = panels_html(panels, frame.is_dark(), HEIGHT, view.sample.sample.center)
    alt = [f"{title}: {told}" for title, told in zip(titles, words, strict=True)]
    st.iframe(html, height=HEIGHT, alt=" ".join([f"{dataset_label(view.graph.name)}, the same nodes.", *alt]))
    for line in alt if len(alt) > 1 else words:
        st.markdown(plain(line))
    frame.caption("Colour: with how many seeds an edge is kept.", plain(graph_select.describe(view.graph, view.sample)))


def _masks_of_seeds(run: Run, number: int) -> list[EdgeMask]:
    """Return the edge masks of all seeds that have the round; raises ConfigError for fewer than two."""
    seeds = [seed for seed in run.seeds() if run.seed(seed).whole_rounds() > number]
    if len(seeds) < 2:
        raise ConfigError(
            f"{short_title(run)} has {formats.number_of(len(seeds), 'seed')} with round {number}: a consensus needs "
            "two. Choose another run or round, or turn Consensus off."
        )
    return [cache.edge_mask(run, seed, number) for seed in seeds]


def _section(view: View) -> tuple[int, ...]:
    with frame.row("section-controls"):
        section = controls.segments("section", "Under the pictures", SECTIONS, label_visibility="collapsed")
        run = view.run
        if view.beside is None or section == "causes":
            url_state.drop("whose")
        else:
            words = run_select.run_words(view.runs)
            name = controls.segments("whose", "Edges of", words, label_visibility="collapsed")
            run = next(run for run in view.runs if run.reference == name)
    number = min(view.number, run.seed(view.seed).whole_rounds() - 1)
    if section == "why":
        return edge_story(run, view.seed, number, view.graph, view.part.nodes)
    if section == "causes":
        causes_by_round(view.runs)
    elif section == "losers":
        losers(run, view.seed, number, view.graph)
    else:
        whole_graph(run, view.seed, number, view.graph, view.part)
    return graph_select.named_nodes(view.graph)


def _is_comparable(run: Run, other: Run, seed: int) -> bool:
    """Return whether another run has rounds of this seed on the same graph."""
    if other.reference == run.reference or seed not in other.seeds() or not other.seed(seed).whole_rounds():
        return False
    try:
        shared_graph([run, other], "A comparison")
    except ConfigError:
        return False
    return True


@cache.cached(48, spinner="Drawing the rounds")
def _document(
    graph: Graph,
    part: Subgraph,
    runs: list[Run],
    rounds: list[int],
    seed: int,
    dark: bool,
    selected: int | None,
    by_cause: bool,
) -> str:
    """Return the panels as HTML, with all earlier rounds for the replay; removed edges coloured `by_cause`."""
    original = original_panel(graph, part)
    replay = [
        [_panel(graph, part, run, seed, number) for number in range(last + 1)]
        for run, last in zip(runs, rounds, strict=True)
    ]
    if by_cause:
        replay = [_with_causes(panels, part, run, seed) for run, panels in zip(runs, replay, strict=True)]
    shown = [original, *(panels[-1] for panels in replay)]
    return panels_html(shown, dark, HEIGHT, selected, [[original], *replay])


def _with_causes(panels: list[GraphPanel], part: Subgraph, run: Run, seed: int) -> list[GraphPanel]:
    """Return the panels of rounds 0, 1, ... with the causes of their removals."""
    history = removal_history(cache.masks_of(run, seed), cache.causes_by_round(run, seed), part.edge_ids)
    return [replace(panel, removals=removals) for panel, removals in zip(panels, history, strict=False)]


@cache.cached(512, shared=True)
def _panel(graph: Graph, part: Subgraph, run: Run, seed: int, number: int) -> GraphPanel:
    return _new_panel(graph, part, run, seed, number)


def _new_panel(graph: Graph, part: Subgraph, run: Run, seed: int, number: int) -> GraphPanel:
    before = cache.edge_mask(run, seed, number - 1) if number else None
    return make_panel(graph, part, cache.edge_mask(run, seed, number), f"{short_title(run)}, round {number}", before)


# Removal of an edge

SCALES = {"score": "Score", "rank": "Rank"}
ABOUT_NODE = "Number or id; or click a node. Empty: the node of the sample with most neighbours."
ABOUT_NEIGHBOUR = (
    "An edge carries a message in each direction, and the mask has an entry for each. UGS learns a soft score per "
    "entry; a round removes the entries with the lowest scores."
)
ROUGH = "Bundled examples and runs on large graphs keep ranks in 256 steps instead of scores."


@dataclass(frozen=True, eq=False)
class Place:
    """A node after a round of a seed."""

    run: Run
    seed: int
    number: int
    graph: Graph
    node: int

    @property
    def mask(self) -> EdgeMask:
        """Edge mask of the round."""
        return cache.edge_mask(self.run, self.seed, self.number)

    def name(self, node: int) -> str:
        """Return the id of a node, or its number."""
        return node_name(self.graph, node)


def edge_story(run: Run, seed: int, number: int, graph: Graph, nodes: np.ndarray) -> tuple[int, ...]:
    """Choose a node and one of its edges, and explain the removal.

    `nodes` are those of the panels. Returns the named node, both ends of the chosen edge, or nothing.
    """
    start = int(nodes[degrees(graph)[nodes].argmax()])
    with frame.row("edge-controls"):
        placeholder = node_name(graph, start)
        text = controls.text("at", "Node", width=150, placeholder=placeholder, help=ABOUT_NODE)
        named = find_node(graph, text) if text else None
        chosen = () if named is None else (named,)
        place = Place(run, seed, number, graph, start if named is None else named)
        closeness = cache.closeness_of(graph)
        rounds, causes = cache.removal_rounds(run, seed), cache.removal_causes(run, seed)
        table = edges_of(graph, closeness, place.node, rounds, place.mask, causes)
        if table.empty:
            st.caption(f"Node {plain(place.name(place.node))} has no edge in the unpruned graph.")
            return chosen
        row = _pick_neighbour(place, table)
        decided = [] if row is None else cache.decisions(run, seed)
        rough = any(decision.ranks for decision in decided)
        ranks = rough or not decided or controls.segments("scale", "Scale", SCALES) == "rank"
    if row is None:
        edge_table(place, table)
        return chosen
    _explain(place, row, decided, ranks, rough)
    title = f"All {formats.count(len(table))} edges of node {plain(place.name(place.node))}"
    with st.expander(title, icon=":material/table_rows:"):
        edge_table(place, table)
    return (*chosen, int(row["neighbour"])) if chosen else ()


def _pick_neighbour(place: Place, table: pd.DataFrame) -> pd.Series | None:
    """Choose one of the neighbours, or all of them (None)."""
    listed = table.head(MOST_LISTED)
    linked = table[table["neighbour"].astype(str) == st.session_state.get("to", st.query_params.get("to", ""))]
    listed = pd.concat([listed, linked]).drop_duplicates("neighbour") if len(table) > len(listed) else listed
    classes = classes_of(place.graph, listed["neighbour"].to_numpy())
    known = has_classes(place.graph)
    words = {
        str(row["neighbour"]): " · ".join([place.name(row["neighbour"]), *([label] if known else []), _went(row)])
        for row, label in zip(listed.to_dict("records"), classes, strict=True)
    }
    words[graph_select.ALL_NEIGHBOURS] = f"all {formats.count(len(table))} edges" if len(table) > 1 else "the only edge"
    chosen = controls.select("to", "Neighbour", words, width=420, help=ABOUT_NEIGHBOUR)
    return None if chosen == graph_select.ALL_NEIGHBOURS else table[table["neighbour"] == int(chosen)].iloc[0]


def _went(row: dict[str, int]) -> str:
    """Return in words when the directions of an edge were removed."""
    first, last = sorted((row["sent"], row["received"]), key=lambda number: (number == 0, number))
    if first == 0:
        return "survives"
    if first == last:
        return f"removed in round {first}"
    return f"one direction removed in round {first}" + (f", the other in round {last}" if last else "")


def _explain(place: Place, row: pd.Series, decided: list[Decision], ranks: bool, rough: bool) -> None:
    facts, picture = st.columns([5, 7], gap="medium")
    one, other = place.node, int(row["neighbour"])
    sent = Way(place.name(one), place.name(other), int(row["sent"]), row["sent_cause"])
    received = Way(place.name(other), place.name(one), int(row["received"]), row["received_cause"])
    # Scores have the direction from the lower node first.
    ways = (sent, received) if one < other else (received, sent)
    with facts:
        for sentence in _sentences(place, row, ways, decided, rough):
            st.markdown(plain(sentence))
        st.table(_ends(place, row), border="horizontal", hide_index=True, width="stretch")
        st.caption(f"In common: {_in_common(place, row)}.")
    with picture:
        if not decided:
            st.caption(f":material/info: {no_scores(place.run.config.method)}")
            return
        figure = _score_figure(place.run, place.seed, int(row["edge"]), ways, ranks, place.number)
        title = f"{'Rank' if ranks else 'Score'} of both directions of the edge by round"
        show_figure(figure, "scores", title)
        kind = "Rank of the score among the remaining entries" if ranks else "Soft score"
        blurred = sum(decision.blurred is not None for decision in decided)
        equal = (
            f"In {blurred} of {len(decided)} rounds, removed and kept entries at the threshold are equal in the half "
            "precision of stored scores: a bar spans the possible ranks. "
        )
        frame.caption(
            f"{kind}. Shaded: removed entries.",
            f"A cross marks the round that removed a direction. {equal if blurred else ''}{ROUGH if rough else ''}",
        )
        numbers_popover(figure, "scores", title)


@drawn()
def _score_figure(run: Run, seed: int, edge: int, ways: tuple[Way, Way], ranks: bool, shown: int) -> Description:
    decisions, method, color = cache.decisions(run, seed), run.config.method, run.annotation.color
    return score_lines(decisions, edge, ways, ranks=ranks, shown=shown, method=method, color=color)


def _sentences(place: Place, row: pd.Series, ways: tuple[Way, Way], decided: list[Decision], rough: bool) -> list[str]:
    scores = score_table(decided, int(row["edge"]))
    last = place.run.seed(place.seed).whole_rounds() - 1
    cuts = {decision.round: decision.cuts for decision in decided}
    sentences = []
    for number, way in enumerate(ways):
        # An undirected mask has one score for both directions.
        of_way = scores[scores["way"] == min(number, max(scores["way"].nunique() - 1, 0))]
        sentences.append(removal_sentence(way, place.number, last, of_way, cuts.get(way.gone or last, 0), rough))
    return sentences


def _ends(place: Place, row: pd.Series) -> pd.DataFrame:
    one, other = place.node, int(row["neighbour"])
    before, left = degrees(place.graph), degrees(place.graph, place.mask)
    closeness = cache.closeness_of(place.graph)
    columns = {"": ["Class", f"Degree, original → round {place.number}"]}
    for end in (one, other):
        degree = f"{formats.count(before[end])} → {formats.count(left[end])}"
        columns[plain(place.name(end))] = [plain(classes_of(place.graph, [end])[0]), degree]
    if closeness.counts_words:
        cells = ["Nonzero features", *map(formats.count, closeness.features_set[[one, other]])]
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return pd.DataFrame(columns)


def _in_common(place: Place, row: pd.Series) -> str:
    """Return in words what both ends of an edge share: class, neighbours, features."""
    words = ["class" if row["same_class"] else "no class"]
    if min(place.graph.labels[[place.node, int(row["neighbour"])]]) < 0:
        words = ["class unknown"]
    neighbours = formats.number_of(row["common_neighbours"], "neighbour")
    left = f"{neighbours}, {row['common_neighbours_left']} left in round {place.number}"
    words.append(left if row["common_neighbours"] else "no neighbour")
    closeness = cache.closeness_of(place.graph)
    if not closeness.counts_words:
        return "; ".join([*words, f"cosine similarity of features {formats.fixed(row['cosine'], 3)}"])
    if not row["common_features"]:
        return "; ".join([*words, "no feature (Jaccard index 0)"])
    jaccards = closeness.jaccard_of_edges
    less = float((jaccards < row["jaccard"]).mean()) if jaccards.size else 0.0
    more = f", higher than for {formats.percent(less)} of the edges" if less else ""
    features = formats.number_of(row["common_features"], "feature")
    return "; ".join([*words, f"{features} (Jaccard index {formats.fixed(row['jaccard'], 3)}{more})"])


ABOUT_JACCARD = "Features of both ends divided by features of either end: 1 for equal sets, 0 for none in common."
ABOUT_COSINE = "Cosine of the angle between the features of both ends: 1 for the same direction."
ABOUT_CAUSE = (
    "gradient: the training loss depended on the mask of this entry in the search that removed it. no gradient: it "
    "did not, so initial noise decided the rank. random: drawn at random. solver: set to zero by ADMM."
)
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("Cause, to it", "Cause, from it"), st.column_config.TextColumn(help=ABOUT_CAUSE)),
    "Jaccard": st.column_config.NumberColumn(format="%.3f", help=ABOUT_JACCARD),
    "Cosine": st.column_config.NumberColumn(format="%.3f", help=ABOUT_COSINE),
}
ALIKE = {"common_features": "Common features", "jaccard": "Jaccard", "cosine": "Cosine"}


def edge_table(place: Place, table: pd.DataFrame) -> None:
    """Show the table of a node's edges, those removed first on top."""
    about = f"Edges of node {place.name(place.node)}, those removed first on top"
    shown = _shown_edges(place, table.head(MOST_LISTED))
    show_number_table(shown, COLUMNS, key="edges", alt=about)
    if len(table) > MOST_LISTED:
        st.caption(f"The {formats.count(MOST_LISTED)} of {formats.count(len(table))} edges that were removed first.")


def _shown_edges(place: Place, table: pd.DataFrame) -> pd.DataFrame:
    """Return `edges_of` with the page's column names; survivors have no round."""
    classes = {"Class": classes_of(place.graph, table["neighbour"].to_numpy()), "Same class": table["same_class"]}
    # Causes may be unknown.
    to_it, from_it = (
        {title: table[column]} if table[column].notna().any() else {}
        for title, column in (("Cause, to it", "sent_cause"), ("Cause, from it", "received_cause"))
    )
    return pd.DataFrame(
        {
            "Neighbour": [place.name(node) for node in table["neighbour"]],
            **(classes if has_classes(place.graph) else {}),
            "Message to it removed in round": table["sent"].where(table["sent"] > 0),
            **to_it,
            "Message from it removed in round": table["received"].where(table["received"] > 0),
            **from_it,
            "Degree": table["degree"],
            f"Degree, round {place.number}": table["degree_left"],
            "Common neighbours": table["common_neighbours"],
            **{word: table[name] for name, word in ALIKE.items() if name in table},
        }
    )


# Causes by round

SHARE_COLUMNS = {"Mean, %": "mean", "Lowest seed, %": "low", "Highest seed, %": "high"}


def causes_by_round(runs: list[Run]) -> None:
    """Show the shares of the causes of all removals by round, over all seeds of the runs."""
    table = _causes(runs)
    if table.empty:
        frame.empty("No edge removed yet", "Causes appear with the first pruned round.", "balance")
        return
    means, title = mean_shares(table), "Causes of the removals of every round"
    words = " ".join(sentences_on_causes(means))
    st.markdown(frame.plain(words))
    figure = _causes_figure(runs)
    show_figure(figure, "causes", title, words)
    frame.caption("Shares of the edge entries that a round removes, mean over seeds.", caption_of(means))
    numbers_popover(figure, "causes", title, shown_causes(means))


@cache.cached(16, spinner="Deriving the causes of all removals")
def _causes(runs: list[Run]) -> pd.DataFrame:
    return cause_table(runs)


@drawn()
def _causes_figure(runs: list[Run]) -> Description:
    return describe_causes(_causes(runs))


def shown_causes(means: pd.DataFrame) -> pd.DataFrame:
    """Return `mean_shares` with the page's column names, in percent."""
    return pd.DataFrame(
        {
            "Run": means["label"],
            "Round": means["round"],
            "Cause": means["cause"],
            "Entries removed": means["removed"],
            **{word: 100 * means[name] for word, name in SHARE_COLUMNS.items()},
            "Seeds": means["seeds"],
        }
    )


# Losses by class and degree

CONFIG = {"displaylogo": False, "displayModeBar": False}
# The page's columns of shares, and the columns of `loss_table`.
SHARES = {"Lost, %": "share", "By chance": "null", "from": "null_low", "to": "null_high"}


def losers(run: Run, seed: int, number: int, graph: Graph) -> None:
    """Show shares of edges and nodes lost by class and degree, beside random graphs."""
    if cache.edge_mask(run, seed, number).either_way().all():
        frame.empty("No edge removed yet", f"Round {number} keeps every edge in at least one direction.", "balance")
        return
    steps = _search_steps(graph, run, seed, number)
    within_reach = bool(steps) and run_select.pick_chance() == "reach"
    table = _losses(graph, run, seed, number, within_reach)
    st.markdown(" ".join(sentences(table)))
    look = run.config.method, run.annotation.color
    if has_classes(graph):
        matrix, shares = st.columns(2, gap="medium")
        with matrix:
            title = "Edges removed by the classes of both ends (%)"
            _chart(title, "pairs", pair_losses(table, class_names(graph)))
            if (table["grouping"] == "class").any():
                _chart("Nodes left without an edge", "nodes", node_losses(table, *look))
        with shares:
            _chart("Edges removed by class and degree", "groups", edge_losses(table, *look))
    else:
        st.caption(f":material/info: {frame.plain(no_classes(graph))}")
        _chart("Edges removed by degree", "groups", edge_losses(table, *look))
    frame.caption(
        f"{frame.plain(short_title(run))}, seed {seed}, round {number}, whole graph. A star or filled mark: outside "
        "95 % of random draws.",
        f"An edge is removed when neither direction survives. By chance: {chance_words(graph, within_reach)}. A star "
        "or filled mark: a share outside the middle 95 % of the draws. By chance, one group in twenty is outside.",
    )
    columns = dict.fromkeys(SHARES, st.column_config.NumberColumn(format="%.1f %%"))
    with st.expander("Numbers", icon=":material/table_rows:", key="loss-numbers"):
        show_number_table(shown_losses(table), columns, key="losses")


@cache.cached(4, shared=True)
def _search_steps(graph: Graph, run: Run, seed: int, number: int) -> list[SearchStep]:
    return search_steps(run.seed(seed), graph, number)


@cache.cached(64, spinner="Drawing graphs of equal density")
def _losses(graph: Graph, run: Run, seed: int, number: int, within_reach: bool) -> pd.DataFrame:
    steps = _search_steps(graph, run, seed, number) if within_reach else []
    return loss_table(graph, cache.edge_mask(run, seed, number), steps=steps)


def _chart(title: str, key: str, described: Description) -> None:
    st.markdown(f"**{title}**")
    show_figure(screen.draw(described, frame.is_dark()), f"loss-{key}", title, config=CONFIG)


def shown_losses(table: pd.DataFrame) -> pd.DataFrame:
    """Return `loss_table` with the page's column names, in percent."""
    return pd.DataFrame(
        {
            "Of": table["kind"],
            "By": table["grouping"].str.replace("_", " "),
            "Group": table["name"],
            "Size": table["size"],
            "Lost": table["lost"],
            **{word: 100 * table[name] for word, name in SHARES.items()},
        }
    )


# Whole graph

# More edges are unreadable and take minutes to lay out.
MOST_DRAWN = 200_000
# Browsers cannot move more edges smoothly.
MOST_DRAWN_EDGES = 5000
WHOLE_HEIGHT = 700


def whole_graph(run: Run, seed: int, number: int, graph: Graph, part: Subgraph) -> None:
    """Show the whole graph after a round, with the sample marked, unless too large."""
    dataset = dataset_label(graph.name)
    if graph.num_edges > MOST_DRAWN:
        frame.empty(
            "Too large to draw",
            f"{dataset} has {formats.count(graph.num_edges)} edges; at most {formats.count(MOST_DRAWN)} can be drawn. "
            "See the sample above, or Measurements.",
            "blur_on",
        )
        return
    picture = _whole_picture(graph, run, seed, number, frame.is_dark(), part.nodes)
    panel = _whole_panel(graph, run, seed, number)
    about, marked = f"{panel.title}, seed {seed}. {panel.caption[1]}", formats.count(part.nodes.size)
    alt = f"{dataset}, {about}; {marked} nodes of the sample are marked"
    if isinstance(picture, str):
        st.iframe(picture, height=WHOLE_HEIGHT, alt=alt)
    else:
        st.image(picture, width="stretch", alt=alt)
    large = graph.num_edges > MOST_DRAWN_EDGES
    fresh = ", bold if removed in this round" if panel.fresh.any() else ""
    still = f" Above {formats.count(MOST_DRAWN_EDGES)} edges the picture is not interactive." if large else ""
    frame.caption(
        f"{frame.plain(panel.title)}, seed {seed}. Removed edges are orange{fresh}. Nodes of the sample are outlined.",
        f"{panel.caption[1]}. The {marked} nodes of the sample are {'large and ' if large else ''}outlined.{still}",
    )


@cache.cached(4, spinner="Laying out the whole graph", shared=True)
def _layout(graph: Graph) -> Subgraph:
    return take(graph, np.arange(graph.num_nodes))


@cache.cached(8, shared=True)
def _whole_panel(graph: Graph, run: Run, seed: int, number: int) -> GraphPanel:
    return _new_panel(graph, _layout(graph), run, seed, number)


@cache.cached(16, spinner="Drawing the whole graph")
def _whole_picture(graph: Graph, run: Run, seed: int, number: int, dark: bool, sample: IntArray) -> str | bytes:
    """Return an interactive document, or a PNG above MOST_DRAWN_EDGES edges."""
    panel = _whole_panel(graph, run, seed, number)
    if graph.num_edges > MOST_DRAWN_EDGES:
        # matplotlib takes half a second to import.
        from analysis.subgraphs.overview import overview_png

        return overview_png(panel, sample, dark)
    return panels_html([panel], dark, WHOLE_HEIGHT, marked=sample.tolist())
