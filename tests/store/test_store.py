"""Runs are made, found, extended and listed; one that is damaged leaves the others usable."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.store import Run, SeedRun, Status, Store
from glt.store.file_cache import TOO_FRESH

Fill = Callable[..., SeedRun]


def test_a_store_is_made_by_the_first_write(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "store")
    assert store.runs() == []
    assert store.damaged() == []
    assert store.size_bytes() == 0
    assert not store.root.exists()
    store.create(RunConfig())
    assert len(store.runs()) == 1


def test_a_run_is_found_by_name_and_by_path(store: Store, run: Run, tmp_path: Path) -> None:
    assert store.find(run.name).config == run.config
    assert Store(tmp_path / "elsewhere").find(str(run.path)).config == run.config


@pytest.mark.parametrize("name", ["..", ".", ".trash", "", "/", "zebra"])
def test_what_is_no_run_is_not_found(store: Store, run: Run, name: str) -> None:
    with pytest.raises(StoreError, match=f"the store holds {run.name}"):
        store.find(name)


def test_a_run_of_a_similar_name_is_suggested(store: Store, run: Run) -> None:
    with pytest.raises(StoreError, match=f"did you mean {run.name}"):
        store.find("cora-node-gcn-ugs")


def test_the_same_config_opens_the_same_run(store: Store, run: Run) -> None:
    assert store.create(run.config).path == run.path
    assert len(store.runs()) == 1


def test_more_rounds_extend_a_run_and_fewer_do_not_shorten_it(store: Store, filled: Fill) -> None:
    filled(store.create(RunConfig(rounds=3)), 0)
    assert store.create(RunConfig(rounds=2)).config.rounds == 3
    longer = store.create(RunConfig(rounds=5))
    assert longer.config.rounds == store.find(longer.name).config.rounds == 5
    assert not longer.seed(0).is_complete()


def test_seeds_are_listed_in_order(run: Run, filled: Fill) -> None:
    for seed in (10, 2, 0):
        filled(run, seed, rounds=0)
    (run.path / "seed-x").mkdir()
    (run.path / "seed-7").mkdir()
    assert run.seeds() == [0, 2, 10]
    assert run.existing_seed().seed == 0
    with pytest.raises(StoreError, match="no seed 7: it has 0, 2, 10"):
        run.existing_seed(7)


def test_seeds_that_come_start_and_go_are_seen_by_a_run_that_was_asked_before(run: Run, filled: Fill) -> None:
    filled(run, 0)
    age(run.path)
    assert [run.seeds(), run.seeds()] == [[0], [0]]
    late = run.seed(1)
    late.make()
    age(run.path)
    assert run.seeds() == [0]
    late.write_status(Status(state="queued", seed=1))
    assert [run.seeds(), run.seeds()] == [[0, 1], [0, 1]]
    shutil.rmtree(late.path)
    assert run.seeds() == [0]


def age(folder: Path) -> None:
    """Make a folder look as if nothing had come or gone in it for a while."""
    before = folder.stat().st_mtime - 10 * TOO_FRESH
    os.utime(folder, (before, before))


def test_a_run_without_seeds_says_so(run: Run) -> None:
    with pytest.raises(StoreError, match="has no seeds yet"):
        run.existing_seed()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", r"config\.json is damaged"),
        (b'{"schema":1', r"config\.json is damaged"),
        (b'{"schema":1}', r"config\.json is damaged"),
        (b'{"schema":2,"config":{}}', "newer GLT Studio"),
        (b'{"config":{}}', "does not say which format"),
        (b'{"schema":1,"config":{"p_graph":7}}', "p_graph cannot be 7"),
        (b'{"schema":1,"config":{"hidden":17}}', "does not match its config.json"),
        (b'{"schema":1,"config":{"method":"unheard"}}', "Unknown method 'unheard'"),
        (b"[]", "does not say which format"),
    ],
)
def test_a_damaged_run_is_listed_and_the_others_stay(store: Store, run: Run, content: bytes, sentence: str) -> None:
    other = store.create(RunConfig(method="random"))
    (run.path / "config.json").write_bytes(content)
    assert [found.name for found in store.runs()] == [other.name]
    ((path, said),) = store.damaged()
    assert path == run.path
    with pytest.raises(StoreError, match=sentence) as caught:
        store.find(run.name)
    assert str(caught.value) == said


def test_a_folder_without_config_is_listed_as_damaged(store: Store, run: Run) -> None:
    (store.root / "notes").mkdir()
    assert [path.name for path, _ in store.damaged()] == ["notes"]
    assert len(store.runs()) == 1


def test_config_json_holds_the_config_and_the_format(run: Run) -> None:
    document = json.loads((run.path / "config.json").read_text())
    assert len(document.pop("crc32")) == 8
    assert document == {"schema": 1, "config": run.config.model_dump(mode="json")}


def test_size_counts_every_file_but_follows_no_link(store: Store, seed_run: SeedRun, tmp_path: Path) -> None:
    before = store.size_bytes()
    assert before == sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file())
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (seed_run.path / "link").symlink_to(tmp_path / "large")
    assert store.size_bytes() < before + 1000
