"""Tables as LaTeX: booktabs, escaped text, means with intervals, the best in bold.

`measurements_latex`, `paper_latex` and `tickets_latex` fill `booktabs`, which fits a table to its page: one column or
two, smaller type, labels broken into lines.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis import published
from analysis.budget import NO_ROUND, budget_caption, budget_words, met_seeds, target_words
from analysis.labels import dataset_label, model_label, task_label
from analysis.leaderboard import REFERENCE
from analysis.measures import descriptions
from analysis.stability import stability_summary
from analysis.tables.captions import MAC_WORDS, averaged_over, data_words, metric_words, score_words
from analysis.tables.curves import Score
from analysis.transfer import COMPARISONS, GROUP, group_words, transfer_summary
from glt import formats
from glt.store import MacConvention
from glt.verdicts import DELTA, half_width, rule_words

if TYPE_CHECKING:
    from jinja2 import Template

COUNTS = ("graph_sparsity", "edges_kept_either_way", "edges_kept_both_ways")
SMALL = 1e3
SHOWN = (*COUNTS, *published.MEASUREMENT_ROWS)
PAPER_HEADERS = ("Run", "Round", "Graph sp. (%)", "Weight sp. (%)", "Ours (%)", "Paper (%)", "Gap")
PAPER_CAPTION = (
    "Test {metric} beside the values the paper prints, matched by round; "
    r"ours with the half-width of the 95\% $t$ interval over seeds where there are three and more; gap in points."
)
TICKET_HEADERS = (
    "Run",
    "Round",
    "Graph sp.",
    "Weight sp.",
    "Edges kept",
    "{metric}",
    "Against dense",
    "Verdict",
    "MACs (% dense)",
)

# In TeX points. COLUMN fits one column of an article (letter paper, margins of 1 in) and of ICML (3.25 in); PAGE fits
# NeurIPS and ICLR (5.5 in), and two columns of ICML (6.75 in) and of an article (6.5 in).
COLUMN, PAGE = 229.0, 396.0
# Upper bounds of the widths of Computer Modern letters at 10 points.
WIDTHS = {
    **dict.fromkeys("ijl.,:;'|!`", 2.8),
    **dict.fromkeys("frst()[]-I ", 4.0),
    **dict.fromkeys("acevxyz/?", 5.3),
    **dict.fromkeys("0123456789", 5.01),
    **dict.fromkeys("mw", 8.4),
    **dict.fromkeys("M%&+=<>", 9.2),
    "W": 10.3,
    # Binary signs have space on both sides.
    "\N{PLUS-MINUS SIGN}": 12.3,
    "\N{MINUS SIGN}": 7.8,
}
OTHER, CAPITAL = 5.6, 7.8
# Characters that TeX reads as commands, or prints differently in its oldest font encoding (OT1), and their escapes.
SPECIAL: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "`": r"\`{}",
    "^": r"\textasciicircum{}",
    # In OT1 these four print as ¡, ¿, a dash and a closing quotation mark.
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': "''",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{PLUS-MINUS SIGN}": r"\ensuremath{\pm}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{MIDDLE DOT}": r"\ensuremath{\cdot}",
    "\N{SUPERSCRIPT MINUS}": r"\ensuremath{{}^-}",
    "\N{SUPERSCRIPT THREE}": r"\ensuremath{{}^3}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{EM SPACE}": r"\quad ",
    "\N{NO-BREAK SPACE}": "~",
    "\N{ZERO WIDTH SPACE}": "{}",
}
# Letters beyond this one stop pdflatex, unless the paper loads a package for their script.
LAST_LATIN = "\N{LATIN SMALL LETTER Z WITH CARON}"
# Letters up to it that OT1 lacks.
NOT_IN_OT1 = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲų")
# Two of these in a row would print as one dash or quotation mark.
_PAIRS = re.compile(r"(?<=([-',]))(?=\1)")
UNKNOWN = "?"
_OPENING = re.compile(r'(?<!\S)"(?=\S)')
MISSING = "--"
TEMPLATE = r"""% needs \usepackage{booktabs}
\begin{<< environment >>}[t]
\centering
\caption{<< caption >>}
\label{<< label >>}
<% if layout.size %>
<< layout.size >>
<% endif %>
\setlength{\tabcolsep}{<< "%g" | format(layout.gap) >>pt}
<% for block in blocks %>
<% if not loop.first %>
\par\medskip
<% endif %>
\begin{tabular}{@{}l<< "r" * (block.headers | length - 1) >>@{}}
\toprule
<% for cells in block.cells(layout) %>
<< cells | join(" & ") >> \\
<% if loop.first %>
\midrule
<% endif %>
<% endfor %>
\bottomrule
\end{tabular}
<% endfor %>
\end{<< environment >>}
"""


def measurements_latex(
    table: pd.DataFrame, dataset: str, shown: Sequence[str] = SHOWN, label: str = "tab:measurements", note: str = ""
) -> str:
    """Return `measurement_table` as LaTeX: means with 95% t intervals, the one closest to the original in bold.

    A second line gives the values that the paper prints; `note` ends the caption.
    """
    rows = []
    for name in shown:
        scale, decimals, unit = _scale(name, float(table[name].iloc[0]))
        # A value that is equal for all seeds by construction (a sparsity) has no interval.
        halves = half_width(table[f"{name}_spread"].replace(0.0, np.nan), table["seeds"])
        closest = _closest(table, name)
        cells = [
            number(scale * mean, scale * half, decimals, bold=place == closest)
            for place, (mean, half) in enumerate(zip(table[name], halves, strict=True))
        ]
        rows.append([descriptions.label(name) + unit, *cells])
        if (column := f"{name}_published") in table:
            # The paper prints five decimals; the scale takes three of them.
            decimals = min(decimals, 2) if scale == SMALL else decimals
            rows.append(["\N{EM SPACE}in the paper", *(number(scale * v, decimals=decimals) for v in table[column])])
    headers = ["Measurement", *table["label"]]
    return booktabs(headers, rows, caption=_measurements_caption(table, dataset, note), label=label)


def _closest(table: pd.DataFrame, name: str) -> int | None:
    if name in (*COUNTS, "entries_kept") or len(table) < 3:
        return None
    distance = (table[name] - table[name].iloc[0]).abs().iloc[1:]
    return None if distance.isna().all() else int(np.nanargmin(distance.to_numpy())) + 1


def _scale(name: str, original: float) -> tuple[float, int, str]:
    if descriptions.is_share(name):
        return 100.0, 1, " (%)"
    if name in descriptions.COUNTED:
        return 1.0, 0 if abs(original) >= 100 else 1, ""
    if original and abs(original) < 0.01:
        return SMALL, 3, " (\N{MULTIPLICATION SIGN}10\N{SUPERSCRIPT MINUS}\N{SUPERSCRIPT THREE})"
    return 1.0, 0 if abs(original) >= 100 else 2 if abs(original) > 1 else 4, ""


def _measurements_caption(table: pd.DataFrame, dataset: str, note: str) -> str:
    # The first row is the original graph; rows without a finished seed do not count.
    seeds = [int(count) for count in table["seeds"].iloc[1:] if count] or [1]
    over = averaged_over(seeds).replace("95% t", r"95\% $t$")
    rounds = sorted({number for numbers in table["rounds"] for number in numbers})
    after = f" after round{'s' if len(rounds) > 1 else ''} {', '.join(map(str, rounds))}" if rounds else ""
    parts = [
        f"Graph measurements of {escape(dataset_label(dataset))}, original and pruned{after}: {over}",
        "an edge is kept when either direction is",
        "bold: the mean closest to the original (not tested)",
    ]
    printed = any(column.endswith("_published") for column in table)
    if printed:
        parts.append(escape(published.measured_at(dataset)).replace("The", "the", 1).removesuffix("."))
    if printed and published.swapped(dataset):
        parts.append("its columns of Cora and Citeseer are swapped, which is corrected here")
    return " ".join(["; ".join(parts) + ".", *([escape(note)] if note else [])])


def paper_latex(table: pd.DataFrame, label: str = "tab:paper") -> str:
    """Return `paper_table` as LaTeX."""
    rows = [
        [
            f"{dataset_label(row['dataset'])} {row['label']}",
            str(row["round"]),
            number(100 * row["graph_sparsity"]),
            number(100 * row["weight_sparsity"]),
            number(100 * row["mean"], 100 * (row["high"] - row["mean"])),
            number(100 * row["paper"]),
            number(100 * row["gap"]),
        ]
        for row in table.to_dict("records")
    ]
    return booktabs(PAPER_HEADERS, rows, caption=PAPER_CAPTION.format(metric=metric_words(table)), label=label)


def tickets_latex(
    table: pd.DataFrame,
    score: Score = "test",
    macs: MacConvention = "dense_features",
    margin: float = DELTA,
    label: str = "tab:tickets",
) -> str:
    """Return a `tickets_table` made with these choices as LaTeX; the tickets' best score and sparsity in bold."""
    tickets = table[table["is_ticket"]]
    best = {name: tickets[name].max() for name in ("mean", "graph_sparsity")}
    rows = [_ticket_row(row, best) for row in table.to_dict("records")]
    metric = metric_words(table)
    headers = [header.replace("{metric}", metric[:1].upper() + metric[1:]) for header in TICKET_HEADERS]
    return booktabs(headers, rows, caption=_tickets_caption(table, score, macs, margin), label=label)


