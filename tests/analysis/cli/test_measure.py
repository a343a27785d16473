from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.measures.networkx_engine import DEFINITIONS
from glt.store import Run, Store

Capture = pytest.CaptureFixture[str]
MakeRun = Callable[..., Run]
NAMES_OF_THE_DESIGN = {
    "average_clustering",
    "mean_node_betweenness",
    "mean_edge_betweenness",
    "nodes",
    "edges",
    "isolated_nodes",
    "components",
    "largest_component_share",
    "average_path_length",
    "reach",
    "edge_homophily",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CACHE", str(tmp_path / "cache"))


def test_json_is_the_whole_output_and_holds_both_graphs(make_run: MakeRun, store: Store, capsys: Capture) -> None:
    run = make_run(seeds=(4, 7))
    assert main(["measure", run.name, "--store", str(store.root), "--round", "0", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["run"], document["seed"], document["round"]) == (run.name, 4, 0)
    for part in ("original", "sparsified"):
        assert document[part].keys() >= NAMES_OF_THE_DESIGN
        assert round(document[part]["average_clustering"], 6) == 0.240673
        assert round(document[part]["mean_node_betweenness"], 7) == 0.0016528
        assert round(document[part]["mean_edge_betweenness"], 7) == 0.0010069
    assert captured.err == ""


def test_seed_and_path_choose_what_is_measured(make_run: MakeRun, capsys: Capture) -> None:
    run = make_run(seeds=(4, 7))
    assert main(["measure", str(run.path), "--seed", "7", "--round", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["seed"] == 7
    assert document["sparsified"]["edges"] < document["original"]["edges"] == 5278
    assert document["sparsified"]["graph_sparsity"] == pytest.approx(0.36, abs=1e-3)


def test_json_adds_what_came_later_and_slow_ones_on_demand(make_run: MakeRun, capsys: Capture) -> None:
    path = str(make_run().path)
    assert main(["measure", path, "--round", "2", "--json"]) == 0
    usual = json.loads(capsys.readouterr().out)["sparsified"]
    assert {"entries_kept", "pagerank_spearman", "algebraic_connectivity", "bridge_share"} <= usual.keys()
    assert main(["measure", path, "--round", "2", "--json", "--all"]) == 0
    everything = json.loads(capsys.readouterr().out)["sparsified"]
    assert everything.keys() - usual.keys() == {"mean_effective_resistance"}


def test_networkx_itself_computes_on_demand_and_says_how_far_the_faster_versions_are(
    make_run: MakeRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Paths from all of Cora's nodes take NetworkX half a minute; the rest goes the same way.
    for name in ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness"):
        monkeypatch.delitem(DEFINITIONS, name)
    path = str(make_run().path)
    assert main(["measure", path, "--round", "2", "--engine", "networkx", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "networkx"
    assert document["differences"]["sparsified"].keys() == DEFINITIONS.keys() - {"mean_effective_resistance"}
    assert max(document["differences"]["sparsified"].values()) < 1e-8
    assert main(["measure", path, "--round", "2", "--engine", "networkx"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "between NetworkX and our faster versions" in said
    assert main(["measure", path, "--round", "2", "--engine", "fast", "--json"]) == 0
    fast = json.loads(capsys.readouterr().out)
    assert "differences" not in fast
    assert fast["sparsified"] == pytest.approx(document["sparsified"], rel=1e-8)


def test_networkx_time_counts_unmeasured_graphs_only(
    make_run: MakeRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every definition is quick here, and said to be slow.
    for name in ("average_path_length", "mean_node_betweenness", "mean_edge_betweenness"):
        monkeypatch.delitem(DEFINITIONS, name)
    monkeypatch.setitem(DEFINITIONS, "nodes", replace(DEFINITIONS["nodes"], pace=1e-6))
    arguments = ["measure", str(make_run().path), "--round", "2", "--engine", "networkx"]
    assert main(arguments) == 0
    assert "for 2 graphs; Ctrl-C stops." in capsys.readouterr().err
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""


def test_without_json_a_table_is_printed(make_run: MakeRun, capsys: Capture) -> None:
    assert main(["measure", str(make_run().path), "--round", "1"]) == 0
    text = capsys.readouterr().out
    for words in ("Original", "Sparsified", "Average clustering", "0.24067", "5,278", "100.0 %"):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--round", "9"], 1, "no round 9"),
        (["--round", "0", "--seed", "5"], 1, "no seed 5"),
        (["--round", "one"], 2, "not a whole number"),
        (["--round", "-1"], 2, "--round"),
        ([], 2, "--round"),
    ],
)
def test_complaints_are_one_line(
    make_run: MakeRun, arguments: list[str], code: int, words: str, capsys: Capture
) -> None:
    assert main(["measure", str(make_run().path), *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_unknown_run_and_unknown_verb(make_run: MakeRun, store: Store, capsys: Capture) -> None:
    name = make_run().name
    assert main(["measure", name[:-1], "--store", str(store.root), "--round", "0"]) == 1
    assert name in capsys.readouterr().err
    assert main(["weigh"]) == 2
    assert "measure" in capsys.readouterr().err


def test_measuring_needs_neither_torch_nor_pandas_nor_a_page(make_run: MakeRun) -> None:
    # igraph, which finds bridges, cores and triangles, loads matplotlib and Plotly where they are installed.
    program = (
        "import sys; from analysis.cli.main import main; code = main(sys.argv[1:]); "
        "slow = {'torch', 'streamlit', 'pyvis', 'pandas'} & sys.modules.keys(); "
        "sys.exit(f'imported {slow}' if slow else code)"
    )
    arguments = [sys.executable, "-c", program, "measure", str(make_run().path), "--round", "1", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
