"""What the doctor never moves: files of others, what lies beyond a link, what is at work, what has changed since."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.doctor import examine, examine_store, repair
from glt.errors import StoreError
from glt.store import Store
from tests.damage.damages import noise, remove
from tests.damage.reading import said

Copy = Callable[[], Store]


def contents(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def write(path: Path, text: str = "mine") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1, 1))


def test_a_folder_that_is_no_store_is_refused_and_stays(tmp_path: Path) -> None:
    root = tmp_path / "holiday"
    for name in ("IMG_1.JPG", "film.part", "config.json", "2024/rounds.jsonl", "2024/seed-0/x", ".a.txt.1-1.writing"):
        write(root / name)
    for name in ("annotations.json", "2024/config.json", "bert/config.json"):
        write(root / name, json.dumps({"architectures": ["BertModel"]}))
    before = contents(root)
    answer = said("glt", ["doctor", "--mend", "--store", str(root)])
    assert answer.code == 1
    assert "is no store" in answer.err
    assert contents(root) == before
    assert not (root / ".set-aside").exists()


def test_a_store_whose_only_run_was_renamed_is_one(copy: Copy) -> None:
    store = copy()
    kept, *others = store.runs()
    name = kept.name
    for folder in [*others, *store.pretrainings()]:
        shutil.rmtree(folder.path)
    kept.path.rename(store.root / "my-run")
    for beside in store.root.iterdir():
        if beside.name != "my-run":
            shutil.rmtree(beside) if beside.is_dir() else beside.unlink()
    answer = said("glt", ["doctor", "--mend", "--store", str(store.root)])
    assert f"name the folder {name} again" in " ".join((answer.out + answer.err).split())
    assert (store.root / "my-run" / "config.json").exists()


def test_files_of_others_in_a_store_stay(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    others = [
        store.root / "IMG_1.JPG",
        store.root / "draft.writing",
        store.root / ".thesis.tex.4194305-1.writing",
        run.path / "figure.png",
        run.path / "seed-0" / "notes.txt",
        run.path / "seed-0" / "draft.writing",
        store.root / "bert" / "seed-0" / "rounds.jsonl",
        store.root / "cora-node-gcn-ugs-0badcafe" / "seed-0" / "x",
        store.root / "my best run" / "seed-0" / "x",
    ]
    for path in others:
        write(path)
    for folder in ("bert", "cora-node-gcn-ugs-0badcafe"):
        write(store.root / folder / "config.json", json.dumps({"architectures": ["BertModel"]}))
    write(store.root / "my best run" / "config.json", "no JSON")
    write(store.root / "annotations.json", json.dumps({"images": [], "categories": []}))
    before = contents(store.root)
    said("glt", ["doctor", "--mend", "--store", str(store.root)])
    run.seed(0).drop_unfinished()
    assert {path: text for path, text in contents(store.root).items() if path in before} == before
    with pytest.raises(StoreError, match="not GLT Studio's"):
        store.annotate(run.name, {"title": "new"})


def test_files_of_others_are_told_and_are_no_fault(copy: Copy) -> None:
    store = copy()
    write(store.root / "paper.tex")
    answer = said("glt", ["doctor", "--store", str(store.root)])
    assert answer.code == 0
    assert "paper.tex is not GLT Studio's: it stays as it is." in answer.out


def test_what_lies_beyond_a_link_is_told_and_stays(copy: Copy, tmp_path: Path) -> None:
    store = copy()
    run, elsewhere = store.runs()[0], tmp_path / "elsewhere"
    shutil.move(run.path / "seed-0", elsewhere)
    (run.path / "seed-0").symlink_to(elsewhere)
    noise(elsewhere / "round-01.safetensors")
    remove(elsewhere / "init.safetensors")
    before = contents(elsewhere)
    looked = examine(run.path)
    assert looked.findings
    assert all(finding.repair is None and "symbolic link" in finding.then for finding in looked.findings)
    assert not repair(looked).mended
    assert contents(elsewhere) == before


def test_a_run_that_is_a_link_is_told_and_stays(copy: Copy, tmp_path: Path) -> None:
    store = copy()
    run = store.runs()[0]
    elsewhere = tmp_path / run.name
    shutil.move(run.path, elsewhere)
    run.path.symlink_to(elsewhere)
    noise(elsewhere / "config.json")
    before = contents(elsewhere)
    assert said("glt", ["doctor", "--mend", "--store", str(store.root)]).code == 1
    assert contents(elsewhere) == before


def test_what_has_been_put_right_since_is_not_mended(copy: Copy, tmp_path: Path) -> None:
    run = copy().runs()[0]
    seed, whole = run.path / "seed-0", tmp_path / "whole"
    shutil.copytree(seed, whole)
    for name in ("rounds.jsonl", "checksums.jsonl"):
        lines = (seed / name).read_text().splitlines(keepends=True)
        (seed / name).write_text("".join(lines[:-1]))
    looked = examine(run.path)
    assert looked.findings
    shutil.rmtree(seed)
    shutil.copytree(whole, seed)
    assert not repair(looked).mended
    assert contents(seed) == contents(whole)
    assert not (run.path / "set-aside").exists()


def test_a_write_that_goes_on_is_no_left_over(copy: Copy) -> None:
    store = copy()
    run = store.runs()[0]
    living = run.path / f".config.json.{os.getpid()}-1.writing"
    write(living)
    lately = store.root / ".annotations.json.4194305-1.writing"
    lately.write_text("a process that is not seen from here")
    assert [looked.findings for looked in examine_store(store)] == [(), (), ()]
