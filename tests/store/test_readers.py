"""What another run reads stays while that one is not complete, and who reads it is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from glt.config import RunConfig
from glt.errors import StoreError
from glt.pretraining.config import PretrainConfig
from glt.store import Run, SeedRun, Status, Store, readers_first, readers_left, sources_of

Fill = Callable[..., SeedRun]


@pytest.fixture
def ticket(store: Store, run: Run) -> Run:
    return store.create(RunConfig(method="reinit", rounds=3, options={"masks_of": run.name, "draw": 0}))


def test_an_unfinished_reader_keeps_it(store: Store, run: Run, ticket: Run, filled: Fill) -> None:
    filled(ticket, 0)
    filled(ticket, 1, rounds=1)
    with pytest.raises(
        StoreError, match=rf"{run.name} stays, for {ticket.name} \(seed 1 not complete\) still needs it"
    ):
        store.move_to_trash(run.path)
    assert run.path.exists()


def test_a_reader_at_work_keeps_it(store: Store, run: Run, ticket: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket.seed(0).make()
    ticket.seed(0).write_status(Status(state="running", seed=0))
    monkeypatch.setattr("glt.store.locks.is_alive", lambda *_: True)
    with pytest.raises(StoreError, match=r"\(seed 0 at work\)"):
        store.move_to_trash(run.path)


def test_a_pretraining_is_kept_for_what_starts_from_it(store: Store, filled: Fill) -> None:
    first = store.create_pretraining(PretrainConfig(hidden=4))
    started = store.create(RunConfig(options={"pretraining": first.name}))
    filled(started, 0, rounds=1)
    with pytest.raises(StoreError, match=f"for {started.name} "):
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
