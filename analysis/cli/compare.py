"""`compare` and `leaders`: two runs side by side, and many runs beside the one that validates best."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from analysis.cli.main import budget_options, chosen_budget, chosen_score, find_runs, named_apart, score_options
from glt import formats
from glt.cli import options
from glt.cli.main import DONE, Args, verb
from glt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd
    from rich.table import Table
    from rich.text import Text

    from analysis.budget import Budget
    from glt.store import Run

PARTS = ("dense", "best", "sparsest")
HEADS = ("dense", "best", "k", "ticket", "k", "graph", "MACs", "seeds")
# In so few letters a line, numbers in these places are left out, or words would be broken.
NARROW, LEFT_OUT = 110, (2, 4, 5, 6)
LEAST_LABEL = 18
NARROWED = " A wider terminal also shows rounds, sparsity and MACs, --json everything."
CAPTION = (
    "Scores and sparsities in percent. best: the pruned round with the highest validation score; ticket: the score of "
    "the sparsest round {rule}. The reference has the highest mean validation score "
    "(of rows with two seeds or more, where there are any); differences are of test scores, with p-values after Holm's "
    "correction over the rows compared with it."
)
GROUPED = " A group takes every seed once, with its mean over the runs; seeds: how many different ones there are."


@verb("compare", "compare RUN RUN", "compare RUN examples/NAME --at graph --margin 1 --json")
@options.argument("runs", metavar="RUN RUN", type=options.RunName(), nargs=2, help=options.RUN_HELP)
@options.store
@options.option(
    "--at",
    type=options.choice("match", "round", "graph", "weight"),
    default="round",
    show_default=True,
    metavar="W",
    help="match rounds by number, graph sparsity or weight sparsity",
)
@score_options
@options.as_json
def compare(args: Args) -> int:
    """Compare two runs: settings, and paired differences by seed.

    Differences are those of the first run minus the second.
    """
    from rich.console import Console

    from analysis.compare import AT_WORDS, environment_differences, paired_table, setting_differences, shared_seeds
    from analysis.leaderboard import few_seeds_words, paired_words
    from analysis.tables.rounds import rounds_table

    store = options.open_store(args)
    one, other = (store.find(name) for name in args.runs)
    if one.path.resolve() == other.path.resolve():
        raise ConfigError(f"Both names mean the run {one.reference}: name two runs.")
    named_apart([one, other])
    rounds = rounds_table([one, other])
    table = paired_table(rounds, one.reference, other.reference, chosen_score(args), args.at)
    seeds = shared_seeds(rounds, one.reference, other.reference)
    if args.json:
        found = setting_differences(one.config, other.config)
        options.print_json(
            {
                "one": one.reference,
                "other": other.reference,
                "settings": [row._asdict() for row in found.rows],
                "only_one": found.only_one,
                "only_other": found.only_other,
                "environments": [row._asdict() for row in environment_differences(one, other)],
                "shared_seeds": seeds,
                "at": args.at,
                "paired": records(table),
            }
        )
        return DONE
    console = Console(file=sys.stdout)
    labels = dict(zip(rounds["run"], rounds["label"], strict=True))
    first, second = labels.get(one.reference, one.reference), labels.get(other.reference, other.reference)
    _print_settings(console, one, other)
    lines = [few_seeds_words(seeds)]
    lines += [paired_words(table, first, second)] if len(table) else []
    if len(table):
        _print_paired(console, table, f"{first} minus {second} at {AT_WORDS[args.at]}")
    for line in filter(None, lines):
        console.print(line, highlight=False, markup=False)
    return DONE


def _print_settings(console: Any, one: Run, other: Run) -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from analysis.compare import environment_differences, setting_differences, setting_text

    found = setting_differences(one.config, other.config)
    table = Table(
        "",
        *(Column(Text(run.reference, overflow="fold")) for run in (one, other)),
        title="Settings that differ",
        box=box.SIMPLE_HEAD,
    )
    for row in found.rows:
        table.add_row(row.setting, *row.words())
    for used, place in ((found.only_one, 0), (found.only_other, 1)):
        for name, value in used.items():
            cells = ["not used", "not used"]
            cells[place] = setting_text(name, value)
            table.add_row(name, *map(Text, cells))
    for each in environment_differences(one, other):
        table.add_row(each.what, *(Text(", ".join(values) or "not recorded") for values in (each.one, each.other)))
    console.print(table)


def _print_paired(console: Any, table: pd.DataFrame, title: str) -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    heads = ("k", "graph", "weights", "first", "second", "points", "Holm", "significant", "seeds")
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    shown = Table(*columns, title=Text(title), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for row in table.to_dict("records"):
        shares = (row["graph_sparsity"], row["weight_sparsity"], row["one"], row["other"])
        difference = formats.points_interval(row["difference"], row["high"] - row["difference"]).removesuffix(" points")
        cells = [str(int(row["round"])), *map(formats.percent, shares), difference, formats.p_value(row["p_adjusted"])]
        cells.append({"higher": "higher", "lower": "lower", "none": "no"}.get(row["verdict"], "no test"))
        shown.add_row(*cells, str(int(row["seeds"])))
    console.print(shown)


@verb(
    "leaders",
    "leaders RUN RUN",
    "leaders RUN RUN --by hidden --rank dense --json",
    "leaders RUN RUN RUN --at edges --rounds 4,9,13,16 --reference random",
)
@options.runs_argument
@options.option("--by", metavar="FIELD", help="one row per value of this setting, each seed its mean over the runs")
@options.option(
    "--rank",
    type=options.choice("rank", "best", "dense"),
    default="best",
    show_default=True,
    metavar="R",
    help="round at which runs are compared",
)
@budget_options
@score_options
@options.as_json
def leaders(args: Args) -> int:
    """Compare runs with the best validated one, or at an equal budget.

    With `--by`, runs are grouped by a setting. With an option of an equal budget, runs are compared at its targets.
    """
    from analysis.budget import USUAL
    from analysis.compare import grouped_by
    from analysis.leaderboard import leader_table
    from analysis.runs import must_have_rows
    from analysis.tables.curves import family_size
    from analysis.tables.rounds import rounds_table
    from glt.verdicts import rule_words

    runs = find_runs(args)
    rounds = must_have_rows(rounds_table(runs))
    budget = chosen_budget(args, runs)
    if budget != USUAL:
        if args.by:
            raise ConfigError("Runs at an equal budget are not grouped: leave out --by, or --at and the other targets.")
        return _budget(rounds, budget, args)
    groups = grouped_by(runs, args.by) if args.by else None
    table = leader_table(
        rounds, score=chosen_score(args), macs=args.macs, margin=args.margin, rank=args.rank, groups=groups
    )
    if args.json:
        options.print_json(records(table))
    else:
        _print_leaders(table, rule_words(args.margin, family_size(rounds, chosen_score(args))))
    return DONE


def _print_leaders(table: pd.DataFrame, rule: str) -> None:
    from rich.console import Console

    from analysis.labels import dataset_label, task_label
    from analysis.leaderboard import BOARD_KEYS

    console = Console(file=sys.stdout)
    for (dataset, task, objective, data), rows in table.groupby(BOARD_KEYS, sort=False):
        title = f"{dataset_label(dataset)}, {task_label(task, objective)}" + (f", data {data}" if data else "")
        console.print(_shown(rows, title, console.width < NARROW))
    together = not table["run"].all()
    narrowed = NARROWED if console.width < NARROW else ""
    console.print(CAPTION.format(rule=rule) + (GROUPED if together else "") + narrowed, highlight=False, markup=False)


def _budget(rounds: pd.DataFrame, budget: Budget, args: Args) -> int:
    from rich.console import Console

    from analysis.budget import EQUALS, budget_caption, budget_table, budget_words
    from analysis.labels import dataset_label, task_label
    from analysis.leaderboard import BOARD_KEYS

    table = budget_table(rounds, budget, chosen_score(args), args.macs)
    if args.json:
        options.print_json(records(table))
        return DONE
    console = Console(file=sys.stdout)
    for (dataset, task, objective, data), rows in table.groupby(BOARD_KEYS, sort=False):
        where = f"{dataset_label(dataset)}, {task_label(task, objective)}" + (f", data {data}" if data else "")
        console.print(_at_targets(rows, f"{where}, at {EQUALS[rows['equal'].iloc[0]]}"))
    console.print(budget_words(table), highlight=False, markup=False)
    console.print(f"{formats.opening(budget_caption(table))}.", highlight=False, markup=False)
    return DONE


def _at_targets(rows: pd.DataFrame, title: str) -> Table:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    from analysis.budget import result_words, target_words

    heads = [Column("", overflow="fold", min_width=LEAST_LABEL)]
    heads += [Column(head, justify="right", no_wrap=True) for head in ("k", "kept", "score")]
    heads += [Column(f"against {rows['reference'].iloc[0]}", overflow="fold")]
    shown = Table(*heads, title=Text(title), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for _, at in rows.groupby(["target", "target_round"], sort=False, dropna=False):
        shown.add_section()
        shown.add_row(Text(target_words(at.iloc[0].to_dict()), style="bold"))
        for row in at.to_dict("records"):
            score = formats.percent_interval(row["mean"], row["high"] - row["mean"]).removesuffix(" %")
            kept = formats.percent(row["kept"]).removesuffix(" %")
            shown.add_row(Text(row["label"]), formats.whole(row["round"]), kept, score, result_words(row))
    return shown


def _shown(rows: pd.DataFrame, title: str, narrow: bool) -> Table:
    from rich import box
    from rich.table import Table

    shown = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    kept = [place for place in range(len(HEADS)) if not (narrow and place in LEFT_OUT)]
    shown.add_column("", overflow="fold", min_width=LEAST_LABEL)
    for place in kept:
        shown.add_column(HEADS[place], justify="right", no_wrap=True)
    shown.add_column("against the reference", overflow="fold", min_width=len("-22.5 ± 10.7 points,"))
    for row in rows.to_dict("records"):
        label, *numbers, compared = _cells(row)
        shown.add_row(label, *(numbers[place] for place in kept), compared)
    return shown


def _cells(row: Mapping[Hashable, Any]) -> list[Text | str]:
    from rich.text import Text

    from analysis.leaderboard import comparison_words

    parts = [formats.percent_interval(row[f"{name}_mean"], row[f"{name}_high"] - row[f"{name}_mean"]) for name in PARTS]
    dense, best, sparsest = (part.removesuffix(" %") for part in parts)
    graph = formats.percent(row["sparsest_graph_sparsity"]).removesuffix(" %")
    ticket = [sparsest, formats.whole(row["sparsest_round"]), graph, formats.macs(row["sparsest_macs"])]
    return [
        Text(row["label"]),
        dense,
        best,
        formats.whole(row["best_round"]),
        *ticket,
        str(row["seeds"]),
        comparison_words(row).replace(": ", ":\n", 1).replace(", p", ",\np"),
    ]


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as a list of objects; a missing number is null, a whole one has no decimals.

    >>> import pandas as pd
    >>> records(pd.DataFrame({"round": [3.0, math.nan], "verdict": ["higher", ""]}))
    [{'round': 3, 'verdict': 'higher'}, {'round': None, 'verdict': ''}]
    """
    rows = table.to_dict("records")
    return [{str(name): _plain(str(name), value) for name, value in row.items()} for row in rows]


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    counted = name.endswith(("round", "seeds", "runs"))
    return int(value) if counted else value
