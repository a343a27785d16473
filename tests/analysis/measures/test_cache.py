from __future__ import annotations

import json
import math
import stat
from pathlib import Path

import numpy as np
import pytest

from analysis.measures import bfs as search
from analysis.measures import cache
from analysis.measures import graph as measured_graph
from analysis.measures.cache import MeasureCache
from analysis.measures.compute import measure
from analysis.measures.graph import MeasuredGraph

PATH = np.array([[0, 1, 2], [1, 2, 3]])


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []

    def counted(indptr: search.Indices, indices: search.Indices) -> search.Distances:
        calls.append(1)
        return search.all_distances(indptr, indices)

    monkeypatch.setattr(measured_graph, "all_distances", counted)
    return calls


def path_graph(labels: int = 0) -> MeasuredGraph:
    return MeasuredGraph(4, PATH, np.full(4, labels))


def test_slow_values_are_computed_once(searches: list[int], own_cache: Path) -> None:
    first = measure(path_graph())
    assert measure(path_graph()) == first
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first
    assert len(searches) == 1
    assert len(list((own_cache / "measures").iterdir())) == 1


def test_labels_nodes_and_edges_are_all_part_of_the_key(searches: list[int]) -> None:
    measure(path_graph())
    measure(path_graph(labels=1))
    measure(MeasuredGraph(5, PATH, np.zeros(5, dtype=np.int64)))
    measure(MeasuredGraph(4, PATH[:, :2], np.zeros(4, dtype=np.int64)))
    assert len(searches) == 4


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"reach@1": "high"}', '{"reach@1": true}', "\x00\xff"])
def test_a_damaged_file_is_measured_again_and_put_right(damage: str, own_cache: Path) -> None:
    first = measure(path_graph())
    (file,) = (own_cache / "measures").iterdir()
    whole = file.read_text()
    file.write_text(damage)
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first
    assert file.read_text() == whole


def test_an_older_version_of_a_measure_is_not_used(own_cache: Path) -> None:
    first = measure(path_graph())
    (file,) = (own_cache / "measures").iterdir()
    file.write_text(json.dumps({name.replace("@1", "@0"): 99.0 for name in json.loads(file.read_text())}))
    cache._cache_in.cache_clear()
    assert measure(path_graph()) == first


def test_undefined_values_survive_as_null(tmp_path: Path) -> None:
    MeasureCache(tmp_path).put("key", {"x@1": math.nan, "y@1": 2})
    assert json.loads((tmp_path / "key.json").read_text()) == {"x@1": None, "y@1": 2}
    found = MeasureCache(tmp_path).get("key")
    assert math.isnan(found["x@1"])
    assert found["y@1"] == 2


def test_a_folder_that_cannot_be_made_costs_only_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = MeasureCache(blocked / "measures")
    cache.put("key", {"x@1": 1.0})
    assert cache.get("key") == {"x@1": 1.0}
    assert "not saved" in caplog.text


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    MeasureCache(tmp_path).put("key", {"x@1": 1.0})
    (file,) = tmp_path.iterdir()
    assert file.name == "key.json"
    assert stat.S_ISREG(file.stat().st_mode)
