"""Folders that are not the data set that their name promises: one sentence that names the file, before or after ogb."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.data import DATASETS
from glt.data.ogb_package import ogb_module
from tests.data.conftest import files_under, lines_of, refusal, write_lines

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


@pytest.mark.parametrize("file", ARXIV_FILES)
def test_a_missing_file_is_named_and_nothing_is_fetched_or_removed(copied: Copy, file: str) -> None:
    folder = copied("ogbn-arxiv")
    (folder / file).unlink()
    before = files_under(folder)
    message = refusal("ogbn-arxiv")
    assert f"{folder} is incomplete ({file} missing)" in message
    assert files_under(folder) == before


# Data set, file, line to change, what it becomes (None: it goes), what is said of the file.
BAD_TABLES = [
    *(
        (name, file, 3, text, "holds an entry that is no whole number")
        for name, file, texts in (
            ("ogbn-arxiv", "raw/edge", ("1.5,2", "7,nan", "7,inf", "nan,1", "7,9999999999999999999", "1e30,7")),
            ("ogbn-arxiv", "raw/node-label", ("3.7", "inf")),
            ("ogbn-arxiv", "split/time/train", ("1.5", "nan", "-inf")),
            ("ogbn-proteins", "raw/edge", ("1.5,2",)),
            ("ogbn-proteins", "raw/node-label", (",".join(["0"] * 111 + ["0.5"]), ",".join(["1"] * 111))),
            ("ogbn-proteins", "raw/node_species", ("9606.5",)),
            ("ogbn-proteins", "split/species/test", ("1.5", "nan")),
            ("ogbl-collab", "raw/edge", ("1.5,2",)),
        )
        for text in texts
    ),
    ("ogbn-arxiv", "split/time/train", 0, "0,1", "has 2 columns, not 1"),
    ("ogbn-arxiv", "split/time/train", 3, "0,1", "cannot be read as a table (row 4 has 2 columns, not 1):"),
    ("ogbn-arxiv", "split/time/valid", 0, "paper", "not a number"),
    ("ogbn-arxiv", "raw/edge", 3, "True,False", "not a number"),
    ("ogbn-arxiv", "raw/edge", 3, None, "has 897 rows, and num-edge-list.csv.gz says 898 edges"),
    ("ogbn-arxiv", "raw/edge", 3, "7,200", "names node 200, and nodes are 0 to 199"),
    ("ogbn-arxiv", "raw/edge", 3, "7,-1", "names node -1"),
    ("ogbn-arxiv", "raw/edge", 3, "7,x", "not a number"),
    ("ogbn-arxiv", "raw/edge", 3, "7,", "no whole number"),
    ("ogbn-arxiv", "raw/edge", 3, "1,2,3", "cannot be read as a table (row 4 has 3 columns, not 2):"),
    ("ogbn-arxiv", "raw/num-edge-list", 0, "900", "edge.csv.gz has 898 rows"),
    ("ogbn-arxiv", "raw/num-node-list", 0, "0", "is not one whole number above 0"),
    ("ogbn-arxiv", "raw/num-node-list", 0, "many", "is not one whole number above 0"),
    ("ogbn-arxiv", "raw/node-feat", 199, None, "has 199 rows, and num-node-list.csv.gz says 200 nodes"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["?"]), "not a number"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["nan"]), "no finite number"),
    ("ogbn-arxiv", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["inf"]), "no finite number"),
    ("ogbn-arxiv", "raw/node-feat", 5, ",".join(["0.5"] * 127), "no finite number"),
    ("ogbn-arxiv", "raw/node-label", 5, "40", "holds 0 to 40"),
    ("ogbn-arxiv", "raw/node-label", 5, "-1", "holds -1 to"),
    ("ogbn-arxiv", "raw/node-label", 5, "cs.LG", "not a number"),
    ("ogbn-arxiv", "raw/node-label", 5, "", "has 199 rows with something in them, not 200"),
    ("ogbn-arxiv", "raw/node-label", 5, "nan", "no whole number"),
    ("ogbn-arxiv", "split/time/train", 0, "200", "names node 200"),
    ("ogbn-arxiv", "split/time/train", 0, "1", "lists a node twice"),
    ("ogbn-arxiv", "split/time/valid", 0, "0", "shares 1 nodes with the part train"),
    ("ogbn-proteins", "raw/edge-feat", 0, None, "has 992 rows, and num-edge-list.csv.gz says 993 edges"),
    ("ogbn-proteins", "raw/edge-feat", 0, "1,2,3,4,5,6,7,nan", "no finite number"),
    ("ogbn-proteins", "raw/node-label", 0, ",".join(["2"] * 112), "holds 0 to 2"),
    ("ogbn-proteins", "raw/node_species", 0, "12", "holds 9 species, not 8"),
    ("ogbn-proteins", "raw/node_species", 0, "mouse", "not a number"),
    ("ogbn-proteins", "split/species/test", 0, "150", "names node 150"),
    ("ogbl-collab", "raw/node-feat", 0, ",".join(["0.5"] * 127 + ["nan"]), "no finite number"),
    ("ogbl-collab", "raw/edge", 0, "0,120", "names node 120"),
    ("ogbl-collab", "raw/edge_weight", 0, "nan", "no finite number"),
    ("ogbl-collab", "raw/edge_weight", 0, "-1", "holds a number below 0"),
]


@pytest.mark.parametrize(("name", "file", "row", "text", "told"), BAD_TABLES)
def test_a_bad_table_is_named_with_what_is_wrong(
    copied: Copy, name: str, file: str, row: int, text: str | None, told: str
) -> None:
    folder = copied(name)
    changed(folder / f"{file}.csv.gz", row, text)
    message = refusal(name)
    assert told in message
    assert message.startswith(str(folder))
    if "num-" not in file:
        assert message.startswith(str(folder / f"{file}.csv.gz"))
    assert "put the published file there" in message


@pytest.mark.parametrize(
    ("file", "width"), [("raw/edge", 3), ("raw/node-feat", 127), ("raw/node-feat", 129), ("raw/node-label", 2)]
)
def test_a_table_of_another_width_is_refused(copied: Copy, file: str, width: int) -> None:
    path = copied("ogbn-arxiv") / f"{file}.csv.gz"
    rows = [(line.split(",") * 3)[:width] for line in lines_of(path)]
    write_lines(path, [",".join(row) for row in rows])
    assert f"{path} has {width} columns" in refusal("ogbn-arxiv")


@pytest.mark.parametrize("content", [b"", b"not packed", None], ids=["empty", "not packed", "cut short"])
@pytest.mark.parametrize("file", ["raw/edge", "raw/node-feat", "raw/num-node-list", "split/time/valid"])
def test_a_damaged_file_is_named(copied: Copy, file: str, content: bytes | None) -> None:
    path = copied("ogbn-arxiv") / f"{file}.csv.gz"
    path.write_bytes(path.read_bytes()[:-12] if content is None else content)
    assert refusal("ogbn-arxiv").startswith(str(path))


@pytest.mark.parametrize("lines", [[], ["", ""]], ids=["nothing", "empty rows"])
def test_an_empty_part_of_the_split_is_refused(copied: Copy, lines: list[str]) -> None:
    path = copied("ogbn-arxiv") / "split/time/valid.csv.gz"
    write_lines(path, lines)
    assert refusal("ogbn-arxiv").startswith(f"{path} is empty: ")


def test_whole_numbers_with_a_point_are_whole(copied: Copy) -> None:
    folder = copied("ogbn-arxiv")
    expected = DATASETS.get("ogbn-arxiv").load().content_hash
    for path in (folder / "raw/edge.csv.gz", folder / "raw/node-label.csv.gz", folder / "split/time/test.csv.gz"):
        write_lines(path, [",".join(f"{number}.0" for number in line.split(",")) for line in lines_of(path)])
    assert DATASETS.get("ogbn-arxiv").load().content_hash == expected


@pytest.mark.parametrize("name", ["ogbn-arxiv", "ogbn-proteins"])
def test_a_graph_of_self_loops_is_refused(copied: Copy, name: str) -> None:
    path = copied(name) / "raw/edge.csv.gz"
    write_lines(path, ["7,7"] * len(lines_of(path)))
    assert refusal(name).startswith(f"{path} holds self-loops only, so that no edge is left: ")


@pytest.mark.parametrize("make", ["a file", "a link to itself"])
@pytest.mark.parametrize("place", ["", "raw", "split", "split/time"])
def test_what_should_be_a_folder_is_named(copied: Copy, place: str, make: str) -> None:
    path = copied("ogbn-arxiv") / place
    shutil.rmtree(path)
    if make == "a file":
        path.write_text("no folder")
    else:
        path.symlink_to(path)
    assert refusal("ogbn-arxiv").startswith(f"{path} should be a folder of ogbn-arxiv and is a file or a link")


def test_a_file_that_is_a_link_to_itself_is_missing(copied: Copy) -> None:
    path = copied("ogbn-arxiv") / "raw/edge.csv.gz"
    path.unlink()
    path.symlink_to(path)
    assert "is incomplete (raw/edge.csv.gz missing)" in refusal("ogbn-arxiv")


def test_species_under_their_other_name_are_read_and_not_renamed(copied: Copy) -> None:
    folder = copied("ogbn-proteins")
    expected = DATASETS.get("ogbn-proteins").load().content_hash
    (folder / "raw/node_species.csv.gz").rename(folder / "raw/species.csv.gz")
    before = files_under(folder)
    assert DATASETS.get("ogbn-proteins").load().content_hash == expected
    assert files_under(folder) == before


def ask(**_: object) -> None:
    input("Will you update the dataset now? (y/N)")


def leave(**_: object) -> None:
    raise SystemExit(-1)


@pytest.mark.parametrize(
    ("behaviour", "told"), [(ask, "Will you update the dataset now"), (leave, "wanted to leave the program")]
)
def test_a_question_or_an_exit_of_ogb_becomes_one_sentence(
    copied: Copy, monkeypatch: pytest.MonkeyPatch, behaviour: Callable[..., None], told: str
) -> None:
    folder = copied("ogbn-arxiv")
    before = files_under(folder)
    monkeypatch.setattr(ogb_module("ogb.nodeproppred"), "PygNodePropPredDataset", behaviour)
    message = refusal("ogbn-arxiv")
    assert message.startswith(f"ogbn-arxiv in {folder} cannot be read (")
    assert told in message
    assert files_under(folder) == before