def _ticket_row(row: Mapping[str, Any], best: Mapping[str, float]) -> list[str]:
    is_best = {name: row["is_ticket"] and row[name] == value for name, value in best.items()}
    macs, share = escape(formats.macs(row["macs"])), 1 - row["macs_removed"]
    return [
        row["label"],
        f"{row['round']}" + ("" if row["is_ticket"] else r"$^\dagger$"),
        number(100 * row["graph_sparsity"], bold=is_best["graph_sparsity"]),
        number(100 * row["weight_sparsity"]),
        " / ".join(formats.fixed(100 * row[f"edges_kept_{ways}"], 1) for ways in ("either_way", "both_ways")),
        number(100 * row["mean"], 100 * (row["high"] - row["mean"]), bold=is_best["mean"]),
        number(100 * row["difference"], 100 * (row["difference_high"] - row["difference"])),
        escape(row["verdict"]),
        macs if math.isnan(share) else f"{macs} ({formats.fixed(100 * share, 1)})",
    ]


def _tickets_caption(table: pd.DataFrame, score: Score, macs: MacConvention, margin: float) -> str:
    settings = table[["dataset", "task", "objective", "model"]].drop_duplicates().itertuples(index=False)
    where = "; ".join(f"{dataset_label(d)} {model_label(m)}, {task_label(t, o)}" for d, t, o, m in settings)
    over = averaged_over(map(int, table["seeds"])).replace("95% t", r"95\% $t$")
    parts = [
        f"Sparsest round of every run that is shown to be a graph lottery ticket ({escape(where)}): {over}",
        score_words(table, score),
        f"a ticket is {escape(rule_words(margin, int(table['family'].max()))).replace('paired t', 'paired $t$')}",
        r"sparsities, kept edges, scores and MACs of dense in \%",
        "bold: highest mean and graph sparsity of the tickets (not tested)",
        "difference in points against the dense model of the same seeds",
        "edges kept are undirected ones, in either / in both directions",
        f"MACs count {MAC_WORDS[macs]}",
    ]
    if mixed := data_words(table):
        parts.append(escape(mixed))
    if not table["is_ticket"].all():
        parts.append(r"$\dagger$: no round is shown to be a ticket; this one is closest by validation score")
    return "; ".join(parts) + "."


