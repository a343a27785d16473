"""Deleting moves to the trash, emptying frees it, and nothing outside the store is ever touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glt.commands import command
from glt.errors import StoreError
from glt.store import Run, SeedRun, Store

Fill = Callable[..., SeedRun]


def test_a_run_moves_to_the_trash_and_is_freed(store: Store, seed_run: SeedRun, run: Run) -> None:
    size = run.size_bytes()
    store.move_to_trash(run.path)
    assert store.runs() == []
    assert [path.name for path in store.trashed()] == [f"{run.name}.1"]
    assert store.size_bytes() >= size
    assert store.empty_trash() == size
    assert store.trashed() == []
    assert store.size_bytes() == 0


def test_the_same_run_may_be_deleted_twice(store: Store, run: Run, filled: Fill) -> None:
    for _ in range(2):
        store.move_to_trash(store.create(run.config).path)
    assert [path.name for path in store.trashed()] == [f"{run.name}.1", f"{run.name}.2"]


def test_a_run_at_work_stays(store: Store, seed_run: SeedRun, run: Run) -> None:
    with seed_run.lock(), pytest.raises(StoreError, match=r"at work \(seed 0\): stop it"):
        store.move_to_trash(run.path)
    store.move_to_trash(run.path)


def test_a_run_elsewhere_stays(store: Store, run: Run, tmp_path: Path) -> None:
    other = Store(tmp_path / "other").create(run.config)
    for found in (other, store.find(str(other.path))):
        with pytest.raises(StoreError, match="not a folder of the store"):
            store.move_to_trash(found.path)
    assert other.path.exists()


def test_a_run_that_is_a_link_stays(store: Store, run: Run, tmp_path: Path) -> None:
    other = Store(tmp_path / "other").create(run.config)
    run.path.rename(tmp_path / "aside")
    (store.root / run.name).symlink_to(other.path)
    with pytest.raises(StoreError, match="not a folder of the store"):
        store.move_to_trash(store.find(run.name).path)
    assert (other.path / "config.json").exists()


def test_links_in_the_trash_are_removed_but_not_followed(
    store: Store, seed_run: SeedRun, run: Run, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis").write_text("years of work")
    (seed_run.path / "inside").symlink_to(precious)
    store.move_to_trash(run.path)
    (store.root / ".trash" / "beside").symlink_to(precious)
    store.empty_trash()
    assert store.trashed() == []
    assert (precious / "thesis").exists()


def test_a_trash_that_is_a_link_is_refused(store: Store, run: Run, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (store.root / ".trash").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError, match="symbolic link"):
        store.move_to_trash(run.path)
    with pytest.raises(StoreError, match="symbolic link"):
        store.empty_trash()


def test_what_was_deleted_last_comes_back(store: Store, seed_run: SeedRun, run: Run) -> None:
    store.move_to_trash(run.path)
    store.move_to_trash(store.create(run.config).path)
    assert store.restorable() == [run.name]
    assert store.restore(run.name) == run.path
    assert store.find(run.name).seeds() == []
    store.move_to_trash(run.path)
    (store.root / ".trash" / f"{run.name}.2").rename(store.root / "elsewhere")
    store.restore(run.name)
    assert store.find(run.name).seed(0).whole_rounds() == 4
    assert store.trashed() == []


def test_a_gap_in_the_trash_does_not_make_an_older_one_the_newest(store: Store, run: Run) -> None:
    for _ in range(2):
        store.move_to_trash(store.create(run.config).path)
    (store.root / ".trash" / f"{run.name}.1").rename(store.root.parent / "gone")
    store.move_to_trash(store.create(run.config).path)
    assert [path.name for path in store.trashed()] == [f"{run.name}.2", f"{run.name}.3"]


def test_a_name_that_is_taken_again_or_unknown_is_refused(store: Store, run: Run) -> None:
    store.move_to_trash(run.path)
    store.create(run.config)
    with pytest.raises(StoreError, match=f"holds a run {run.name} again: keep that one, or move"):
        store.restore(run.name)
    with pytest.raises(StoreError, match=f"holds no run 'other': it holds {run.name}"):
        store.restore("other")
    store.empty_trash()
    with pytest.raises(StoreError, match="it holds no run"):
        store.restore(run.name)


def test_links_in_the_trash_do_not_come_back(store: Store, run: Run, tmp_path: Path) -> None:
    store.move_to_trash(run.path)
    (store.root / ".trash" / "other.1").symlink_to(tmp_path)
    assert store.restorable() == [run.name]


def test_a_run_in_the_trash_is_said_to_lie_there(store: Store, run: Run) -> None:
    store.move_to_trash(run.path)
    told = f"lies in the trash, and `{command('delete')} --restore {run.name} --store {store.root}` brings it back"
    with pytest.raises(StoreError, match=told):
        store.find(run.name)
