"""Planetoid's raw files, from which graphs are bundled: checked before they are opened, never written beside."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from glt.data.planetoid import read_planetoid
from glt.errors import DataError

FILES = [f"ind.citeseer.{part}" for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")]


@pytest.fixture
def raw(tmp_path: Path, test_data: Path) -> Path:
    """The folder of Citeseer's published raw files, copied so that a test may change them."""
    raw = tmp_path / "Citeseer" / "raw"
    raw.mkdir(parents=True)
    for file in FILES:
        shutil.copyfile(test_data / "planetoid" / "Citeseer" / "raw" / file, raw / file)
    return raw


def refusal(root: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_planetoid(root, "Citeseer", "citeseer", ())
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def test_a_tampered_file_is_refused_before_it_is_opened(raw: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, (f"open({str(tmp_path / 'opened')!r}, 'w')",))

    (raw / "ind.citeseer.graph").write_bytes(pickle.dumps(Trap()))
    assert f"{raw / 'ind.citeseer.graph'} is not the published file" in refusal(tmp_path)
    assert not (tmp_path / "opened").exists()


def test_a_missing_file_is_one_sentence_that_says_where_it_is_from(raw: Path, tmp_path: Path) -> None:
    (raw / "ind.citeseer.tx").unlink()
    told = refusal(tmp_path)
    assert f"{raw / 'ind.citeseer.tx'} is missing: fetch the raw files of Citeseer from https://" in told
    assert str(raw) in told


def test_nothing_is_written_beside_the_raw_files(raw: Path, tmp_path: Path) -> None:
    read_planetoid(tmp_path, "Citeseer", "citeseer", ())
    assert sorted(path.name for path in raw.iterdir()) == sorted(FILES)
    assert [path.name for path in raw.parent.iterdir()] == ["raw"]


def test_papers_outside_the_test_index_have_no_class(raw: Path, tmp_path: Path) -> None:
    graph = read_planetoid(tmp_path, "Citeseer", "citeseer", ())
    listed = {int(line) for line in (raw / "ind.citeseer.test.index").read_text().split()}
    missing = sorted(set(range(min(listed), max(listed) + 1)) - listed)
    assert len(missing) == 15
    assert np.flatnonzero(graph.labels == -1).tolist() == missing
    assert graph.num_classes == 6