def budget_latex(
    table: pd.DataFrame, score: Score = "test", macs: MacConvention = "dense_features", label: str = "tab:budget"
) -> str:
    """Return a `budget_table` made with this score and these MACs as LaTeX: a row a run, two columns a target.

    A difference from the reference is bold where it is significant.
    """
    headers, rows = ["Run"], []
    for _, at in table.groupby(table.groupby("run").cumcount(), sort=False):
        # Data sets differ in the shares of targets, seldom in the rounds that these come from.
        words = list(dict.fromkeys(map(target_words, at.to_dict("records"))))
        rounds = dict.fromkeys(each.partition(":")[0] for each in words)
        headers += [words[0] if len(words) == 1 else " or ".join(rounds), "Difference"]
    for _, own in table.groupby("run", sort=False):
        cells = [cell for row in own.to_dict("records") for cell in _budget_cells(row)]
        rows.append([own["label"].iloc[0], *cells])
    return booktabs(headers, rows, caption=_budget_caption(table, score, macs), label=label)


def _budget_cells(row: Mapping[Any, Any]) -> list[str]:
    score = number(100 * row["mean"], 100 * (row["high"] - row["mean"]))
    if row["verdict"] == REFERENCE:
        return [score, "reference"]
    found = row["verdict"] in ("higher", "lower")
    difference, high = 100 * row["difference"], 100 * row["difference_high"]
    return [score, number(difference, high - difference, bold=found)]


