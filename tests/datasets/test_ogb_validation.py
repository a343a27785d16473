"""Malformed OGB folders: one sentence names the file, and no code in them is run."""

from __future__ import annotations

import io
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.datasets import DATASETS
from tests.datasets.conftest import files_under, lines_of, refusal, write_lines

Copy = Callable[[str], Path]
ARXIV_FILES = [
    "RELEASE_v1.txt",
    *(f"raw/{name}.csv.gz" for name in "edge node-feat node-label node_year num-node-list num-edge-list".split()),
    *(f"split/time/{part}.csv.gz" for part in ("train", "valid", "test")),
]


def changed(path: Path, row: int, text: str | None) -> None:
    """Replace a line of a table, or drop it."""
    lines = lines_of(path)
    lines[row : row + 1] = [] if text is None else [text]
    write_lines(path, lines)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("file", ARXIV_FILES)
def test_a_missing_file_is_named(copied: Copy, file: str, linked: bool) -> None:
    """A symbolic link to itself counts as missing."""
    folder = copied("ogbn-arxiv")
    (folder / file).unlink()
    if linked:
        (folder / file).symlink_to(folder / file)
    before = files_under(folder)
    assert f"{folder} is incomplete ({file} missing)" in refusal("ogbn-arxiv")
    assert files_under(folder) == before


# Data set, file, line to change, what it becomes (None: it goes), what is said of the file.
BAD_TABLES = [
    *(
        (name, file, 3, text, "contains a number that is not whole")
        for name, file, texts in (
            ("ogbn-arxiv", "raw/edge", ("1.5,2", "7,nan", "7,inf", "nan,1", "7,9999999999999999999", "1e30,7")),
            ("ogbn-arxiv", "raw/node-label", ("3.7", "inf")),
            ("ogbn-arxiv", "split/time/train", ("1.5", "nan", "-inf")),
            ("ogbn-proteins", "raw/edge", ("1.5,2",)),
            ("ogbn-proteins", "raw/node-label", (",".join(["0"] * 111 + ["0.5"]), ",".join(["1"] * 111))),
            ("ogbn-proteins", "raw/node_species", ("9606.5",)),
            ("ogbn-proteins", "split/species/test", ("1.5", "nan")),
        )
        for text in texts
    ),
    ("ogbn-arxiv", "split/time/train", 0, "0,1", "has 2 columns, not 1"),
    ("ogbn-arxiv", "split/time/train", 3, "0,1", "cannot be read as a table (row 4 has 2 columns, not 1):"),
    ("ogbn-arxiv", "split/time/valid", 0, "paper", "other than numbers"),
    ("ogbn-arxiv", "raw/edge", 3, "True,False", "other than numbers"),
    ("ogbn-arxiv", "raw/edge", 3, None, "has 897 rows, but num-edge-list.csv.gz states 898 edges"),
    ("ogbn-arxiv", "raw/edge", 3, "7,200", "contains 200; valid numbers are 0 to 199"),
    ("ogbn-arxiv", "raw/edge", 3, "7,-1", "contains -1; valid numbers are 0 to 199"),
    ("ogbn-arxiv", "raw/edge", 3, "7,x", "other than numbers"),
    ("ogbn-arxiv", "raw/edge", 3, "7,", "not whole"),
    ("ogbn-arxiv", "raw/edge", 3, "1,2,3", "cannot be read as a table (row 4 has 3 columns, not 2):"),
    ("ogbn-arxiv", "raw/num-edge-list", 0, "900", "edge.csv.gz has 898 rows"),
    ("ogbn-arxiv", "raw/num-node-list", 0, "0", "does not contain one positive whole number"),
    ("ogbn-arxiv", "raw/num-node-list", 0, "many", "does not contain one positive whole number"),
    ("ogbn-arxiv", "raw/node-feat", 199, None, "has 199 rows, but num-node-list.csv.gz states 200 nodes"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["?"]), "other than numbers"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["nan"]), "not finite"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["inf"]), "not finite"),
    ("ogbn-arxiv", "raw/node-feat", 5, ",".join(["0.5"] * 127), "not finite"),
    ("ogbn-arxiv", "raw/node-label", 5, "40", "contains 40; valid numbers are 0 to 39"),
    ("ogbn-arxiv", "raw/node-label", 5, "-1", "contains -1;"),
    ("ogbn-arxiv", "raw/node-label", 5, "cs.LG", "other than numbers"),
    ("ogbn-arxiv", "raw/node-label", 5, "", "has 199 non-blank rows, not 200"),
    ("ogbn-arxiv", "raw/node-label", 5, "nan", "not whole"),
    ("ogbn-arxiv", "split/time/train", 0, "200", "contains 200;"),
    ("ogbn-arxiv", "split/time/train", 0, "1", "lists a node twice"),
    ("ogbn-arxiv", "split/time/valid", 0, "0", "shares 1 nodes with part train"),
    ("ogbn-proteins", "raw/edge-feat", 0, None, "has 992 rows, but num-edge-list.csv.gz states 993 edges"),
    ("ogbn-proteins", "raw/edge-feat", 0, "1,2,3,4,5,6,7,nan", "not finite"),
    ("ogbn-proteins", "raw/node-label", 0, ",".join(["2"] * 112), "contains 2; valid numbers are 0 to 1"),
    ("ogbn-proteins", "raw/node_species", 0, "12", "has 9 species, not 8"),
    ("ogbn-proteins", "raw/node_species", 0, "mouse", "other than numbers"),
    ("ogbn-proteins", "split/species/test", 0, "150", "contains 150;"),
    ("ogbl-collab", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["nan"]), "not finite"),
]


