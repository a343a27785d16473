"""The Paper page's section on other methods: each publication's numbers beside our runs with its settings."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from analysis.labels import dataset_label, model_label
from analysis.other_methods import (
    ALIKE,
    Publication,
    Results,
    command,
    compared,
    config_of,
    printed,
    publications,
    results_of,
)
from app.components import frame, url_state
from app.components.downloads import show_text_table
from app.data import cache
from app.data.runs import Catalog, state_of
from glt import formats
from glt.store import Run, run_name
from glt.verdicts import DELTA, margin_words

NAME, LABEL = "other-methods", "Other methods"


def show(catalog: Catalog, dataset: str, model: str, seeds: Sequence[int]) -> None:
    """Show a block for every publication."""
    st.subheader(LABEL, anchor=False)
    st.caption(
        f"{dataset_label(dataset)}, {model_label(model)}, node classification. Each method has the settings of its own "
        "publication; none is tuned."
    )
    for publication in publications():
        with st.container(border=True, key=f"method-{publication.key}", gap="small"), frame.or_why():
            _block(catalog, publication, dataset, model, seeds)


def found_words(catalog: Catalog, dataset: str, model: str) -> str:
    """Return how many of the publications have a run here, as a Markdown badge."""
    found = sum(_run(catalog, publication, dataset, model) is not None for publication in publications())
    return f":gray-badge[:material/science: {found} of {len(publications())} run here]"


def _run(catalog: Catalog, publication: Publication, dataset: str, model: str) -> Run | None:
    """Return the run with a publication's settings that has a finished round."""
    name = run_name(config_of(publication, dataset, model))
    runs = [run for run in catalog.runs if run.name == name]
    return next((run for run in runs if any(run.seed(seed).whole_rounds() for seed in run.seeds())), None)


@cache.cached(64, shared=True)
def _results(run: Run) -> Results:
    return results_of(run)


def _block(catalog: Catalog, publication: Publication, dataset: str, model: str, seeds: Sequence[int]) -> None:
    run = _run(catalog, publication, dataset, model)
    results = _results(run) if run is not None else None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{publication.label}**", width="content")
        if run is None:
            st.badge("not run here", color="gray", width="content")
        else:
            st.badge(state_of(run), color="gray", width="content")
    st.caption(frame.plain(f"{publication.reference}. {publication.settings}"))
    if publication.claim:
        st.caption(frame.plain(f"Claim: {publication.claim}"))
    _numbers(publication, results, dataset, model)
    if run is not None and results is not None:
        _rounds(publication, run, results)
    _missing(publication, run, (dataset, model), seeds)


def _numbers(publication: Publication, results: Results | None, dataset: str, model: str) -> None:
    numbers = [compared(number, results) for number in printed(publication, dataset, model)]
    if not numbers:
        st.caption("No printed number is known here for this data set and network.")
        return
    rows = [(each.printed.label, each.printed.words, each.ours, each.result) for each in numbers]
    show_text_table(f"{publication.key}-published", pd.DataFrame(rows, columns=["", "Published", "Ours", "Test"]))
    sources = dict.fromkeys(each.printed.source for each in numbers)
    details = (
        f"Ours: difference from the dense network at our round of the published sparsity, if there is one within "
        f"{100 * ALIKE:g} points. Tests are those of the rounds below."
    )
    frame.caption(f"Published: {'; '.join(sources)}.", details, "Comparison")
    failing = [each.printed.label.lower() for each in numbers if each.fails]
    if failing and results is not None:
        words = f"Not reproduced with {formats.listing(results.seeds)}: {' and '.join(failing)}."
        st.markdown(f":orange-badge[{frame.plain(words)}]")


def _rounds(publication: Publication, run: Run, results: Results) -> None:
    st.markdown(frame.plain(results.sentence()))
    rows = [
        (
            _unbroken(f"k = {each.round}"),
            _unbroken(formats.percent(each.graph_sparsity)),
            _unbroken(formats.percent(each.weight_sparsity)),
            _unbroken(each.score_words),
            _unbroken(each.difference_words),
            each.verdict.headline() if each.verdict else formats.MISSING,
        )
        for each in results.shown
    ]
    heads = ["Round", "Edges removed", "Weights removed", "Test accuracy", "Minus dense", "Verdict"]
    show_text_table(f"{publication.key}-rounds", pd.DataFrame(rows, columns=heads))
    frame.caption(
        f"Mean and 95% interval over {formats.listing(results.seeds)}; test accuracy at the best validation.",
        f"Verdicts compare paired differences with a margin of {margin_words(DELTA)}; all pruned rounds of the run are "
        "one family (Holm). Intervals need three seeds.",
    )
    st.caption(frame.plain(results.cost_words()))
    url_state.link("curves", "Curve", ":material/show_chart:", runs=run.reference)


def _unbroken(text: str) -> str:
    """Return a number with its unit on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _missing(publication: Publication, run: Run | None, setting: tuple[str, str], seeds: Sequence[int]) -> None:
    """Show the command for required seeds that are not finished."""
    finished = {seed for seed in run.seeds() if run.seed(seed).is_complete()} if run is not None else set[int]()
    lacking = [seed for seed in seeds if seed not in finished]
    if lacking:
        st.code(command(publication, *setting, lacking), language="bash", wrap_lines=True)