def _budget_caption(table: pd.DataFrame, score: Score, macs: MacConvention) -> str:
    over = averaged_over(met_seeds(table)).replace("95% t", r"95\% $t$")
    parts = [
        f"{escape(budget_words(table)).replace('Paired t', 'Paired $t$')} {formats.opening(score_words(table, score))}",
        rf"{over}, in \%; differences in points, bold where significant",
        escape(budget_caption(table)),
        *([f"MACs count {MAC_WORDS[macs]}"] if table["equal"].iloc[0] == "macs" else []),
    ]
    if (table["verdict"] == NO_ROUND).any():
        parts.append(rf"{MISSING}: no round near enough")
    return "; ".join(parts) + "."


def stability_latex(table: pd.DataFrame, label: str = "tab:stability") -> str:
    """Return the `stability_summary` of a `stability_table` as LaTeX: a row a pair of runs, a column a part."""
    summary = stability_summary(table)
    parts = list(dict.fromkeys(summary["part"]))
    rows = []
    for (number_, one, other, same), own in summary.groupby(["round", "label", "other_label", "same_seed"], sort=False):
        means = own.set_index("part")["corrected"]
        seeds = "same seed" if same else "different seeds"
        cells = [number(means.get(part, math.nan), decimals=2) for part in parts]
        rows.append([f"{one}, {other}, {seeds}" if one != other else f"{one}, {seeds}", str(number_), *cells])
    low, high = int(summary["pairs"].min()), int(summary["pairs"].max())
    pairs = str(low) if low == high else f"{low} to {high}"
    caption = (
        "Chance-corrected overlap of masks, $(O - K_1 K_2 / E) / (\\min(K_1, K_2) - K_1 K_2 / E)$ for masks that keep "
        f"$K_1$ and $K_2$ of $E$ entries and share $O$: mean over {pairs} pairs of seeds; 1 for nested masks, 0 on "
        "average for independent draws with the same counts."
    )
    headers = ["Masks", "Round", *map(formats.opening, parts)]
    return booktabs(headers, rows, caption=caption, label=label)


