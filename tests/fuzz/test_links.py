"""Symbolic links and things that are no files in a store: read at most, never written through, never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.views.run_detail import tail
from glt.cli.main import main
from glt.errors import StoreError
from glt.jobs import resume
from glt.presets import resolve
from glt.store import Event, Run, Store, paths
from glt.store.lock import is_locked

SETTINGS = {"rounds": 2, "epochs": 2, "retrain_epochs": 2}
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
def test_nothing_is_written_through_a_file_that_is_a_link(store: Store, run: Run, keys: Path, name: str) -> None:
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
    told = []
    for act in actions[: 4 if name not in {paths.LOG, paths.LOCK} else 5]:
        try:
            act()
        except StoreError as error:
            told.append(str(error))
    if name in {paths.EVENTS, paths.LOCK, paths.LOG}:
        assert any("is a symbolic link, and nothing is written through one" in said for said in told), told


@pytest.mark.parametrize("level", ["run", "seed"])
def test_nothing_is_written_into_a_folder_that_is_a_link(
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


def test_a_line_of_workers_that_is_a_link_is_refused(store: Store, run: Run, around: Path) -> None:
    store.queue_path.symlink_to(around / "home")
    with pytest.raises(StoreError, match="is a symbolic link"):
        resume(store, run, [0])


@pytest.mark.parametrize("name", [paths.CONFIG, paths.ANNOTATIONS])
@pytest.mark.parametrize("place", ["/dev/zero", "pipe", "large"])
def test_what_has_no_end_is_told(store: Store, run: Run, around: Path, name: str, place: str) -> None:
    path = run.path / name if name == paths.CONFIG else store.root / name
    path.unlink(missing_ok=True)
    if place == "pipe":
        os.mkfifo(path)
    elif place == "large":
        with path.open("wb") as file:
            file.truncate(1 << 34)
    else:
        path.symlink_to(place)
    said = store.damaged()[0][1] if name == paths.CONFIG else store.annotations().damage
    assert "is no plain file" in said or "are more than it can have" in said


@pytest.mark.parametrize(
    "name", [paths.EVENTS, paths.ROUNDS, paths.STATUS, "round-01.safetensors", paths.LOG, paths.LOCK]
)
def test_a_pipe_in_a_seeds_folder_holds_nobody_up(store: Store, run: Run, name: str) -> None:
    seed = run.seed(0)
    (seed.path / name).unlink(missing_ok=True)
    os.mkfifo(seed.path / name)
    told = []
    for ask in (seed.events, seed.rounds, seed.status, lambda: seed.masks(1)):
        try:
            ask()
        except StoreError as error:
            told.append(str(error))
    assert tail(seed.log_path, 5) == ""
    assert not is_locked(seed.lock_path)
    if name.endswith((".jsonl", ".safetensors")):
        assert any("is no plain file" in said for said in told), told


def test_a_log_of_one_endless_line_is_shown_by_its_end(store: Store, run: Run) -> None:
    with run.seed(0).log_path.open("wb") as file:
        file.truncate(1 << 34)
        file.seek(0, 2)
        file.write(b"the end")
    assert tail(run.seed(0).log_path, 5).endswith("the end")


def test_a_status_that_somebody_brings_ends_no_process(store: Store, run: Run) -> None:
    """Without the time at which it began, a number alone names any process that happens to have it."""
    from glt.jobs import stop
    from glt.store import Status
    from glt.store.liveness import same_process

    told = Status(state="running", seed=0, pid=os.getpid())
    run.seed(0).write_status(told)
    stop(run, grace=0)
    assert same_process(os.getpid(), None)
    for number in (-1, 0, 2**40):
        (run.seed(0).path / paths.STATUS).write_text(f'{{"state":"running","seed":0,"pid":{number}}}')
        assert run.seed(0).status().state == "lost"
