"""Parts of the split of links: arrays of numbers and nothing else, of pairs that are to be told apart."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.data import DATASETS
from tests.data.conftest import refusal

Copy = Callable[[str], Path]


def numbers(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def pairs(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


BAD_PARTS = {
    "no dictionary": ([1, 2], "holds no array 'edge'"),
    "no negatives": ({"edge": pairs((0, 1))}, "holds no array 'edge_neg'"),
    "no pairs": ({"edge": pairs((0, 1)), "edge_neg": np.arange(6)}, "holds in 'edge_neg' no pairs of nodes"),
    "none": (
        {"edge": np.zeros((0, 2), int), "edge_neg": pairs((0, 1))},
        "valid.pt holds in 'edge' no pairs of nodes",
    ),
    "fractions": ({"edge": np.full((2, 2), 0.5), "edge_neg": pairs((0, 1))}, "holds in 'edge' no pairs of nodes"),
    "no rows of negatives": (
        {"edge": pairs((0, 1)), "edge_neg": np.zeros((0, 2), int)},
        "holds in 'edge_neg' no pairs",
    ),
    "the same pairs": (
        {"edge": pairs((0, 1), (3, 2)), "edge_neg": pairs((2, 3), (4, 5), (1, 0))},
        "lists 2 of 3 pairs in 'edge_neg' as edges too",
    ),
    "unknown node": ({"edge": pairs((0, 120)), "edge_neg": pairs((0, 1))}, "names node 120"),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_a_bad_part_of_the_links_is_named(copied: Copy, case: str) -> None:
    content, told = BAD_PARTS[case]
    path = copied("ogbl-collab") / "split/time/valid.pt"
    path.write_bytes(numbers(content))
    message = refusal("ogbl-collab")
    assert message.startswith(str(path))
    assert told in message


def test_a_part_of_self_loops_is_refused(copied: Copy) -> None:
    path = copied("ogbl-collab") / "split/time/train.pt"
    path.write_bytes(numbers({"edge": pairs((3, 3), (4, 4))}))
    assert refusal("ogbl-collab").startswith(f"{path} holds self-loops only")


def test_who_wrote_together_in_training_may_do_so_again(copied: Copy) -> None:
    """In the published set some do; only training edges of the graph are simple."""
    folder = copied("ogbl-collab") / "split/time"
    (folder / "train.pt").write_bytes(numbers({"edge": pairs((0, 1), (1, 2))}))
    (folder / "valid.pt").write_bytes(numbers({"edge": pairs((1, 0)), "edge_neg": pairs((4, 5), (2, 1))}))
    links = DATASETS.get("ogbl-collab").load().links
    assert links is not None
    assert links.val.tolist() == [[1], [0]]
    assert links.val_negatives.tolist() == [[4, 2], [5, 1]]


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, (f"open({str(self.path)!r}, 'w')",))


@pytest.mark.parametrize("write", [torch.save, lambda content, path: path.write_bytes(pickle.dumps(content))])
def test_a_part_that_would_run_something_is_not_run(
    copied: Copy, tmp_path: Path, write: Callable[[object, Path], object]
) -> None:
    path = copied("ogbl-collab") / "split/time/train.pt"
    write({"edge": Trap(tmp_path / "ran")}, path)
    assert "train.pt cannot be read as arrays of numbers" in refusal("ogbl-collab")
    assert not (tmp_path / "ran").exists()


def test_parts_that_an_older_numpy_wrote_are_read(copied: Copy) -> None:
    folder = copied("ogbl-collab")
    expected = DATASETS.get("ogbl-collab").load().content_hash
    for part in ("train", "valid", "test"):
        path = folder / f"split/time/{part}.pt"
        with zipfile.ZipFile(path) as archive:
            held = {info.filename: archive.read(info) for info in archive.infolist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in held.items():
                assert not name.endswith("data.pkl") or b"numpy._core.multiarray" in content
                archive.writestr(name, content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert DATASETS.get("ogbl-collab").load().content_hash == expected