def transfer_latex(table: pd.DataFrame, label: str = "tab:transfer") -> str:
    """Return the `transfer_summary` of a `transfer_table` as LaTeX: a row a matrix and round, a column a comparison."""
    summary = transfer_summary(table)
    rows = []
    for _, own in summary.groupby([*GROUP, "round"], sort=False):
        found = own.set_index("comparison")
        cells = [
            number(100 * row["mean"], 100 * (row["high"] - row["mean"]), bold=row["verdict"] in ("higher", "lower"))
            for row in found.reindex(list(COMPARISONS)).to_dict("records")
        ]
        rows.append([group_words(own.iloc[0].to_dict()), str(own["round"].iloc[0]), *cells])
    caption = (
        "Masks found with one seed and retrained under another, in points: mean over the seeds of retraining with the "
        r"half-width of its 95\% $t$ interval, bold where a paired $t$ test is significant at 5\%, Holm over "
        f"{formats.number_of(int(summary['family'].max()), 'comparison')}. All seeds of retraining share the masks."
    )
    headers = ["Masks", "Round", *map(formats.opening, COMPARISONS.values())]
    return booktabs(headers, rows, caption=caption, label=label)


def number(mean: float, half_width: float = math.nan, decimals: int = 1, bold: bool = False, unit: str = "") -> str:
    r"""Return a mean with the half-width of its interval, where it has one, in mathematics mode.

    >>> number(80.91, 0.42), number(80.91, bold=True), number(float("nan"))
    ('$80.9 \\pm 0.4$', '$\\mathbf{80.9}$', '--')
    """
    if math.isnan(mean):
        return MISSING
    text, half = formats.signed_text(mean, decimals), formats.signed_text(half_width, decimals)
    text = rf"\mathbf{{{text}}}" if bold else text
    interval = "" if math.isnan(half_width) else rf" \pm {half}"
    # Mathematics mode draws its own minus.
    return f"${text}{interval}{unit}$".replace(formats.MINUS, "-")


def booktabs(headers: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, label: str) -> str:
    """Return a table environment (needs the package booktabs) in the first of `LAYOUTS` that fits.

    Headers and the first cell of every row are plain text, broken into lines where needed; other cells are LaTeX. A
    table too wide for any layout is split into parts, one below the other.
    """
    blocks, layout = fitted([Block(headers, rows)])
    environment = "table*" if layout.wide else "table"
    return _template().render(blocks=blocks, layout=layout, environment=environment, caption=caption, label=label)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    marks: dict[str, Any] = {"block_start_string": "<%", "block_end_string": "%>"}
    marks |= {"variable_start_string": "<<", "variable_end_string": ">>", "comment_start_string": "<#"}
    # LaTeX, not HTML; all text is escaped for TeX before.
    made = Environment(**marks, trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined)  # noqa: S701
    return made.from_string(TEMPLATE)


def _cell(words: str, limit: int, side: str, place: str) -> str:
    """Return words as one escaped cell; `place` ("t", "b") aligns the first or the last of several lines."""
    lines = wrapped(words, limit)
    if len(lines) == 1:
        return escape(lines[0])
    inner = r"\\".join(map(escape, lines))
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side}@{{}}}}{inner}\end{{tabular}}"


@dataclass(frozen=True)
class Layout:
    """A layout of a table: columns of the page, font size, half the gap between columns, letters a line."""

    wide: bool
    size: str
    scale: float
    gap: float
    header: int
    label: int

    @property
    def room(self) -> float:
        """The width in points that the table may take."""
        return PAGE if self.wide else COLUMN


# Smaller sizes of Computer Modern are relatively wider.
LAYOUTS = (
    Layout(False, "", 1.0, 6, 20, 40),
    Layout(False, r"\small", 0.925, 5, 16, 32),
    Layout(False, r"\footnotesize", 0.85, 4, 14, 32),
    Layout(False, r"\footnotesize", 0.85, 3, 14, 18),
    Layout(True, "", 1.0, 6, 20, 40),
    Layout(True, r"\small", 0.925, 5, 16, 32),
    Layout(True, r"\footnotesize", 0.85, 4, 14, 28),
    Layout(True, r"\footnotesize", 0.85, 3, 12, 20),
    Layout(True, r"\scriptsize", 0.8, 2.5, 10, 18),
)


