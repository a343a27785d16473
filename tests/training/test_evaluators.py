"""Scores by ogb's evaluators: known by hand, and nothing asks a network for news."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from glt.errors import DataError
from glt.training.metrics import HITS_AT, _evaluator, evaluator_of, link_score, node_score


def test_accuracy_is_the_share_of_right_classes() -> None:
    truth, predicted = np.array([0, 1, 2, 3])[:, None], np.array([0, 1, 3, 3])[:, None]
    assert node_score("ogbn-arxiv", truth, predicted) == 0.75


def test_roc_auc_is_the_mean_over_tasks_that_have_both_kinds() -> None:
    """Two tasks count: one is ordered rightly, one has half of its couples right; 110 have no positive."""
    truth, predicted = np.zeros((4, 112), dtype=np.uint8), np.zeros((4, 112), dtype=np.float32)
    truth[:, 0], predicted[:, 0] = [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]
    truth[:, 1], predicted[:, 1] = [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4]
    assert node_score("ogbn-proteins", truth, predicted) == 0.75


def test_hits_are_the_positives_above_the_fiftieth_negative() -> None:
    false = np.arange(100, dtype=np.float32)
    assert link_score("ogbl-collab", np.array([49, 50, 51, 52], dtype=np.float32), false) == 0.5


def test_hits_are_counted_where_ogb_counts_them() -> None:
    assert HITS_AT == _evaluator("linkproppred", "ogbl-collab").K


def test_what_ogb_refuses_is_one_sentence() -> None:
    with pytest.raises(DataError, match="evaluator of ogbn-proteins cannot score this run: Number of tasks"):
        node_score("ogbn-proteins", np.ones((2, 3), dtype=np.int64), np.ones((2, 3)))


@pytest.mark.usefixtures("benchmark_sets")
def test_a_data_set_names_its_evaluator() -> None:
    assert [evaluator_of(name) for name in ("ogbn-arxiv", "cora", "unknown")] == ["ogbn-arxiv", "", ""]


SCRIPT = """
import sys, threading
import numpy as np
from glt.training.metrics import link_score
link_score("ogbl-collab", np.ones(2, dtype="f4"), np.zeros(60, dtype="f4"))
print(threading.active_count(), *(name in sys.modules for name in ("ogb", "outdated", "torch_geometric")))
"""


def printed(code: str, path: str = "") -> list[str]:
    """Run code in a process of its own and return the words it prints."""
    folders = os.pathsep.join([path, str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": folders}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert not told.returncode, told.stderr
    return told.stdout.split()


def test_a_score_asks_nobody_for_news_and_loads_no_graph_library(tmp_path: Path) -> None:
    """The module with which ogb asks is at hand, and must not be used."""
    (tmp_path / "outdated.py").write_text("def check_outdated(*about):\n    return False, about\n")
    assert printed(SCRIPT, str(tmp_path)) == ["1", "False", "False", "False"]


def test_the_evaluators_are_ogbs_own() -> None:
    for kind, name in (("nodeproppred", "ogbn-proteins"), ("linkproppred", "ogbl-collab")):
        source = inspect.getsourcefile(_evaluator(kind, name).eval)
        assert source is not None
        assert Path(source).parts[-3:] == ("ogb", kind, "evaluate.py")


def test_nothing_but_a_score_loads_ogb() -> None:
    parts = "glt.cli.main, glt.presets, glt.training.tasks.node, glt.training.tasks.link"
    assert printed(f"import sys, {parts}; print('ogb' in sys.modules)") == ["False"]
