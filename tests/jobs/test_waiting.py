"""A run that needs another one at work waits for it, behind nobody, and says why when it waited in vain."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from glt.config import RunConfig
from glt.errors import ConfigError
from glt.jobs import start, stop
from glt.jobs.waiting import awaited, check_needs
from glt.presets import resolve
from glt.store import Run, Store

Wait = Callable[..., None]


def ticket_of(run: Run) -> RunConfig:
    """A random ticket of a run, over one round."""
    settings = run.config.model_dump(include={"epochs", "retrain_epochs"})
    return resolve({"method": "reinit", "rounds": 1, "masks_of": run.name, **settings})


@pytest.fixture
def begun(store: Store, slow_engine: pytest.MonkeyPatch) -> Run:
    """A run at work for some seconds, with whose masks a random ticket can be trained."""
    return start(store, resolve({"rounds": 20, "epochs": 1, "retrain_epochs": 3}), [0])


def test_it_waits_and_then_computes(store: Store, begun: Run, wait: Wait) -> None:
    ticket = start(store, ticket_of(begun), [0])
    assert awaited(store, ticket.config, 0) in (begun.name, None)
    wait(ticket, "done")
    assert begun.seed(0).whole_rounds() >= 2
    assert awaited(store, ticket.config, 0) is None


def test_what_waits_does_not_hold_up_what_comes_later(
    store: Store, fake_engine: pytest.MonkeyPatch, wait: Wait
) -> None:
    fake_engine.setenv("GLT_SLOTS", "2")
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0])
    config = ticket_of(source).model_copy(update={"rounds": 400})
    ticket = start(store, config, [0])
    fake_engine.setenv("FAKE_EPOCH", "0")
    later = start(store, resolve({"rounds": 1, "epochs": 1, "retrain_epochs": 3, "method": "random"}), [0])
    wait(later, "done")
    assert (awaited(store, config, 0), ticket.seed(0).status().state) == (source.name, "queued")


def test_it_says_that_it_waited_in_vain(store: Store, fake_engine: pytest.MonkeyPatch, wait: Wait) -> None:
    fake_engine.setenv("FAKE_EPOCH", "0.2")
    source = start(store, resolve({"rounds": 400, "epochs": 1, "retrain_epochs": 3}), [0])
    ticket = start(store, ticket_of(source).model_copy(update={"rounds": 400}), [0])
    stop(source)
    deadline = time.monotonic() + 60
    while ticket.seed(0).status().state != "failed":
        assert time.monotonic() < deadline, ticket.seed(0).status()
        time.sleep(0.1)
    assert f"Seed 0 of {source.name} has " in (ticket.seed(0).status().error or "")


def test_waiting_can_be_stopped(store: Store, begun: Run) -> None:
    ticket = start(store, ticket_of(begun).model_copy(update={"rounds": 20}), [0])
    assert stop(ticket) == [0]
    assert ticket.seed(0).status().state == "stopped"


def test_a_run_that_is_not_at_work_must_be_finished(store: Store, begun: Run) -> None:
    stop(begun)
    with pytest.raises(ConfigError, match="finish it first"):
        check_needs(store, ticket_of(begun).model_copy(update={"rounds": 20}), [0])


def test_settings_that_do_not_fit_are_refused_although_it_is_at_work(store: Store, begun: Run) -> None:
    other = ticket_of(begun).model_copy(update={"hidden": 8})
    with pytest.raises(ConfigError, match="masks fit only where they agree"):
        check_needs(store, other, [0])