@dataclass(frozen=True)
class Block:
    """Columns side by side: headers and first cells in plain text, other cells in LaTeX."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]

    def width(self, layout: Layout) -> float:
        """Return an upper bound of the columns' width in points."""
        label, *cells = zip_longest(*self.rows, fillvalue="") if self.rows else [()] * len(self.headers)
        first = [line for words in label for line in wrapped(words, layout.label)]
        columns = [first, *(list(map(printed, column)) for column in cells)]
        width = sum(
            max(sum(map(_points, line)) for line in (*wrapped(header, layout.header), *column))
            for header, column in zip(self.headers, columns, strict=True)
        )
        return layout.scale * width + 2 * layout.gap * (len(columns) - 1)

    def cells(self, layout: Layout) -> list[list[str]]:
        """Return headers and rows as LaTeX; headers and first cells are broken into lines where needed."""
        sides = ["l", *"r" * (len(self.headers) - 1)]
        heads = [_cell(header, layout.header, side, "b") for header, side in zip(self.headers, sides, strict=True)]
        return [heads, *([_cell(name, layout.label, "l", "t"), *cells] for name, *cells in self.rows)]

    def halves(self) -> list[Block]:
        """Return both halves of the columns, each with the labels."""
        middle = (len(self.headers) + 1) // 2
        kept = (slice(1, middle), slice(middle, None))
        return [
            Block([self.headers[0], *self.headers[part]], [[row[0], *row[part]] for row in self.rows]) for part in kept
        ]


def fitted(blocks: Sequence[Block]) -> tuple[Sequence[Block], Layout]:
    """Return the columns, split into parts where needed, and the first layout that fits every part."""
    for layout in LAYOUTS:
        if all(block.width(layout) <= layout.room for block in blocks):
            return blocks, layout
    if max(len(block.headers) for block in blocks) < 3:
        return blocks, LAYOUTS[-1]
    return fitted([part for block in blocks for part in (block.halves() if len(block.headers) > 2 else [block])])


def wrapped(words: str, limit: int) -> list[str]:
    """Return words in lines of at most `limit` letters; longer words are broken.

    >>> wrapped("Random pruning (hidden = 32)", 14)
    ['Random pruning', '(hidden = 32)']
    """
    return textwrap.wrap(words, limit) or [""]


def printed(cell: str) -> str:
    r"""Return the printed text of a cell of numbers.

    >>> printed(r"$\mathbf{82.3} \pm 1.4$")
    '82.3±1.4'
    """
    for command, letter in ((r" \pm ", "\N{PLUS-MINUS SIGN}"), ("-", "\N{MINUS SIGN}"), (r"\dagger", "t")):
        cell = cell.replace(command, letter)
    return re.sub(r"\\[a-z]+|[${}^]", "", cell)


def _points(letter: str) -> float:
    return WIDTHS.get(letter, CAPITAL if letter.isupper() else OTHER)


def escape(text: str) -> str:
    r"""Return text escaped for TeX: commands, letters that print differently, and letters that it refuses.

    >>> print(escape('p_g = 5% & more'), escape('"a" <b>'))
    p\_g = 5\% \& more ``a'' \ensuremath{<}b\ensuremath{>}
    >>> print(escape("--lr `x`"))
    -{}-lr \`{}x\`{}
    """
    apart = _PAIRS.sub("\N{ZERO WIDTH SPACE}", text)
    return "``".join("".join(map(_escaped, part)) for part in _OPENING.split(apart))


def _escaped(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    if letter <= LAST_LATIN and letter not in NOT_IN_OT1:
        return letter
    # The letter's plain Latin equivalent in Unicode.
    parts = [part for part in unicodedata.normalize("NFKD", letter) if part.isascii()]
    return "".join(SPECIAL.get(part, part) for part in parts) or UNKNOWN
