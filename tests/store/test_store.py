"""A store: runs are made, found, named, annotated, deleted and restored; dependencies cannot be deleted."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from glt.config import CORE_FIELDS, RunConfig
from glt.errors import ConfigError, StoreError
from glt.formats import as_typed
from glt.methods import METHODS
from glt.pretraining.config import PretrainConfig
from glt.store import (
    Annotation,
    Run,
    SeedRun,
    Status,
    Store,
    bundled_examples,
    paths,
    readers_first,
    readers_left,
    run_name,
    sources_of,
)
from glt.store.annotations import LONGEST_TITLE, annotate, annotations_in
from glt.store.atomic_io import TOO_FRESH
from glt.store.seed_run import fingerprint

Fill = Callable[..., SeedRun]


def test_a_store_is_created_by_the_first_write(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "store")
    assert store.runs() == []
    assert store.damaged() == []
    assert store.size_bytes() == 0
    assert not store.root.exists()
    store.create(RunConfig())
    assert len(store.runs()) == 1


def test_runs_are_found_by_name_or_path(store: Store, run: Run, tmp_path: Path) -> None:
    assert store.find(run.name).config == run.config
    assert Store(tmp_path / "elsewhere").find(str(run.path)).config == run.config
    assert store.create(run.config).path == run.path
    assert len(store.runs()) == 1
    for name in ("..", ".", ".trash", "", "/", "zebra"):
        with pytest.raises(StoreError, match=f"the store holds {run.name}"):
            store.find(name)
    near = f"{run.name[:-1]}x"
    for name in ("cora-node-gcn-ugs", near):
        with pytest.raises(StoreError, match=f"did you mean {run.name}"):
            store.find(name)
    # A run is not suggested for itself.
    with pytest.raises(StoreError, match="the store holds no runs yet"):
        store.find(near, asking=run.name)


def test_more_rounds_extend_a_run_and_fewer_do_not_shorten_it(store: Store, filled: Fill) -> None:
    filled(store.create(RunConfig(rounds=3)), 0)
    assert store.create(RunConfig(rounds=2)).config.rounds == 3
    longer = store.create(RunConfig(rounds=5))
    assert longer.config.rounds == store.find(longer.name).config.rounds == 5
    assert not longer.seed(0).is_complete()


def test_seeds_are_listed_in_order(run: Run, filled: Fill) -> None:
    with pytest.raises(StoreError, match="has no seeds yet"):
        run.existing_seed()
    for seed in (10, 2, 0):
        filled(run, seed, rounds=0)
    (run.path / "seed-x").mkdir()
    (run.path / "seed-7").mkdir()
    assert run.seeds() == [0, 2, 10]
    assert run.existing_seed().seed == 0
    with pytest.raises(StoreError, match="no seed 7: it has 0, 2, 10"):
        run.existing_seed(7)


def test_the_seed_list_is_refreshed_after_a_change(run: Run, filled: Fill) -> None:
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
    """Set a folder's modification time back."""
    before = folder.stat().st_mtime - 10 * TOO_FRESH
    os.utime(folder, (before, before))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", r"config\.json is damaged"),
        (b'{"schema":1', r"config\.json is damaged"),
        (b'{"schema":1}', r"config\.json is damaged"),
        (b'{"schema":2,"config":{}}', "newer GLT Studio"),
        (b'{"config":{}}', "names no format version"),
        (b'{"schema":1,"config":{"p_graph":7}}', "p_graph must be less than 1, not 7"),
        (b'{"schema":1,"config":{"hidden":17}}', "does not match its config.json"),
        (b'{"schema":1,"config":{"method":"unheard"}}', "Unknown method 'unheard'"),
        (b"[]", "names no format version"),
    ],
)
def test_a_damaged_run_is_listed_and_the_others_stay(store: Store, run: Run, content: bytes, sentence: str) -> None:
    other = store.create(RunConfig(method="random"))
    (run.path / "config.json").write_bytes(content)
    assert [found.name for found in store.runs()] == [other.name]
    ((path, message),) = store.damaged()
    assert path == run.path
    with pytest.raises(StoreError, match=sentence) as caught:
        store.find(run.name)
    assert str(caught.value) == message


