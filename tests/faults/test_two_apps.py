"""Two sessions on one store, each of which starts, stops and deletes what the other one shows: never an error page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from glt.jobs import start, stop
from glt.presets import resolve
from glt.store import Run, Store
from tests.app.conftest import make_run as make_run  # noqa: PLC0414 - the app's fixtures
from tests.app.conftest import open_page as open_page  # noqa: PLC0414
from tests.app.conftest import store as bare  # noqa: F401
from tests.faults.effort import THOROUGH

PAGES = ["runs", "curves", "tickets", "subgraphs", "measurements"] if THOROUGH else ["runs", "curves"]
LONG = {"rounds": 400, "epochs": 1, "retrain_epochs": 3, "hidden": 16}


@pytest.fixture
def store(bare: Store) -> Iterator[Store]:  # noqa: F811
    yield bare
    for run in bare.runs():
        stop(run, grace=0)


@pytest.fixture
def begun(store: Store, fake_engine: pytest.MonkeyPatch) -> Run:
    """A run at work."""
    fake_engine.setenv("FAKE_EPOCH", "0.05")
    return start(store, resolve(LONG), [0])


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def fine(*apps: AppTest) -> None:
    for app in apps:
        assert not app.exception
        assert not app.error


def test_what_one_stops_and_deletes_the_other_has_on_its_page(
    begun: Run, store: Store, open_page: Callable[..., AppTest]
) -> None:
    one, other = open_page("runs", run=begun.name), open_page("runs", run=begun.name)
    press(one, f"stop-{begun.name}")
    assert begun.seed(0).status().state == "stopped"
    # The other page still has its button.
    press(other, f"stop-{begun.name}")
    fine(one, other)
    press(one, f"resume-{begun.name}")
    press(other, f"resume-{begun.name}")
    assert not other.exception
    assert begun.seed(0).status().state in ("queued", "running")
    fine(one.run(), other.run())


def test_what_one_deletes_while_the_other_page_shows_it(
    make_run: Callable[..., Run], store: Store, open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs", states=("done", "stopped"))
    pages = [open_page(name, run=run.name) for name in PAGES]
    store.move_to_trash(run.path)
    press(pages[0], f"resume-{run.name}")
    assert not pages[0].exception
    for page in pages:
        page.run()
        assert not page.exception
        said = [error.value for error in page.error]
        assert len(said) == 1, said
        assert run.name in said[0]
    assert store.runs() == []
    assert not store.damaged()


def test_a_folder_in_the_trash_is_not_made_again_by_whoever_resumes(make_run: Callable[..., Run], store: Store) -> None:
    from glt.errors import StoreError
    from glt.jobs import resume

    run = make_run("ugs", states=("done", "stopped"), rounds=1)
    store.move_to_trash(run.path)
    with pytest.raises(StoreError, match=run.name):
        resume(store, run, [1])
    assert not run.path.exists()
