"""Hostile folders of data and runs, and symbolic links: refused in one sentence, never written through."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.views.run_detail import tail
from glt.cli.main import main
from glt.datasets.planetoid import read_planetoid
from glt.errors import DataError, StoreError, StudioError
from glt.jobs import resume
from glt.presets import resolve
from glt.store import Event, Run, Store, paths
from glt.store.locks import is_locked
from tests.robustness.fuzz.hostile import DOCUMENTS, Harm, hostile, limited, one_sentence, values, written

# torch, PyG and pandas, which read these folders, take most of it.
MOST_MB = 700
HUGE = 1 << 28


@pytest.fixture
def arxiv(test_data: Path, around: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small folder of ogbn-arxiv as the data that GLT_DATA sets."""
    folder = around / "brought" / "ogbn_arxiv"
    shutil.copytree(test_data / "ogb_sample" / "ogbn_arxiv", folder)
    monkeypatch.setenv("GLT_DATA", str(folder.parent))
    return folder


def read(name: str) -> str:
    ended = limited("glt.datasets.cache", name)
    assert ended.code == 1, ended
    lines = [line for line in ended.output.splitlines() if not line.startswith("Reading ")]
    assert len(lines) == 1, ended.output
    assert "Traceback" not in ended.output
    assert ended.peak_mb < MOST_MB
    return lines[0]


BOMBS = ("num-node-list", "edge", "node-feat")


