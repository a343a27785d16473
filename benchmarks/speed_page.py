"""docs/speed.md, written from a report: `python -m benchmarks page`.

`AIMS` lists the limits and the results that decide them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.report import BASELINE, range_words, read_report, value_words
from benchmarks.results import EDITED, ROOT, Measured, Report, Unit, command_parser, single
from benchmarks.subjects import ARXIV, FLOORS, MODELS, SMALL, width_words
from glt.formats import MISSING
from glt.user_path import user_path


@dataclass(frozen=True)
class Aim:
    """A limit for the result called `name`."""

    words: str
    name: str
    limit: float
    unit: Unit = "CPU s"
    at_least: bool = False


def _floor(subject: str, label: str) -> Aim:
    words = f"{label}, GCN of 512: search epoch over the floor of the rows it needs"
    return Aim(words, f"floors/{subject}/search/epoch over floor of seen rows", 1.3, "ratio")


AIMS = (
    Aim("Cora, GCN of 512: search epoch", "epochs/cora/gcn/search", 0.024),
    Aim("Cora, GCN of 512: retraining epoch", "epochs/cora/gcn/retrain", 0.016),
    Aim(
        "The same as the authors run it, over ours",
        "formulations/cora/times faster than authors",
        250,
        "ratio",
        at_least=True,
    ),
    Aim("The same, PyTorch Geometric over ours", "formulations/cora/times faster than pyg", 10, "ratio", at_least=True),
    _floor("cora", "Cora"),
    _floor("citeseer", "Citeseer"),
    _floor("pubmed", "PubMed"),
    Aim("Cora, 20 rounds of UGS", "runs/cora/20 rounds", 170),
    Aim("PubMed, 20 rounds of UGS, two seeds side by side", "runs/pubmed/20 rounds, 2 seeds, wall", 2400, "s"),
    Aim("Cora, GCN of 512: memory of a search", "epochs/cora/gcn/search memory", 0.6e9, "B"),
    Aim("Two seeds side by side over one alone", "parallel/cora/two over one", 1.15, "ratio"),
    Aim("Server start to the first page that can be used", "start/warm/usable", 3.0, "s"),
    *(
        Aim(f"Switch to the page {title}", f"pages/{title}/switch/seconds", 0.7, "s")
        for title in ("Curves", "Subgraphs", "Measurements", "Tickets", "Runs")
    ),
)


# The page.

PAGE = ROOT / "docs" / "speed.md"
LABELS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed", ARXIV: "ogbn-arxiv's structure"}
NETWORKS = {"gcn": "GCN", "gin": "GIN", "gat": "GAT", "resgcn": "ResGCN"}

INTRODUCTION = """# Speed

`python -m benchmarks page` writes this page from the report that `python -m benchmarks all --save-baseline` keeps
([benchmarks/baseline.json](../benchmarks/baseline.json)). `make bench` measures again and prints ratios to it.