@pytest.mark.parametrize(("name", "file", "row", "text", "expected"), BAD_TABLES)
def test_bad_tables_are_named_with_the_error(
    copied: Copy, name: str, file: str, row: int, text: str | None, expected: str
) -> None:
    folder = copied(name)
    changed(folder / f"{file}.csv.gz", row, text)
    message = refusal(name)
    assert expected in message
    assert message.startswith(str(folder))
    if "num-" not in file:
        assert message.startswith(str(folder / f"{file}.csv.gz"))
    assert "replace it with the published file" in message


def test_a_table_of_another_width_is_refused(copied: Copy) -> None:
    folder = copied("ogbn-arxiv")
    for file, width in (("raw/node-label", 2), ("raw/node-feat", 127), ("raw/node-feat", 129), ("raw/edge", 3)):
        path = folder / f"{file}.csv.gz"
        before = lines_of(path)
        write_lines(path, [",".join((line.split(",") * 3)[:width]) for line in before])
        assert f"{path} has {width} columns" in refusal("ogbn-arxiv")
        write_lines(path, before)


@pytest.mark.parametrize("content", [b"", b"not packed", None], ids=["empty", "not packed", "cut short"])
@pytest.mark.parametrize("file", ["raw/edge", "raw/node-feat", "raw/num-node-list", "split/time/valid"])
def test_a_damaged_file_is_named(copied: Copy, file: str, content: bytes | None) -> None:
    path = copied("ogbn-arxiv") / f"{file}.csv.gz"
    path.write_bytes(path.read_bytes()[:-12] if content is None else content)
    assert refusal("ogbn-arxiv").startswith(str(path))


def test_an_empty_part_of_the_split_is_refused(copied: Copy) -> None:
    path = copied("ogbn-arxiv") / "split/time/valid.csv.gz"
    for lines in ([], ["", ""]):
        write_lines(path, lines)
        assert refusal("ogbn-arxiv").startswith(f"{path} is empty: ")


def test_whole_numbers_with_a_decimal_point_are_accepted(copied: Copy) -> None:
    folder = copied("ogbn-arxiv")
    expected = DATASETS.get("ogbn-arxiv").load().content_hash
    for path in (folder / "raw/edge.csv.gz", folder / "raw/node-label.csv.gz", folder / "split/time/test.csv.gz"):
        write_lines(path, [",".join(f"{number}.0" for number in line.split(",")) for line in lines_of(path)])
    assert DATASETS.get("ogbn-arxiv").load().content_hash == expected