def test_config_json_holds_the_config_and_the_format(run: Run) -> None:
    document = json.loads((run.path / "config.json").read_text())
    assert len(document.pop("crc32")) == 8
    assert document == {"schema": 1, "config": run.config.model_dump(mode="json")}


def test_size_counts_every_file_but_follows_no_link(store: Store, seed_run: SeedRun, tmp_path: Path) -> None:
    before = store.size_bytes()
    assert before == sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file())
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (seed_run.path / "link").symlink_to(tmp_path / "large")
    (store.root / "notes").mkdir()
    assert store.size_bytes() < before + 1000
    assert [path.name for path, _ in store.damaged()] == ["notes"]


def test_a_run_moves_to_the_trash(store: Store, seed_run: SeedRun, run: Run) -> None:
    size = run.size_bytes()
    with seed_run.lock(), pytest.raises(StoreError, match=r"running \(seed 0\): stop it"):
        store.move_to_trash(run.path)
    store.move_to_trash(run.path)
    assert store.runs() == []
    assert [path.name for path in store.trashed()] == [f"{run.name}.1"]
    assert store.size_bytes() >= size
    restore = f"is in the trash; `{as_typed('delete')} --restore {run.name} --store {store.root}` restores it"
    with pytest.raises(StoreError, match=restore):
        store.find(run.name)
    assert store.empty_trash() == size
    assert store.trashed() == []
    assert store.size_bytes() == 0


def test_runs_elsewhere_or_behind_links_are_not_deleted(store: Store, run: Run, tmp_path: Path) -> None:
    other = Store(tmp_path / "other").create(run.config)
    run.path.rename(tmp_path / "aside")
    (store.root / run.name).symlink_to(other.path)
    for path in (other.path, store.find(str(other.path)).path, store.find(run.name).path):
        with pytest.raises(StoreError, match="not a folder of the store"):
            store.move_to_trash(path)
    assert (other.path / "config.json").exists()


