"""The audit of a round, and the graph it is done on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.cli.main import main as analysis_main
from analysis.measures.compute import measure_round
from analysis.runs import shared_graph
from glt.cli.main import main as glt_main
from glt.config import RunConfig
from glt.datasets import load_graph
from glt.errors import DataError, StoreError
from glt.lottery.audit import audit, deleted_logits, multiplied_logits
from glt.lottery.graph import graph_of, whole_graph_of
from glt.masks import EdgeMask, Masks, WeightMask
from glt.presets import resolve
from glt.store import Run, SeedRun, Store, bundled_examples
from glt.ticket_file.graph_formats import SparseGraph
from glt.ticket_file.ticket import make_ticket
from glt.training.problem import Problem
from tests.lottery.conftest import Compute

ANOTHER = "f" * 64
# Everything that puts a seed's masks on its graph, in one process.
READERS: dict[str, Callable[[Run], object]] = {
    "graph_of": lambda run: graph_of(run.seed(0)),
    "whole_graph_of": lambda run: whole_graph_of(run.seed(0)),
    "shared_graph": lambda run: shared_graph([run], "This"),
    "measure_round": lambda run: measure_round(run.seed(0), 1),
    "SparseGraph": lambda run: SparseGraph.of(run.seed(0), 1),
    "make_ticket": lambda run: make_ticket(run.seed(0), 1),
    "audit": lambda run: audit(run.seed(0), 1),
}


@pytest.mark.parametrize("method", ["ugs", "random", "admm"])
@pytest.mark.parametrize("degree", ["source", "target", "both"])
def test_every_round_passes(compute: Compute, method: str, degree: str) -> None:
    run = compute(method=method, degree=degree, rounds=1)
    for k in range(2):
        report = audit(run, k)
        assert report.passed
        assert report.test == pytest.approx(report.recorded_test, abs=0.002)


def test_an_edge_or_weight_that_still_acts_is_caught(compute: Compute) -> None:
    """Compare masks with others: the audit's difference must show it."""
    run = compute(rounds=1)
    problem = Problem(run.config, load_graph("cora"))
    masks, weights = run.masks(1), run.weights(1)
    keep = masks.edges.keep.copy()
    keep[np.flatnonzero(keep)[:50]] = False
    nothing = WeightMask({name: np.zeros_like(keep) for name, keep in masks.weights.keep.items()})
    kept = multiplied_logits(problem, masks, weights)
    for other in (Masks(EdgeMask(masks.edges.kind, keep), masks.weights), Masks(masks.edges, nothing)):
        assert (kept - deleted_logits(problem, other, weights)).abs().max() > 1e-5


def test_a_round_that_is_not_there(compute: Compute) -> None:
    with pytest.raises(StoreError, match="Round 7 is not in"):
        audit(compute(rounds=1), 7)


@pytest.mark.parametrize("model", ["gin", "gat"])
@pytest.mark.parametrize("preset", ["paper", "official"])
def test_other_networks_pass_too(compute: Compute, model: str, preset: str) -> None:
    options = dict(resolve({"model": model, "hidden": 8}, preset).options)
    run = compute(**{**options, "model": model, "hidden": 8, "rounds": 1, "epochs": 2, "retrain_epochs": 2})
    assert audit(run, 1).passed


def test_edges_that_stay_in_the_softmax_fail_the_audit_which_says_why(compute: Compute) -> None:
    run = compute(model="gat", gat_mask="logit", hidden=8, rounds=1, epochs=2, retrain_epochs=2, p_graph=0.5)
    report = audit(run, 1)
    assert not report.passed
    assert "exp(0)" in str(report.as_json()["why"])


@pytest.fixture
def run(tmp_path: Path, draw_seed: Callable[..., None]) -> Run:
    run = Store(tmp_path / "store").create(RunConfig(rounds=1, retrain_epochs=1))
    draw_seed(run.seed(0), rounds=1)
    return run


def record(seed_run: SeedRun, content: str) -> None:
    seed_run.write_environment({"data_hash": content})


@pytest.mark.parametrize("reader", READERS)
def test_another_graph_of_the_name_is_refused_in_one_sentence(run: Run, reader: str) -> None:
    record(run.seed(0), ANOTHER)
    with pytest.raises(DataError) as refusal:
        READERS[reader](run)
    told = str(refusal.value)
    assert f"seed 0 of {run.name} was computed on" in told
    assert f"content hash {load_graph('cora').content_hash[:8]} instead of ffffffff" in told
    assert told.count(". ") == 0


@pytest.mark.parametrize("words", ["audit", "cost", "latency", "export --format graphml --out x", "betweenness"])
def test_commands_refuse_it(run: Run, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    record(run.seed(0), ANOTHER)
    verb, *options = words.split()
    main = analysis_main if verb == "betweenness" else glt_main
    assert main([verb, run.name, "--round", "1", "--store", str(run.path.parent), *options]) != 0
    assert "differs from the one that seed 0" in capsys.readouterr().err


def test_the_same_graph_is_given(run: Run) -> None:
    record(run.seed(0), load_graph("cora").content_hash)
    assert graph_of(run.seed(0)) is shared_graph([run], "This") is load_graph("cora")


def test_a_seed_that_recorded_nothing_is_not_refused(run: Run) -> None:
    assert run.seed(0).data_hash() is None
    assert graph_of(run.seed(0)) is load_graph("cora")
    run.seed(0).path.joinpath("environment.json").write_text("{", encoding="utf-8")
    assert graph_of(run.seed(0)) is load_graph("cora")


def test_any_seed_of_any_run_is_looked_at(run: Run, draw_seed: Callable[..., None]) -> None:
    draw_seed(run.seed(1), rounds=1)
    record(run.seed(1), ANOTHER)
    with pytest.raises(DataError, match="seed 1 of"):
        shared_graph([run], "This")
    assert graph_of(run.seed(0)) is load_graph("cora")


def test_examples_were_computed_on_the_bundled_graph() -> None:
    found = [run.seed(seed) for run in bundled_examples() if run.config.dataset == "cora" for seed in run.seeds()]
    assert len(found) > 10
    assert {seed.data_hash() for seed in found} == {load_graph("cora").content_hash}


def test_no_page_or_command_puts_masks_on_a_graph_unlooked_at() -> None:
    """`message_graph` knows no seed: outside the engine, only a graph that is compared by itself comes from it."""
    root = Path(__file__).parents[2]
    users = {
        str(path.relative_to(root))
        for folder in ("app", "analysis", "glt/cli", "glt/ticket_file")
        for path in (root / folder).rglob("*.py")
        if "import message_graph" in (text := path.read_text(encoding="utf-8")) or ", message_graph" in text
    }
    assert users == {"analysis/runs.py", "app/views/ticket_import.py"}