@pytest.mark.long
@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("letter", [b"0", b"1\n", b"1,"])
def test_an_endless_compressed_table_is_refused(arxiv: Path, name: str, letter: bytes) -> None:
    block = letter * ((1 << 20) // len(letter))
    with gzip.open(arxiv / "raw" / f"{name}.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(HUGE // len(block)):
            file.write(block)
    assert "replace it with the published file" in read("ogbn-arxiv")


@pytest.mark.parametrize("folder", ["Citeseer", "PubMed"])
def test_planetoid_pickles_are_opened_only_if_published(around: Path, folder: str) -> None:
    raw = around / "brought" / folder / "raw"
    raw.mkdir(parents=True)
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (raw / f"ind.{folder.lower()}.{part}").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(DataError, match="is not the published file"):
        read_planetoid(around / "brought", folder, folder.lower(), ())


@pytest.mark.long
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_a_split_with_other_than_numbers_is_refused(
    test_data: Path, around: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    folder = around / "brought" / "ogbl_collab"
    shutil.copytree(test_data / "ogb_sample" / "ogbl_collab", folder)
    monkeypatch.setenv("GLT_DATA", str(folder.parent))
    (split,) = folder.glob(f"split/*/{part}.pt")
    split.write_bytes(pickle.dumps({"edge": Harm()}))
    assert "arrays of numbers" in read("ogbl-collab")


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", pickle.dumps(Harm()), b"PK\x03\x04" + bytes(99)])
def test_a_damaged_cache_archive_is_reported_or_rebuilt(tmp_path: Path, content: bytes) -> None:
    from glt.datasets.npz import read_graph, read_mapped
    from glt.errors import DataError

    (tmp_path / "graph.npz").write_bytes(content)
    for name in ("structure.npz", "features.npy", "sizes.json"):
        (tmp_path / name).write_bytes(content)
    for reader, path in ((read_graph, tmp_path / "graph.npz"), (read_mapped, tmp_path)):
        with pytest.raises(DataError, match="cannot be read as a graph"):
            reader(path)


def test_an_archive_of_objects_is_refused(tmp_path: Path) -> None:
    from glt.datasets.npz import read_graph
    from glt.errors import DataError

    np.savez(tmp_path / "graph.npz", edges=np.array([Harm()], dtype=object), about=np.zeros(2, dtype=np.uint8))
    with pytest.raises(DataError, match="cannot be read as a graph"):
        read_graph(tmp_path / "graph.npz")


@pytest.mark.long
@pytest.mark.parametrize("place", ["/dev/zero", "/proc/self/mem", "../../home/notes.txt"])
def test_links_in_a_data_folder_are_followed(arxiv: Path, around: Path, place: str) -> None:
    path = arxiv / "raw" / "num-node-list.csv.gz"
    path.unlink()
    path.symlink_to(place)
    assert "ogbn-arxiv" in read("ogbn-arxiv") or "num-node-list" in read("ogbn-arxiv")


def test_commands_report_bad_data_folders(around: Path) -> None:
    assert "No run" in one_sentence(limited("glt", "show", "nothing"))


@pytest.mark.parametrize("letter", [b"0", b"1\n", b"1,"])
def test_endless_counts_and_tables_are_refused(tmp_path: Path, letter: bytes) -> None:
    from glt.datasets.ogb_io import OgbFiles, check_rows, stated_counts
    from glt.errors import DataError

    files = OgbFiles("ogbn-some", ("edge",), "time", "nodeproppred/some")
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("num-node-list", "num-edge-list"):
        (raw / f"{name}.csv.gz").write_bytes(gzip.compress(b"5\n"))
    (raw / "edge.csv.gz").write_bytes(gzip.compress(letter * (9 << 20)))
    with pytest.raises(DataError, match=r"has a row longer than|has more than 5 rows"):
        check_rows(files, tmp_path)
    (raw / "num-node-list.csv.gz").write_bytes(gzip.compress(letter * (9 << 20)))
    with pytest.raises(DataError, match="does not contain one positive whole number"):
        stated_counts(files, tmp_path)


SETTINGS = {"rounds": 2, "epochs": 2, "retrain_epochs": 2}
DOCUMENTS_OF_A_RUN = (paths.CONFIG, paths.STATUS, paths.ENVIRONMENT, paths.ROUNDS, paths.EVENTS)


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Store:
    """A store with two runs, of which tests damage the second."""
    store = Store(tmp_path_factory.mktemp("laid") / "store")
    for method in ("ugs", "random"):
        draw_seed(store.create(resolve({"method": method, **SETTINGS})).seed(0), 2)
    return store


def spoil(store: Store, name: str, content: bytes) -> Run:
    """Restore the second run, put content into one of its files, and return the undamaged first run."""
    whole, spoiled = sorted(path for path in store.root.iterdir() if path.is_dir() and path.name[0] != ".")
    kept = store.root.parent / "kept"
    if not kept.exists():
        shutil.copytree(spoiled, kept)
    shutil.rmtree(spoiled)
    shutil.copytree(kept, spoiled)
    path = spoiled / name if name == paths.CONFIG else spoiled / "seed-0" / name
    path.write_bytes(content)
    return Run.open(whole)


def look(store: Store) -> None:
    """Read everything of every run that pages read; only StudioErrors may be raised."""
    contents = store.contents()
    assert all("\n" not in damage for _, damage in contents.damaged)
    for run in contents.every:
        for seed in (0, *run.seeds()):
            folder = run.seed(seed)
            for ask in questions(folder):
                with suppress(StudioError):
                    ask()


def questions(folder: Any) -> Iterator[Callable[[], Any]]:
    yield from (folder.status, folder.is_at_work, folder.environment, folder.data_hash, folder.is_complete)
    if hasattr(folder, "rounds"):
        yield from (folder.rounds, folder.last_round, folder.events, folder.is_sound, lambda: folder.search_seconds(1))
        for part in (folder.masks, folder.edge_mask, folder.edge_scores, folder.holds_ranks, folder.weights):
            yield lambda part=part: part(1)
        yield folder.theta0


@pytest.mark.parametrize("name", DOCUMENTS_OF_A_RUN)
@pytest.mark.parametrize("content", DOCUMENTS, ids=lambda content: content[:24].decode(errors="replace"))
def test_listed_hostile_documents(laid: Store, name: str, content: bytes) -> None:
    whole = spoil(laid, name, content + b"\n")
    look(laid)
    assert len(whole.seed(0).rounds()) == 3
    assert [run.name for run in laid.runs() if run.name == whole.name]


@hostile()
@given(name=st.sampled_from(DOCUMENTS_OF_A_RUN), content=values())
def test_arbitrary_documents(laid: Store, name: str, content: Any) -> None:
    spoil(laid, name, written(content).encode() + b"\n")
    look(laid)


@hostile(few=40)
@given(data=st.data())
def test_a_document_with_one_value_changed(laid: Store, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(DOCUMENTS_OF_A_RUN))
    spoil(laid, name, b"")
    kept = laid.root.parent / "kept"
    lines = (
        (kept / name if name == paths.CONFIG else kept / "seed-0" / name).read_text()
        if name != paths.ENVIRONMENT
        else "{}"
    )
    document = json.loads(lines.splitlines()[-1])
    place = document["config"] if name == paths.CONFIG and data.draw(st.booleans()) else document
    keys = sorted(place) or ["data_hash"]
    place[data.draw(st.sampled_from(keys))] = data.draw(values())
    before = lines.splitlines()[:-1]
    spoil(laid, name, "\n".join([*before, written(document), ""]).encode())
    look(laid)


EVENT = Event(round=0, stage="retrain", epoch=0, loss=1.0, val=0.5, test=0.5)
FILES = (paths.EVENTS, paths.ROUNDS, paths.LOCK, paths.LOG, paths.STATUS, paths.ENVIRONMENT)


@pytest.fixture
def run(store: Store, draw_seed: Callable[..., None]) -> Run:
    run = store.create(resolve(SETTINGS))
    draw_seed(run.seed(0), 1, "stopped")
    return run


@pytest.fixture
def keys(around: Path) -> Path:
    return around / "home" / ".ssh" / "authorized_keys"


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_written_through_a_linked_file(store: Store, run: Run, keys: Path, name: str) -> None:
    path = run.seed(0).path / name
    path.unlink(missing_ok=True)
    path.symlink_to(keys)
    seed = run.seed(0)
    actions: tuple[Callable[[], object], ...] = (
        lambda: seed.append_event(EVENT),
        seed.drop_unfinished,
        lambda: seed.write_environment({"threads": 1}),
        lambda: seed.lock().__enter__(),
        lambda: resume(store, run, [0]),
    )
    shown = []
    for act in actions[: 4 if name not in {paths.LOG, paths.LOCK} else 5]:
        try:
            act()
        except StoreError as error:
            shown.append(str(error))
    if name in {paths.EVENTS, paths.LOCK, paths.LOG}:
        assert any("is a symbolic link, and nothing is written through links" in damage for damage in shown), shown


@pytest.mark.parametrize("level", ["run", "seed"])
def test_nothing_is_written_into_a_linked_folder(
    store: Store, run: Run, around: Path, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run.path if level == "run" else run.seed(0).path
    folder.rename(around / "home" / folder.name)
    folder.symlink_to(around / "home" / folder.name)
    before = {path: path.read_bytes() for path in (around / "home").rglob("*") if path.is_file()}
    assert len(store.find(run.name).seed(0).rounds()) == 2, "it can be read"
    assert main(["resume", run.name]) == 1
    assert "is a symbolic link" in capsys.readouterr().err
    if level == "run":
        with pytest.raises(StoreError, match="is a symbolic link"):
            store.create(resolve({**SETTINGS, "rounds": 5}))
    assert {path: path.read_bytes() for path in (around / "home").rglob("*") if path.is_file()} == before
    folder.unlink()
    (around / "home" / folder.name).rename(folder)


def test_a_linked_queue_is_refused(store: Store, run: Run, around: Path) -> None:
    store.queue_path.symlink_to(around / "home")
    with pytest.raises(StoreError, match="is a symbolic link"):
        resume(store, run, [0])


@pytest.mark.parametrize("name", [paths.CONFIG, paths.ANNOTATIONS])
@pytest.mark.parametrize("place", ["/dev/zero", "pipe", "large"])
def test_endless_files_are_reported(store: Store, run: Run, around: Path, name: str, place: str) -> None:
    path = run.path / name if name == paths.CONFIG else store.root / name
    path.unlink(missing_ok=True)
    if place == "pipe":
        os.mkfifo(path)
    elif place == "large":
        with path.open("wb") as file:
            file.truncate(1 << 34)
    else:
        path.symlink_to(place)
    damage = store.damaged()[0][1] if name == paths.CONFIG else store.annotations().damage
    assert "is not a regular file" in damage or "more than the limit of" in damage


@pytest.mark.parametrize(
    "name", [paths.EVENTS, paths.ROUNDS, paths.STATUS, "round-01.safetensors", paths.LOG, paths.LOCK]
)
def test_a_pipe_in_a_seed_folder_does_not_block(store: Store, run: Run, name: str) -> None:
    seed = run.seed(0)
    (seed.path / name).unlink(missing_ok=True)
    os.mkfifo(seed.path / name)
    shown = []
    for ask in (seed.events, seed.rounds, seed.status, lambda: seed.masks(1)):
        try:
            ask()
        except StoreError as error:
            shown.append(str(error))
    assert tail(seed.log_path, 5) == ""
    assert not is_locked(seed.lock_path)
    if name.endswith((".jsonl", ".safetensors")):
        assert any("is not a regular file" in damage for damage in shown), shown


def test_only_the_end_of_an_endless_log_line_is_shown(store: Store, run: Run) -> None:
    with run.seed(0).log_path.open("wb") as file:
        file.truncate(1 << 34)
        file.seek(0, 2)
        file.write(b"the end")
    assert tail(run.seed(0).log_path, 5).endswith("the end")


def test_a_foreign_status_ends_no_process(store: Store, run: Run) -> None:
    """A process id without its start time could be that of any other process."""
    from glt.jobs import stop
    from glt.store import Status
    from glt.store.locks import same_process

    shown = Status(state="running", seed=0, pid=os.getpid())
    run.seed(0).write_status(shown)
    stop(run, grace=0)
    assert same_process(os.getpid(), None)
    for number in (-1, 0, 2**40):
        (run.seed(0).path / paths.STATUS).write_text(f'{{"state":"running","seed":0,"pid":{number}}}')
        assert run.seed(0).status().state == "lost"