CPU seconds are those of one thread. Values are medians over repetitions, ranges the 10th to 90th percentile. On a
shared machine ranges also reflect other users' load, so ratios are more reliable than times.
"""
TITLES = {
    "formulations": (
        "One search epoch in four formulations",
        "GCN of 512, alternating in one process. `ours` is the product's own loop. `pyg` is PyTorch Geometric with "
        "trainable edge weights and dense features, as in its documentation. `dense` uses N x N matrices throughout. "
        "`authors` is `dense` with the authors' normalisation: two products with diagonal N x N matrices. Memory is "
        "the peak of a separate process.",
    ),
    "runs": (
        "Whole runs",
        "UGS, a GCN of 512 and the preset `official`, from start to end, in the workers that `glt run` starts.",
    ),
    "parallel": (
        "Two seeds at a time",
        "Rounds of one seed alone, and of the slower of two seeds that run at the same time, with one thread each.",
    ),
    "measurements": (
        "Graph measures",
        "Measures of a graph without a cache, and the same in NetworkX where that takes seconds rather than hours.",
    ),
    "pictures": ("Layouts and figures", "Layouts of whole graphs, two panels of a sample as HTML, figures as PDF."),
    "stores": (
        "Stores",
        "Runs of two seeds and twenty rounds, random content in the real format. Writing includes the flush to disk.",
    ),
    "start": ("Start of the app", "From the command to a page that accepts clicks."),
    "pages": (
        "Pages of the app",
        "A store of a thousand runs, in Chromium. `first`: first visit after the start of the server. `load`: a fresh "
        "browser page. `switch`: a change of page.",
    ),
    "events": ("A million events in one run", "Pages and commands that read them."),
    "load": ("Load", "Many clients at the same time."),
}


def write_page(words: Sequence[str]) -> int:
    """Write the page; return the exit code."""
    parser = command_parser("page", "Write docs/speed.md from a report.")
    parser.add_argument("--report", type=user_path, default=BASELINE, help="report (default: the saved baseline)")
    parser.add_argument("--out", type=user_path, default=PAGE, help="page to write (default: docs/speed.md)")
    options = parser.parse_args(words)
    options.out.write_text(page(read_report(options.report)), encoding="utf-8")
    return 0


def page(report: Report) -> str:
    """Return the page of a report as Markdown."""
    further = [part for part in TITLES if any(_part(each) == part for each in report.results)]
    parts = [
        INTRODUCTION,
        _machine(report),
        _aims(report),
        _epochs(report),
        _floors(report),
        *(_further(report, part) for part in further),
        _failed(report),
    ]
    return "\n".join(part for part in parts if part)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines)


def _section(title: str, words: str, *tables: str) -> str:
    return "\n\n".join(part for part in (f"## {title}", words, *tables) if part) + "\n"


def _machine(report: Report) -> str:
    has = report.machine
    machine = f"{has['processor']}, {has['cores']} cores, {has['memory_gb']} GB of memory, {has['system']}"
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    commit, edited, _ = (report.revision or "unknown").partition(EDITED)
    when = f"Measured on {report.time[:10]} at revision {commit[:12]}{edited}."
    return _section("Machine", f"{machine}. {versions}. {when}")


def _aims(report: Report) -> str:
    known, rows = report.by_name(), list[list[str]]()
    for aim in AIMS:
        found, reached = known.get(aim.name), "not measured"
        limit = value_words(single(aim.name, aim.limit, aim.unit), aim.limit)
        if found is not None:
            reached = "yes" if (found.value >= aim.limit if aim.at_least else found.value <= aim.limit) else "no"
        rows.append([aim.words, f"{'at least' if aim.at_least else 'at most'} {limit}", _with_range(found), reached])
    missed = [row[0] for row in rows if row[3] == "no"]
    told = f"Not reached: {'; '.join(missed)}." if missed else ""
    return _section("Aims", told, table(["aim", "limit", "measured", "reached"], rows))


def _epochs(report: Report) -> str:
    known = report.by_name()
    columns = ("search", "retrain", "evaluation", "search memory")
    rows = []
    for subject in (*SMALL, ARXIV):
        for model in MODELS:
            found = [known.get(f"epochs/{subject}/{model}/{column}") for column in columns]
            if any(found):
                network = f"{NETWORKS[model]}, {width_words(subject, model)}"
                rows.append([LABELS[subject], network, *map(_with_range, found)])
    words = (
        "A search epoch trains weights and masks, a retraining epoch weights only. Both include an evaluation, which "
        "is also timed separately, first layer included. Memory is the peak of a separate process, torch included. "
        "Features of ogbn-arxiv are synthetic (128 numbers per node)."
    )
    head = ["graph", "network", "search epoch", "retraining epoch", "evaluation", "memory of a search"]
    return _section("Epochs", words, table(head, rows)) if rows else ""


def _floors(report: Report) -> str:
    known = report.by_name()
    names = [f"floors/{subject}/{stage}" for subject in SMALL for stage in ("search", "retrain")]
    there = [name for name in names if f"{name}/floor" in known]
    if not there:
        return ""
    columns = ("epoch", *(each for floor in FLOORS for each in (floor, f"epoch over {floor}")))
    rows = [[_place(name), *(_with_range(known.get(f"{name}/{column}")) for column in columns)] for name in there]
    words = (
        "The floor of an epoch is the time of its indispensable kernels alone, without autograd or training loop: in "
        "the order of an epoch, on the same data and widths, alternating with whole epochs. Each kernel counts as "
        "often as the mathematics requires (the first layer once, for evaluation and the next training pass), in the "
        "fastest implementation among embedding_bag, MKL, torch.sparse and scipy. `All rows` computes all nodes. "
        "`Seen rows` leaves out rows that neither the loss nor a score reads; most hidden rows have no gradient. A "
        "test checks that both train as the engine does."
    )
    kernels = [_kernels(report, name) for name in there if name.endswith("search")]
    head = ["GCN of 512", "epoch", "floor, all rows", "epoch / floor", "floor, seen rows", "epoch / floor"]
    return _section("Floors", words, table(head, rows), *kernels)


def _place(name: str) -> str:
    _, subject, stage = name.split("/")
    return f"{LABELS[subject]}, {stage}"


def _kernels(report: Report, name: str) -> str:
    start = f"{name}/kernels/"
    rows = [
        [each.name.removeprefix(start), each.note, _with_range(each)]
        for each in report.results
        if each.name.startswith(start)
    ]
    return f"Kernels of {_place(name)}:\n\n" + table(["kernel", "calls, implementation", "CPU time"], rows)


def _further(report: Report, part: str) -> str:
    title, words = TITLES[part]
    found = [each for each in report.results if _part(each) == part]
    in_grid = [each for each in found if each.name.count("/") == 3]
    rows = [
        [each.name.partition("/")[2].replace("/", ", "), _with_range(each), each.unit]
        for each in found
        if each not in in_grid
    ]
    listed = table(["what", "measured", "unit"], rows) if rows else ""
    return _section(title, words, *([_grid(in_grid)] if in_grid else []), listed)


def _grid(found: Sequence[Measured]) -> str:
    """Return results named part/subject/case/quantity as a table: a row per subject and case, a column per quantity."""
    cells: dict[str, dict[str, str]] = {}
    for each in found:
        _, subject, case, quantity = each.name.split("/")
        cells.setdefault(f"{subject}, {case}", {})[quantity] = _with_range(each)
    columns = list(dict.fromkeys(quantity for row in cells.values() for quantity in row))
    rows = [[place, *(row.get(column, MISSING) for column in columns)] for place, row in cells.items()]
    return table(["what", *columns], rows)


def _part(result: Measured) -> str:
    return result.name.partition("/")[0]


def _with_range(found: Measured | None) -> str:
    if found is None:
        return MISSING
    value = value_words(found, found.value)
    return value if found.p10 is None else f"{value} ({range_words(found)})"


def _failed(report: Report) -> str:
    names = ", ".join(failed.part for failed in report.failed)
    return _section("Missing", f"These parts failed when this was measured: {names}.") if names else ""
