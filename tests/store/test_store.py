"""A store: runs are made, found, named, deleted and restored, and those that others need stay."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import CORE_FIELDS, RunConfig
from glt.errors import ConfigError, StoreError
from glt.formats import as_typed
from glt.methods import METHODS
from glt.pretraining.config import PretrainConfig
from glt.store import Run, SeedRun, Status, Store, readers_first, readers_left, run_name, sources_of
from glt.store.atomic_io import TOO_FRESH
from glt.store.seed_run import fingerprint

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
        (b'{"config":{}}', "names no format version"),
        (b'{"schema":1,"config":{"p_graph":7}}', "p_graph cannot be 7"),
        (b'{"schema":1,"config":{"hidden":17}}', "does not match its config.json"),
        (b'{"schema":1,"config":{"method":"unheard"}}', "Unknown method 'unheard'"),
        (b"[]", "names no format version"),
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
    with seed_run.lock(), pytest.raises(StoreError, match=r"running \(seed 0\): stop it"):
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
    told = f"is in the trash; `{as_typed('delete')} --restore {run.name} --store {store.root}` restores it"
    with pytest.raises(StoreError, match=told):
        store.find(run.name)


@pytest.fixture
def ticket(store: Store, run: Run) -> Run:
    return store.create(RunConfig(method="reinit", rounds=3, options={"masks_of": run.name, "draw": 0}))


def test_an_unfinished_reader_keeps_it(store: Store, run: Run, ticket: Run, filled: Fill) -> None:
    filled(ticket, 0)
    filled(ticket, 1, rounds=1)
    with pytest.raises(
        StoreError, match=rf"{run.name} cannot be deleted, because {ticket.name} \(seed 1 not complete\) still needs it"
    ):
        store.move_to_trash(run.path)
    assert run.path.exists()


def test_a_reader_at_work_keeps_it(store: Store, run: Run, ticket: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket.seed(0).make()
    ticket.seed(0).write_status(Status(state="running", seed=0))
    monkeypatch.setattr("glt.store.locks.is_alive", lambda *_: True)
    with pytest.raises(StoreError, match=r"\(seed 0 running\)"):
        store.move_to_trash(run.path)


def test_a_pretraining_is_kept_for_what_starts_from_it(store: Store, filled: Fill) -> None:
    first = store.create_pretraining(PretrainConfig(hidden=4))
    started = store.create(RunConfig(options={"pretraining": first.name}))
    filled(started, 0, rounds=1)
    with pytest.raises(StoreError, match=f"because {started.name} "):
        store.move_to_trash(first.path)


def test_a_complete_reader_is_named_and_stops_nothing(store: Store, run: Run, ticket: Run, filled: Fill) -> None:
    filled(ticket, 0)
    assert f"{ticket.name} needs {run.name} and is complete" in readers_left(run.name, store.readers(run.name))
    store.move_to_trash(run.path)
    assert readers_left(ticket.name, store.readers(ticket.name)) == ""


def test_readers_go_before_what_they_read(store: Store, run: Run, ticket: Run) -> None:
    assert readers_first([run.name, ticket.name], store.runs()) == [ticket.name, run.name]
    assert sources_of(run.config) == []


def test_a_run_that_looks_for_another_one_is_not_offered_itself(store: Store, run: Run) -> None:
    near = f"{run.name[:-1]}x"
    with pytest.raises(StoreError, match=f"did you mean {run.name}"):
        store.find(near)
    with pytest.raises(StoreError, match="the store holds no runs yet"):
        store.find(near, asking=run.name)


# Names of runs: a hash of everything that shapes the rounds.


OTHERS = {
    "edge_mask": "undirected",
    "degree": "both",
    "hidden": 64,
    "layers": 3,
    "epochs": 7,
    "retrain_epochs": 7,
    "learning_rate": 0.5,
    "weight_decay": 0.5,
    "gamma_graph": 0.5,
    "gamma_weight": 0.5,
    "p_graph": 0.5,
    "p_weight": 0.5,
    "dropout": 0.1,
    "dataset": "citeseer",
    "task": "link",
    "model": "gin",
    "method": "random",
}


def test_the_name_says_what_the_run_is_about() -> None:
    assert re.fullmatch(r"cora-node-gcn-ugs-[0-9a-f]{8}", run_name(RunConfig()))


def test_more_rounds_are_the_same_run() -> None:
    assert run_name(RunConfig(rounds=30)) == run_name(RunConfig(rounds=20))


@pytest.mark.parametrize("method", METHODS.names())
def test_settings_a_method_ignores_are_the_same_run(method: str) -> None:
    plain = fingerprint(RunConfig(method=method))
    for name in METHODS.get(method).ignores:
        assert fingerprint(RunConfig(method=method, **{name: OTHERS[name]})) == plain, name


@pytest.mark.parametrize("name", sorted(set(CORE_FIELDS) - {"rounds"}))
def test_every_other_setting_is_another_run(name: str) -> None:
    assert fingerprint(RunConfig(**{name: OTHERS[name]})) != fingerprint(RunConfig())


def test_options_are_part_of_a_run() -> None:
    assert fingerprint(RunConfig(options={"a": 1})) != fingerprint(RunConfig(options={"a": 2}))


@pytest.mark.parametrize("dataset", ["../up", "a/b", ".hidden", "a b", ""])
def test_a_name_is_never_a_path(dataset: str) -> None:
    with pytest.raises(ConfigError, match="cannot be part of a run's name"):
        run_name(RunConfig(dataset=dataset))