@pytest.mark.parametrize("name", ["ogbn-arxiv", "ogbn-proteins", "ogbl-collab"])
def test_a_graph_of_self_loops_is_refused(copied: Copy, name: str) -> None:
    if name == "ogbl-collab":
        path = copied(name) / "split/time/train.pt"
        path.write_bytes(numbers({"edge": pairs((3, 3), (4, 4))}))
    else:
        path = copied(name) / "raw/edge.csv.gz"
        write_lines(path, ["7,7"] * len(lines_of(path)))
    assert refusal(name).startswith(f"{path} contains only self-loops: ")


@pytest.mark.parametrize("make", ["a file", "a link to itself"])
@pytest.mark.parametrize("place", ["", "raw", "split", "split/time"])
def test_a_file_in_place_of_a_folder_is_named(copied: Copy, place: str, make: str) -> None:
    path = copied("ogbn-arxiv") / place
    shutil.rmtree(path)
    if make == "a file":
        path.write_text("no folder")
    else:
        path.symlink_to(path)
    assert refusal("ogbn-arxiv").startswith(f"{path} must be a folder of ogbn-arxiv, but it is a file or a broken link")


def test_species_files_under_the_other_name_are_read(copied: Copy) -> None:
    folder = copied("ogbn-proteins")
    expected = DATASETS.get("ogbn-proteins").load().content_hash
    (folder / "raw/node_species.csv.gz").rename(folder / "raw/species.csv.gz")
    before = files_under(folder)
    assert DATASETS.get("ogbn-proteins").load().content_hash == expected
    assert files_under(folder) == before


def numbers(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def pairs(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


BAD_PARTS = {
    "no dictionary": ([1, 2], "has no array 'edge'"),
    "no negatives": ({"edge": pairs((0, 1))}, "has no array 'edge_neg'"),
    "no pairs": ({"edge": pairs((0, 1)), "edge_neg": np.arange(6)}, "has no pairs of nodes in 'edge_neg'"),
    "none": ({"edge": np.zeros((0, 2), int), "edge_neg": pairs((0, 1))}, "valid.pt has no pairs of nodes in 'edge'"),
    "fractions": ({"edge": np.full((2, 2), 0.5), "edge_neg": pairs((0, 1))}, "has no pairs of nodes in 'edge'"),
    "no rows of negatives": (
        {"edge": pairs((0, 1)), "edge_neg": np.zeros((0, 2), int)},
        "has no pairs of nodes in 'edge_neg'",
    ),
    "the same pairs": (
        {"edge": pairs((0, 1), (3, 2)), "edge_neg": pairs((2, 3), (4, 5), (1, 0))},
        "lists 2 of 3 pairs in 'edge_neg' as edges too",
    ),
    "unknown node": ({"edge": pairs((0, 120)), "edge_neg": pairs((0, 1))}, "contains 120; valid numbers are 0 to 119"),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_a_bad_link_split_file_is_named(copied: Copy, case: str) -> None:
    content, expected = BAD_PARTS[case]
    path = copied("ogbl-collab") / "split/time/valid.pt"
    path.write_bytes(numbers(content))
    message = refusal("ogbl-collab")
    assert message.startswith(str(path))
    assert expected in message


def test_held_out_links_may_repeat_training_links(copied: Copy) -> None:
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
def test_a_split_file_with_code_is_not_run(
    copied: Copy, tmp_path: Path, write: Callable[[object, Path], object]
) -> None:
    path = copied("ogbl-collab") / "split/time/train.pt"
    write({"edge": Trap(tmp_path / "ran")}, path)
    assert "train.pt contains something other than arrays" in refusal("ogbl-collab")
    assert not (tmp_path / "ran").exists()


def test_split_files_of_older_numpy_are_read(copied: Copy) -> None:
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