def test_links_in_the_trash_are_not_followed(store: Store, seed_run: SeedRun, run: Run, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis").write_text("years of work")
    (seed_run.path / "inside").symlink_to(precious)
    store.move_to_trash(run.path)
    trash = store.root / ".trash"
    (trash / "other.1").symlink_to(precious)
    assert store.restorable() == [run.name]
    store.empty_trash()
    assert store.trashed() == []
    trash.rmdir()
    trash.symlink_to(precious)
    for change in (lambda: store.move_to_trash(store.create(run.config).path), store.empty_trash):
        with pytest.raises(StoreError, match="symbolic link"):
            change()
    assert (precious / "thesis").exists()


def test_the_most_recent_deletion_is_restored(store: Store, seed_run: SeedRun, run: Run) -> None:
    store.move_to_trash(run.path)
    store.move_to_trash(store.create(run.config).path)
    assert [path.name for path in store.trashed()] == [f"{run.name}.1", f"{run.name}.2"]
    assert store.restorable() == [run.name]
    assert store.restore(run.name) == run.path
    assert store.find(run.name).seeds() == []
    store.move_to_trash(run.path)
    (store.root / ".trash" / f"{run.name}.2").rename(store.root / "elsewhere")
    store.restore(run.name)
    assert store.find(run.name).seed(0).whole_rounds() == 4
    assert store.trashed() == []
    # A gap in the numbers does not change which one is newest.
    for _ in range(3):
        store.move_to_trash(store.create(run.config).path)
    (store.root / ".trash" / f"{run.name}.1").rename(store.root.parent / "gone")
    store.move_to_trash(store.create(run.config).path)
    assert [path.name for path in store.trashed()] == [f"{run.name}.{number}" for number in (2, 3, 4)]


def test_restoring_a_taken_or_unknown_name_is_refused(store: Store, run: Run) -> None:
    store.move_to_trash(run.path)
    store.create(run.config)
    with pytest.raises(StoreError, match=f"holds a run {run.name} again: keep that one, or move"):
        store.restore(run.name)
    with pytest.raises(StoreError, match=f"holds no run 'other': it holds {run.name}"):
        store.restore("other")
    store.empty_trash()
    with pytest.raises(StoreError, match="is empty: no run can be restored"):
        store.restore(run.name)


@pytest.fixture
def ticket(store: Store, run: Run) -> Run:
    return store.create(RunConfig(method="reinit", rounds=3, options={"masks_of": run.name, "draw": 0}))


def test_an_unfinished_dependent_run_prevents_deletion(
    store: Store, run: Run, ticket: Run, filled: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(ticket, 0)
    filled(ticket, 1, rounds=1)
    with pytest.raises(
        StoreError, match=rf"{run.name} cannot be deleted, because {ticket.name} \(seed 1 not complete\) still needs it"
    ):
        store.move_to_trash(run.path)
    ticket.seed(0).write_status(Status(state="running", seed=0))
    monkeypatch.setattr("glt.store.locks.is_alive", lambda *_: True)
    with pytest.raises(StoreError, match=r"\(seed 0 running, seed 1 not complete\)"):
        store.move_to_trash(run.path)
    assert readers_first([run.name, ticket.name], store.runs()) == [ticket.name, run.name]
    assert sources_of(run.config) == []


def test_dependent_runs_prevent_deleting_a_pretraining(store: Store, filled: Fill) -> None:
    first = store.create_pretraining(PretrainConfig(hidden=4))
    started = store.create(RunConfig(options={"pretraining": first.name}))
    filled(started, 0, rounds=1)
    with pytest.raises(StoreError, match=f"because {started.name} "):
        store.move_to_trash(first.path)


def test_a_complete_dependent_run_is_named_only(store: Store, run: Run, ticket: Run, filled: Fill) -> None:
    filled(ticket, 0)
    assert f"{ticket.name} needs {run.name} and is complete" in readers_left(run.name, store.readers(run.name))
    store.move_to_trash(run.path)
    assert readers_left(ticket.name, store.readers(ticket.name)) == ""
    many = readers_left(run.name, [ticket] * 5)
    assert (many.count(ticket.name), "and 2 other runs need" in many) == (3, True)


OTHERS = {
    **dict.fromkeys(("hidden", "layers", "epochs", "retrain_epochs"), 7),
    **dict.fromkeys(("learning_rate", "weight_decay", "gamma_graph", "gamma_weight", "p_graph", "p_weight"), 0.5),
    **{"edge_mask": "undirected", "degree": "both", "dropout": 0.1},
    **{"dataset": "citeseer", "task": "link", "model": "gin", "method": "random"},
}


def test_run_names_state_their_main_settings() -> None:
    assert re.fullmatch(r"cora-node-gcn-ugs-[0-9a-f]{8}", run_name(RunConfig()))
    assert run_name(RunConfig(rounds=30)) == run_name(RunConfig(rounds=20))
    assert fingerprint(RunConfig(options={"a": 1})) != fingerprint(RunConfig(options={"a": 2}))
    for dataset in ("../up", "a/b", ".hidden", "a b", ""):
        with pytest.raises(ConfigError, match="cannot be part of a run's name"):
            run_name(RunConfig(dataset=dataset))


def test_ignored_settings_are_not_part_of_the_name() -> None:
    for method in METHODS.names():
        plain = fingerprint(RunConfig(method=method))
        for name in METHODS.get(method).ignores:
            assert fingerprint(RunConfig(method=method, **{name: OTHERS[name]})) == plain, name
    for name in set(CORE_FIELDS) - {"rounds"}:
        assert fingerprint(RunConfig(**{name: OTHERS[name]})) != fingerprint(RunConfig()), name


def test_annotations_leave_the_run_unchanged(store: Store, seed_run: SeedRun) -> None:
    folder = seed_run.path.parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    store.annotate(folder.name, {"title": "  wide\n net ", "color": "blue"})
    assert store.find(folder.name).annotation == Annotation(title="wide net", color="blue")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_fields_of_an_annotation_change_one_by_one(store: Store, run: Run) -> None:
    store.annotate(run.name, {"title": "mine", "note": "first line\nsecond"})
    store.annotate(run.name, {"hidden": True})
    assert store.annotations().of(run.name).as_json() == {"title": "mine", "note": "first line\nsecond", "hidden": True}
    store.annotate(run.name, {"title": "", "note": "", "hidden": False})
    assert store.annotations().entries == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": "x" * (LONGEST_TITLE + 1)}, "The title has 61 characters: at most 60 are allowed."),
        ({"note": "x" * 2001}, "The note has 2001 characters: at most 2000 are allowed."),
        ({"color": "red; background: url(http://x)"}, "Unknown color"),
        ({"hidden": "perhaps"}, "hidden cannot be 'perhaps'"),
    ],
)
def test_bad_annotations_are_refused(store: Store, run: Run, changes: dict[str, str], message: str) -> None:
    store.annotate(run.name, {"title": "mine"})
    with pytest.raises(ConfigError, match=message):
        store.annotate(run.name, changes)
    assert store.annotations().of(run.name) == Annotation(title="mine")


