"""Tickets: the sparsest ticket of each run, its cost, and actions on it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd
import streamlit as st

from analysis.drawing.description import Description
from analysis.figures.curves import MAC_NAMES, paper_baselines
from analysis.figures.pareto import pareto_front
from analysis.labels import dataset_label, metric_label, model_label, task_label
from analysis.tables.captions import caption, metric_words
from analysis.tables.curves import Score, XAxis, with_front
from analysis.tables.tickets import ticket_words
from app.components import controls, frame, run_select, url_state
from app.components.downloads import drawn, show_rounds
from app.data import cache
from app.views import ticket_actions, ticket_import
from glt import formats
from glt.errors import StoreError
from glt.store import MAC_CONVENTIONS, Run
from glt.verdicts import detectable_distance_words, rule_words

VIEWS = {"runs": "Runs", "file": "Ticket file"}

Row = Mapping[Hashable, Any]
ABOUT_PARETO = (
    "A round is on the Pareto front if no other round has as high a mean score at as low a cost. The front compares "
    "means without a test, over all chosen runs of one data set and network."
)


def page() -> None:
    """Show the page."""
    with frame.page("Tickets", "The sparsest round of each run that loses significantly less than the margin."):
        if controls.segments("view", "View", VIEWS, label_visibility="collapsed") == "file":
            ticket_import.show_import()
        else:
            _of_runs()


def _of_runs() -> None:
    finished = run_select.finished_runs(
        "runs",
        "No tickets yet",
        "Tickets appear as soon as a run has finished its first pruning round.",
        "confirmation_number",
    )
    if not finished:
        return
    with frame.row("controls"):
        chosen = run_select.pick_runs(finished, run_select.together(finished))
        x, score, margin = run_select.pick_axis(), run_select.pick_score(), run_select.pick_margin()
    runs = run_select.chosen_runs(chosen, "confirmation_number")
    if not runs:
        return
    table = cache.tickets_of(runs, score, "dense_features", margin)
    if table.empty:
        frame.empty("No pruned rounds", "The chosen runs have no finished round after the dense one.", "hourglass")
        return
    _finding(table)
    show_rounds(
        _pareto_figure(runs, x, score, margin),
        "pareto",
        "Test score of every round against its cost, with the Pareto front",
    )
    about = caption(cache.rounds_of(runs), score, "dense_features", margin, paper=False)
    frame.caption(
        "Each mark is a round. Filled marks: the Pareto front of mean score and cost.",
        f"{ABOUT_PARETO} {frame.plain(about)}",
    )
    show_cards({run.reference: run for run in runs}, table)
    with st.container(key="figures-tickets"):
        st.table(as_read(runs, score, margin), border="horizontal", hide_index=True)
    frame.caption(*_caption(table, margin))
    frame.results_note(runs)


def _finding(table: pd.DataFrame) -> None:
    """State which rounds are tickets and which are open."""
    paper = next(iter(paper_baselines(table)), None)
    dense = table["dense"].iloc[0]
    baseline = (
        f" The paper reports {formats.percent(paper)} for its dense network. Here rounds are compared with a dense "
        f"network trained like the pruned ones, which reaches {formats.percent(dense)}."
        if paper is not None and paper < dense and not table["is_ticket"].any()
        else ""
    )
    icon = "star" if table["is_ticket"].any() else "info"
    st.info(frame.plain(f"{ticket_words(table)}{baseline}"), icon=f":material/{icon}:")


def as_read(runs: Sequence[Run], score: Score, margin: float) -> pd.DataFrame:
    """Return one row per run in words: round, verdict, paired difference, MACs."""
    tables = {name: cache.tickets_of(runs, score, name, margin) for name in MAC_CONVENTIONS}
    table = tables["dense_features"]
    read = {
        "Method": list(map(frame.plain, table["label"])),
        "Round": [f"★ {row['round']}" if row["is_ticket"] else str(row["round"]) for row in table.to_dict("records")],
        "Verdict": list(table["verdict"]),
        f"Test {metric_words(table)}": [
            formats.percent_interval(mean, high - mean) for mean, high in zip(table["mean"], table["high"], strict=True)
        ],
        "Dense": [formats.percent(value) for value in table["dense"]],
        "Paired difference (95% interval)": [difference(row) for row in table.to_dict("records")],
        "Holm-adjusted p": [
            formats.p_value(value).removeprefix("p ").removeprefix("= ") or formats.MISSING
            for value in table["p_adjusted"]
        ],
        "Seeds": [str(count) for count in table["seeds"]],
        "Paper's criterion": ["met" if met else "not met" for met in table["paper_criterion"]],
    }
    for name, counted in tables.items():
        read[f"MACs, {MAC_NAMES[name]}"] = [
            f"{formats.macs(macs)} ({formats.percent(-removed)})"
            for macs, removed in zip(counted["macs"], counted["macs_removed"], strict=True)
        ]
    return pd.DataFrame(read).map(lambda text: text.replace(" %", f"{formats.NO_BREAK}%"))


def difference(row: Row) -> str:
    """Return a paired difference in words, with its interval if known."""
    text = formats.points(row["difference"])
    low, high = row["difference_low"], row["difference_high"]
    if math.isnan(low):
        return text
    ends = (formats.points(end).removesuffix(" points") for end in (low, high))
    return f"{text} ({' to '.join(ends)})"


def _caption(table: pd.DataFrame, margin: float) -> tuple[str, str]:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates()
    where = " and ".join(
        f"{dataset_label(dataset)} {task_label(task, objective)} with {model_label(model)}"
        for dataset, task, objective, model in settings.itertuples(index=False)
    )
    family = int(table["family"].max())
    return (
        f"{where}. Each run shows its sparsest ticket, else the round closest by validation score.",
        f"A ticket is {rule_words(margin, family)}, in mean test {metric_words(table)}. A round that loses "
        "significantly more is no ticket. Any other round is open. Differences are paired by seed. Paper's criterion: "
        "mean at least the dense mean, without a test. Cards count MACs with dense features, as the paper does.",
    )


@drawn()
def _pareto_figure(runs: Sequence[Run], x: XAxis, score: Score, margin: float) -> Description:
    table = cache.curve_of(runs, score, x, "dense_features", margin)
    return pareto_front(with_front(table, x), cache.rounds_of(runs), x=x, score=score)


ACROSS = 3
ABOUT_SEED = "Scores are means over seeds. Audit, MACs, latency, downloads and size on disk are of this seed."


def show_cards(runs: Mapping[str, Run], table: pd.DataFrame) -> None:
    """Show a card for each row of a `tickets_table`, and the seed of the actions."""
    rows = table.to_dict("records")
    seeds = sorted({seed for run in runs.values() for seed in run.seeds() if run.seed(seed).whole_rounds()})
    options = {str(seed): str(seed) for seed in seeds}
    chosen = int(controls.select("seed", "Seed for actions", options, width=150, help=ABOUT_SEED))
    for column, row in frame.in_columns(rows, ACROSS):
        with column, st.container(border=True, key=f"ticket-{row['run']}"):
            _card(runs[row["run"]], row, chosen)


def seed_of(run: Run, number: int, chosen: int) -> int:
    """Return the chosen seed, or the first one that has this round."""
    seeds = [seed for seed in run.seeds() if run.seed(seed).whole_rounds() > number]
    return chosen if chosen in seeds else seeds[0]


def _card(run: Run, row: Row, chosen: int) -> None:
    number = int(row["round"])
    seed = seed_of(run, number, chosen)
    with st.container(gap="xsmall"):
        st.subheader(frame.plain(str(row["label"])), anchor=False)
        if row["is_ticket"]:
            st.badge(f"ticket, round {number}", color="green", icon=":material/star:")
        else:
            color: Literal["orange", "gray"] = "orange" if row["verdict"] == "open" else "gray"
            st.badge(f"{row['verdict']}; closest by validation: round {number}", color=color)
    left, right = st.columns(2, gap="small")
    left.metric(f"Test {metric_label(row['dataset'], row['task'])}", formats.percent(row["mean"]))
    right.metric("Against dense", formats.points(row["difference"]))
    left.metric("Graph sparsity", formats.percent(row["graph_sparsity"]))
    right.metric("Weight sparsity", formats.percent(row["weight_sparsity"]))
    left.metric("MACs", formats.macs(row["macs"]))
    # Only a ticket saves MACs at an equal score.
    change = "saved" if row["is_ticket"] else "removed"
    right.metric(f"MACs {change}", formats.percent(row[f"macs_{change}"]))
    st.caption("  \n".join(_sentences(run, row, number, seed)))
    if seed != chosen:
        st.caption(f":material/info: Seed {chosen} of this run lacks this round: actions use seed {seed}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ticket_actions.audit(run, number, seed)
        ticket_actions.mac_counts(run, number, seed)
        ticket_actions.latency(run, number, seed)
        ticket_actions.download(run, number, seed)
        view = {"run": run.reference, "seed": str(seed), "round": str(number)}
        url_state.link("subgraphs", "Subgraph", ":material/hub:", **view)


def _sentences(run: Run, row: Row, number: int, seed: int) -> list[str]:
    kept, both = formats.percent(row["edges_kept_either_way"]), formats.percent(row["edges_kept_both_ways"])
    detectable = detectable_distance_words(int(row["paired_seeds"]), row["detectable"])
    return [
        frame.plain(row["verdict_sentence"]),
        *([f"{detectable}."] if detectable else []),
        f"Undirected edges kept: {kept} either way, {both} both ways.",
        f"Search time up to this round: {formats.duration(row['search_seconds'])} per seed.",
        f"{_disk(run, number, seed)}.",
    ]


def _disk(run: Run, number: int, seed: int) -> str:
    if run.is_example:
        return "On disk: examples keep only masks"
    try:
        pruned, dense = (formats.file_size(run.seed(seed).bytes_on_disk(place)) for place in (number, 0))
    except StoreError as error:
        return f"On disk: {frame.plain(str(error)).removesuffix('.')}"
    return f"On disk: {pruned}, dense round {dense} (seed {seed})"
