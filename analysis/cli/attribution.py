"""`attribution`: effects of edges, weights and starts, from the runs of `reproduce attribution`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from analysis.cli.compare import records
from analysis.cli.main import chosen_score, score_options
from glt.cli import options
from glt.cli.main import DONE, Args, verb

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from rich.console import Console

    from analysis.attribution import Attribution

ABOUT = (
    "Test scores are means over seeds with 95% intervals. Contrasts: paired t tests, Holm over all of a kind at all "
    "rounds. Main effects average over the other two factors; an interaction is what a pair adds to both effects."
)


@verb("attribution", "attribution", "attribution --dataset citeseer --model gcn --rounds 4,9,13,16 --json")
@options.option("--dataset", metavar="D", show_default="the only one", help="data set")
@options.option("--model", metavar="M", show_default="the only one", help="graph neural network")
@options.option("--rounds", type=options.SEEDS, metavar="R,...", show_default="the only ones", help="rounds of UGS")
@score_options
@options.store
@options.as_json
def attribution(args: Args) -> int:
    """Report which half of a ticket carries its accuracy.

    Reads the runs of `reproduce attribution`: edges and weights of UGS,
    drawn, by a rule or all of them, in every combination.
    """
    from rich.console import Console

    from analysis.attribution import (
        attributions,
        cells_table,
        chosen_attribution,
        effects_table,
        macs_table,
        variance_shares,
    )

    known = attributions(options.open_store(args).runs())
    found = chosen_attribution(known, args.dataset, args.model, args.rounds)
    cells = cells_table(found, chosen_score(args))
    effects, shares, saved = effects_table(cells), variance_shares(cells), macs_table(cells, args.macs)
    if args.json:
        tables = {"cells": cells, "effects": effects, "variance": shares, "macs_removed": saved}
        about = {
            "source": found.source,
            "rounds": list(found.rounds),
            "missing": [cell.words for cell in found.missing],
        }
        options.print_json({**about, **{name: records(table) for name, table in tables.items()}})
        return DONE
    console = Console(file=sys.stdout)
    _print_all(console, found, cells, effects)
    _print_shares(console, shares, "Share of the variance between cells (%)", "factor", "share")
    melted = saved.drop(columns="seeds").melt("round", var_name="half", value_name="share")
    _print_shares(console, melted, "MACs removed by the masks of UGS (%)", "half", "share")
    return DONE


def _print_all(console: Console, found: Attribution, cells: pd.DataFrame, effects: pd.DataFrame) -> None:
    from analysis.attribution import KIND_WORDS, cell_scores, effects_by_round, finding
    from analysis.labels import dataset_label, model_label
    from glt.formats import as_typed, percent_interval

    heads = [f"round {number}" for number in found.rounds]
    names = f"{dataset_label(found.config.dataset)}, {model_label(found.config.model)}"
    means = cell_scores(cells)
    of_cell = {
        key: {
            row["round"]: percent_interval(row["mean"], row["high"] - row["mean"]).removesuffix(" %")
            for row in rows.to_dict("records")
        }
        for key, rows in means.groupby("cell", sort=False)
    }
    _print_table(console, f"{names}: test score (%)", heads, of_cell, found.rounds)
    for kind, words in KIND_WORDS.items():
        family = effects.loc[effects["kind"] == kind, "family"].max()
        over = f"; * significant, Holm over {family}" if family > 0 else ""
        _print_table(console, f"{words} (points{over})", heads, effects_by_round(effects, kind), found.rounds)
    sentences = [finding(effects), ABOUT]
    if found.missing:
        number = f"{len(found.missing)} of {len(found.missing) + len(found.runs)}"
        rounds = ",".join(map(str, found.rounds))
        named = ("--dataset", found.config.dataset, "--model", found.config.model, "--rounds", rounds)
        command = as_typed("reproduce", "attribution", *named)
        sentences.append(f"{number} cells have no runs: `{command}`.")
    for sentence in filter(None, sentences):
        console.print(sentence, highlight=False, markup=False)


def _print_table(
    console: Console, title: str, heads: Sequence[str], rows: Mapping[str, Mapping[int, str]], rounds: Sequence[int]
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    shown = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, title_justify="left")
    shown.add_column("", overflow="fold")
    for head in heads:
        shown.add_column(head, justify="right", no_wrap=True)
    for name, by_round in rows.items():
        shown.add_row(Text(name), *(by_round.get(number, "") for number in rounds))
    console.print(shown)


def _print_shares(console: Console, table: pd.DataFrame, title: str, name: str, value: str) -> None:
    from glt.formats import percent

    rounds = list(dict.fromkeys(table["round"]))
    rows: dict[str, dict[int, str]] = {}
    for row in table.to_dict("records"):
        rows.setdefault(str(row[name]), {})[row["round"]] = percent(row[value]).removesuffix(" %")
    _print_table(console, title, [f"round {number}" for number in rounds], rows, rounds)
