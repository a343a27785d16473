"""Tables in LaTeX, CSV and JSON: escaping, decimals, widths, and the command `table`."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from analysis import published
from analysis.cli.main import main
from analysis.drawing import files
from analysis.drawing.files import csv_bytes, json_bytes
from analysis.latex import escape, measurements_latex, paper_latex, tickets_latex
from analysis.measures.tables import measurement_table
from analysis.tables.curves import curve_table, paper_table
from analysis.tables.rounds import rounds_table
from analysis.tables.tickets import tickets_table
from glt.store import Run, bundled_examples

UGS = [[0.82, 0.83, 0.80], [0.81, 0.82, 0.80], [0.80, 0.811, 0.79]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))


def cells(latex: str, first: str) -> list[str]:
    line = next(line for line in latex.splitlines() if line.startswith(first))
    return [cell.strip() for cell in line.removesuffix(r"\\").split("&")]


def test_tickets_in_latex(make_scored: Callable[..., Run]) -> None:
    runs = [make_scored("ugs", UGS), make_scored("random", [[0.82, 0.80], [0.81, 0.79], [0.80, 0.79]])]
    latex = tickets_latex(tickets_table(rounds_table(runs)), "test", "sparse_features")
    ugs, random = cells(latex, "UGS"), cells(latex, "Random pruning")
    assert ugs[1] == "1"
    assert ugs[2] == r"$\mathbf{5.0}$"
    assert ugs[5] == r"$\mathbf{82.0} \pm 2.4$"
    assert ugs[6] == r"$1.0 \pm 0.1$"
    assert ugs[7:] == ["ticket", "1597 M (80.0)"]
    assert random[1] == r"1$^\dagger$"
    assert r"\mathbf" not in "".join(random)
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:tickets}", "Cora GCN", "sparse features"):
        assert part in latex
    assert "over 3 seeds" in latex
    assert random[7] == "open"
    assert r"$\dagger$: no round is shown to be a ticket; this one is closest by validation score" in latex
    assert r"less than 0.5 points against dense (one-sided paired $t$ test at 5 \%, Holm over 3 rounds)" in latex


def test_labels_are_escaped(make_scored: Callable[..., Run]) -> None:
    table = tickets_table(rounds_table([make_scored("ugs", UGS)]))
    latex = tickets_latex(table.assign(label=r"p_g & 5% #1 \input{x} ~^"))
    printed = latex.replace(r"\\", " ")
    assert r"p\_g \& 5\% \#1 \textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}" in printed


def test_characters_misprinted_by_old_tex_encodings_are_escaped() -> None:
    assert escape("a < b > c | d") == r"a \ensuremath{<} b \ensuremath{>} c \ensuremath{|} d"
    assert escape('a "b" c') == "a ``b'' c"
    assert files.escaped("a<b") == r"a\ensuremath{<}b"


def test_characters_unknown_to_tex_are_replaced() -> None:
    assert escape("caf\N{LATIN SMALL LETTER E WITH ACUTE}") == "caf\N{LATIN SMALL LETTER E WITH ACUTE}"
    assert escape("x\N{SUBSCRIPT TWO} \N{PILE OF POO}") == "x2 ?"


def test_measurements_in_latex(make_run: Callable[..., Run]) -> None:
    runs = [make_run("ugs", seeds=(0, 1, 2), rounds=3), make_run("random", seeds=(0, 1), rounds=3)]
    table = measurement_table(runs, 3, published=published.measurements("cora"))
    latex = measurements_latex(table, "cora")
    assert cells(latex, "Measurement") == ["Measurement", "Original", "UGS", "Random pruning"]
    clustering = cells(latex, "Average clustering")
    assert clustering[1] == "$0.2407$"
    assert [cell.count(r"\pm") for cell in clustering[1:]] == [0, 1, 0]
    assert sum(r"\mathbf" in cell for cell in clustering) == 1
    assert cells(latex, "Mean node betweenness")[0].endswith(
        r"(\ensuremath{\times}10\ensuremath{{}^-}\ensuremath{{}^3})"
    )
    assert cells(latex, r"\quad in the paper") == [r"\quad in the paper", "$0.2407$", "$0.1586$", "$0.1541$"]
    assert "its columns of Cora and Citeseer are swapped, which is corrected here" in latex
    assert "after round 3: mean and, from 3 seeds on, 95\\% $t$ interval over 2 to 3 seeds" in latex
    assert cells(latex, "Graph sparsity")[1:3] == ["$0.0$", "$48.8$"]


def test_several_rounds_are_named_in_the_caption(make_run: Callable[..., Run]) -> None:
    run = make_run(rounds=2)
    assert "after rounds 1, 2:" in measurements_latex(measurement_table([run], [1, 2]), "cora")
    assert "after round 2:" in measurements_latex(measurement_table([run], 2), "cora")


def test_the_closest_to_the_original_is_bold(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run("ugs"), make_run("random")], 1)
    table["average_clustering"] = [0.24, 0.30, 0.20]
    bold = [r"\mathbf" in cell for cell in cells(measurements_latex(table, "cora"), "Average clustering")]
    assert bold == [False, False, False, True]


def test_counts_have_decimals_of_their_means(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run("ugs", seeds=(0, 1)), make_run("random")], 1)
    table["isolated_nodes"] = [0, 12.5, 9]
    latex = measurements_latex(table, "cora", shown=["isolated_nodes", "reach"])
    assert cells(latex, "Isolated nodes")[1] == "$0.0$"
    assert cells(latex, "Isolated nodes")[2].startswith("$12.5")
    table["reach"] = [0.84, float("nan"), 0.7]
    bold = [r"\mathbf" in cell for cell in cells(measurements_latex(table, "cora", shown=["reach"]), "Reach")]
    assert bold == [False, False, False, True]


PAGES = {
    "article": r"\documentclass[twocolumn]{article}\usepackage[letterpaper,margin=1in]{geometry}",
    "icml": r"\documentclass[twocolumn]{article}\usepackage[textwidth=6.75in]{geometry}\setlength{\columnsep}{0.25in}",
    "neurips": r"\documentclass{article}\usepackage[textwidth=5.5in]{geometry}",
}
LONG_TITLES = ("W" * 60, 'A title that says in 60 letters what <this> "run" & it is for', "")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
@pytest.mark.parametrize("page", PAGES)
def test_tables_fit_paper_columns(page: str, tmp_path: Path) -> None:
    examples = [run for run in bundled_examples() if run.name.startswith("cora-node-gcn") and len(run.seeds()) == 5]
    assert len(examples) == 3
    body = "".join(_tables(examples[:count], title) for count in (1, 2, 3) for title in LONG_TITLES)
    printed = typeset(rf"{PAGES[page]}\usepackage{{booktabs}}\begin{{document}}{body}\end{{document}}", tmp_path)
    assert "Overfull" not in printed
    assert "Warning" not in printed


def _tables(runs: list[Run], title: str) -> str:
    rounds = rounds_table(runs)
    measured = measurement_table(runs, 13, published=published.measurements("cora"))
    tables = [measured, tickets_table(rounds), paper_table(curve_table(rounds))]
    for table in tables if title else []:
        table.loc[table["label"] != "Original", "label"] = title
    name = "-".join(("tab:", str(len(runs)), str(LONG_TITLES.index(title))))
    measurements = measurements_latex(tables[0], "cora", label=f"{name}-m")
    return measurements + tickets_latex(tables[1], label=f"{name}-t") + paper_latex(tables[2], label=f"{name}-p")


def typeset(document: str, folder: Path) -> str:
    """Run pdflatex twice, as references need, and return the output of the second run."""
    (folder / "table.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def test_tables_too_wide_for_a_page_are_split(make_run: Callable[..., Run]) -> None:
    table = measurement_table([make_run("ugs"), make_run("random")], 1)
    many = pd.concat([table, *[table.iloc[1:]] * 7], ignore_index=True)
    latex = measurements_latex(many, "cora")
    parts = [line for line in latex.splitlines() if line.startswith("Measurement &")]
    assert len(parts) > 1
    assert sum(line.count("UGS") for line in parts) == 8
    assert latex.count("Average clustering") == len(parts)


def test_csv_and_json_hold_every_digit(make_scored: Callable[..., Run]) -> None:
    table = tickets_table(rounds_table([make_scored("ugs", [[0.8, 0.8], [0.8, 0.8001]])]))
    row = next(csv.DictReader(io.StringIO(csv_bytes(table).decode())))
    assert float(row["graph_sparsity"]) == table["graph_sparsity"].iloc[0]
    assert row["low"] == ""
    (record,) = json.loads(json_bytes(table))
    assert record["low"] is None
    assert record["is_ticket"] is True
    assert record["open_rounds"] == []
    assert record["round"] == 1


@pytest.mark.parametrize("table", ["tickets", "measurements"])
def test_command_line_writes_latex(
    table: str, make_run: Callable[..., Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(rounds=2)
    assert main(["table", table, str(run.path), "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert records[-1]["label"] == "UGS"
    if table == "measurements":
        assert records[0]["average_clustering_published"] == 0.24067
        assert records[1]["rounds"] == [2]
    out = tmp_path / "table.tex"
    assert main(["table", table, str(run.path), "--round", "1", "--out", str(out)]) == 0
    assert r"\begin{tabular}" in out.read_text()
    assert capsys.readouterr().out.startswith(f"Wrote {out}, ")


def test_paper_comparison_in_latex(make_scored: Callable[..., Run], capsys: pytest.CaptureFixture[str]) -> None:
    run = make_scored("ugs", [[0.82, 0.82, 0.82, 0.82, 0.79]])
    assert main(["table", "paper", str(run.path)]) == 0
    row = cells(capsys.readouterr().out, "Cora UGS")
    assert row == ["Cora UGS", "4", "$18.5$", "$59.0$", "$79.0$", "$80.8$", "$-1.8$"]
    assert main(["table", "paper", str(make_scored("random", [[0.8, 0.8]]).path)]) == 1
    assert "prints no value" in capsys.readouterr().err


def test_command_line_errors(make_scored: Callable[..., Run], capsys: pytest.CaptureFixture[str]) -> None:
    dense = str(make_scored("ugs", [[0.8]]).path)
    assert main(["table", "tickets", dense]) == 1
    assert "no pruned round yet" in capsys.readouterr().err
    assert main(["table", "measurements", str(make_scored("random", []).path)]) == 1
    assert "no finished round yet" in capsys.readouterr().err
    assert main(["table", "measurements", dense, str(make_scored("ugs", [[0.8]], dataset="citeseer").path)]) == 2
    assert "one graph, not on Cora and Citeseer: choose runs on one of them" in capsys.readouterr().err
    assert main(["table", "tickets", dense, "--margin", "-1"]) == 2
    assert "percentage points" in capsys.readouterr().err


@pytest.mark.parametrize("title", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1"])
def test_csv_escapes_spreadsheet_formulas(title: str) -> None:
    table = pd.DataFrame({title: [title, "-0.5"], "score": [-0.5, 0.25], "nodes": [(-1, 2), (3,)]})
    head, first, second = csv.reader(io.StringIO(csv_bytes(table).decode(), newline=""))
    shown = "'" + title.replace("\r", "\n")
    assert head == [shown, "score", "nodes"]
    assert first == [shown, "-0.5", "-1 2"]
    assert second == ["-0.5", "0.25", "3"]
    assert json.loads(json_bytes(table))[0][title] == title


def test_csv_carriage_returns_begin_no_row() -> None:
    table = pd.DataFrame({"class": ["a\r=1+1", "b\r\nc"]})
    assert [*csv.reader(io.StringIO(csv_bytes(table).decode(), newline=""))] == [["class"], ["a\n=1+1"], ["b\nc"]]