def test_an_example_is_annotated_in_the_users_store(store: Store) -> None:
    store.annotate(bundled_examples()[0].name, {"title": "of the paper"})
    first = bundled_examples(annotated_in=store.root)[0]
    assert first.annotation.title == "of the paper"
    assert store.find(str(first.path)).annotation.title == "of the paper"
    assert bundled_examples()[0].annotation == Annotation()
    # Read values are cached by the object, so the same one is used.
    assert bundled_examples(annotated_in=store.root)[0] is first


def test_damaged_annotations_are_moved_aside(store: Store, run: Run) -> None:
    file = store.root / paths.ANNOTATIONS
    for number in (1, 2):
        file.write_text('{"schema": 1, "runs": {"a": ')
        assert "annotations.json is damaged" in store.annotations().damage
        assert store.find(run.name).annotation == Annotation()
        _, message = store.annotate(run.name, {"title": "mine"})
        assert f"kept as annotations.json.damaged-{number}" in message
        assert (store.root / f"annotations.json.damaged-{number}").read_text() == '{"schema": 1, "runs": {"a": '
        assert store.annotations().entries == {run.name: Annotation(title="mine")}


def test_a_damaged_entry_is_read_in_part(store: Store, run: Run) -> None:
    store.annotate(run.name, {"title": "mine"})
    file = store.root / paths.ANNOTATIONS
    document = json.loads(file.read_text())
    document["runs"] |= {"odd": {"title": "kept", "color": "plaid"}, "later": {"title": "x", "stars": 3}, "none": 7}
    file.write_text(json.dumps(document))
    found = store.annotations()
    assert found.of("odd") == Annotation(title="kept")
    assert "odd, none that cannot be read" in found.damage
    store.annotate(run.name, {"note": "more"})
    after = json.loads(file.read_text())["runs"]
    assert after.pop(run.name) == {"title": "mine", "note": "more"}
    assert after == {"odd": {"title": "kept", "color": "plaid"}, "later": {"title": "x", "stars": 3}, "none": 7}
    store.annotate("later", {"title": "y"})
    assert json.loads(file.read_text())["runs"]["later"] == {"title": "y", "stars": 3}


def test_newer_annotation_files_and_read_only_stores_are_unchanged(store: Store, run: Run) -> None:
    file = store.root / paths.ANNOTATIONS
    file.write_text('{"schema": 99, "runs": {}}')
    assert "newer GLT Studio" in store.annotations().damage
    for writable, words in ((True, "newer GLT Studio"), (False, "read-only")):
        with pytest.raises(StoreError, match=words):
            Store(store.root, writable).annotate(run.name, {"title": "mine"})
    assert file.read_text() == '{"schema": 99, "runs": {}}'


def test_concurrent_annotations_are_all_kept(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from glt.store.annotations import annotate\n"
        "for number in range(15): annotate(Path(sys.argv[1]), f'{sys.argv[2]}-{number}', {'title': sys.argv[2]})"
    )

    def write(name: str) -> None:
        for number in range(15):
            annotate(tmp_path, f"{name}-{number}", {"title": name})

    threads = [threading.Thread(target=write, args=(name,)) for name in ("three", "four")]
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name]) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait(timeout=1800) for writer in writers] == [0, 0]
    assert {name: each.title for name, each in annotations_in(tmp_path).entries.items()} == {
        f"{name}-{number}": name for name in ("one", "two", "three", "four") for number in range(15)
    }
