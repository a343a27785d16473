"""A run that is deleted, renamed or moved while a page shows it: the page says so and moves to no other by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from glt.store import Pretraining, Run, Store

MakeRun = Callable[..., Run]
OpenPage = Callable[..., AppTest]
ONE = [("subgraphs", {}), ("measurements", {"view": "elements"})]
SEVERAL = ["curves", "tickets", "export", "measurements"]


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Run, Run]:
    """The run that goes and the one that stays; the latter is what a page would move to."""
    return make_run("random"), make_run("ugs")


def told(app: AppTest, run: Run) -> bool:
    assert not app.exception
    return any(f"The run {run.name} is no longer in the store" in error.value for error in app.error)


@pytest.mark.parametrize(("page", "view"), ONE)
def test_a_page_of_one_run_says_that_it_is_gone_and_offers_the_others(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str, view: dict[str, str]
) -> None:
    gone, other = pair
    app = open_page(page, run=gone.name, **view)
    assert not app.error
    store.move_to_trash(gone.path)
    for _ in range(2):
        app.run()
        assert told(app, gone)
        assert app.selectbox(key="run").value is None
        assert app.selectbox(key="run").options == ["UGS · Cora GCN"]
        assert app.query_params["run"] == gone.name
    app.selectbox(key="run").set_value(other.name).run()
    assert not app.error
    assert app.query_params["run"] == other.name


@pytest.mark.parametrize(("page", "view"), ONE)
def test_a_run_that_comes_back_is_shown_again(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str, view: dict[str, str]
) -> None:
    gone, _ = pair
    app = open_page(page, run=gone.name, **view)
    store.move_to_trash(gone.path)
    assert told(app.run(), gone)
    store.restore(gone.name)
    assert not app.run().error
    assert app.selectbox(key="run").value == gone.name


@pytest.mark.parametrize("page", SEVERAL)
def test_a_page_of_several_runs_says_which_is_gone_and_shows_the_rest(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str
) -> None:
    gone, other = pair
    app = open_page(page, runs=[gone.name, other.name])
    assert not app.error
    store.move_to_trash(gone.path)
    for _ in range(2):
        assert told(app.run(), gone)
        assert app.multiselect(key="runs").value == [other.name]
        assert app.query_params["runs"] == [other.name, gone.name]
    app.button(key="go-on-without-runs").click().run()
    assert not app.error
    assert app.query_params["runs"] == other.name


@pytest.mark.parametrize("page", SEVERAL)
def test_a_page_whose_runs_are_all_gone_takes_no_others(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, page: str
) -> None:
    gone, other = pair
    app = open_page(page, runs=gone.name)
    store.move_to_trash(gone.path)
    assert told(app.run(), gone)
    assert app.multiselect(key="runs").value == []
    assert "No runs chosen" in [heading.value for heading in app.subheader]
    app.multiselect(key="runs").set_value([other.name]).run()
    assert not app.error


@pytest.mark.parametrize("page", [*SEVERAL, "subgraphs", "runs"])
def test_a_page_without_any_run_left_says_where_its_run_is(
    make_run: MakeRun, store: Store, open_page: OpenPage, page: str
) -> None:
    run = make_run("ugs")
    app = open_page(page, **{"run" if page in ("subgraphs", "runs") else "runs": run.name})
    store.move_to_trash(run.path)
    assert told(app.run(), run)
    assert "It lies in the trash" in app.error[0].value


def test_compare_names_the_run_that_is_gone_and_pairs_no_other(
    pair: tuple[Run, Run], make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    gone, other = pair
    third = make_run("admm")
    app = open_page("compare", one=gone.name, other=other.name)
    store.move_to_trash(gone.path)
    assert told(app.run(), gone)
    assert app.selectbox(key="one").value is None
    app.selectbox(key="one").set_value(third.name).run()
    assert not app.error
    assert (app.selectbox(key="one").value, app.selectbox(key="other").value) == (third.name, other.name)


def test_a_run_beside_another_one_is_said_to_be_gone(pair: tuple[Run, Run], store: Store, open_page: OpenPage) -> None:
    gone, other = pair
    app = open_page("subgraphs", run=other.name, beside=gone.name)
    store.move_to_trash(gone.path)
    assert told(app.run(), gone)
    assert app.selectbox(key="beside").value == ""
    app.button(key="go-on-without-beside").click().run()
    assert not app.error


@pytest.mark.parametrize("action", ["delete", "mend"])
def test_a_press_on_a_run_that_is_gone_does_nothing_to_another(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, action: str
) -> None:
    gone, other = pair
    app = open_page("runs", run=gone.name)
    button = app.button(key=f"{action}-{gone.name}")
    store.move_to_trash(gone.path)
    button.click().run()
    assert told(app, gone)
    keys = {each.key for each in app.button}
    assert f"{action}-{other.name}" not in keys
    assert "confirm-delete" not in keys
    assert not app.toast
    assert app.query_params["run"] == gone.name
    app.button(key=f"open-{other.name}").click().run()
    assert not app.error
    assert f"{action}-{other.name}" in {each.key for each in app.button}


@pytest.mark.parametrize("way", ["renamed", "moved"])
def test_a_folder_that_was_renamed_or_moved_is_gone(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage, way: str
) -> None:
    gone, _ = pair
    app = open_page("runs", run=gone.name)
    target = store.root / f"{gone.name}-old" if way == "renamed" else store.root.parent / gone.name
    gone.path.rename(target)
    assert told(app.run(), gone)
    target.rename(gone.path)
    assert not app.run().error


def test_a_store_that_is_gone_is_said_and_no_example_takes_the_place_of_a_run(
    example: Run, make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    run = make_run("random")
    app = open_page("subgraphs", run=run.name)
    store.root.rename(store.root.with_name("elsewhere"))
    assert told(app.run(), run)
    assert any("is no longer there" in error.value for error in app.error)
    assert app.selectbox(key="run").value is None


def test_a_run_that_became_hidden_stays_on_the_page_that_shows_it(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage
) -> None:
    hidden, _ = pair
    app = open_page("subgraphs", run=hidden.name)
    store.annotate(hidden.name, {"hidden": True})
    assert not app.run().error
    assert app.selectbox(key="run").value == hidden.name


def test_a_run_that_became_damaged_is_said_to_be_on_the_page_that_showed_it(
    pair: tuple[Run, Run], open_page: OpenPage
) -> None:
    damaged, _ = pair
    app = open_page("subgraphs", run=damaged.name)
    (damaged.path / "config.json").write_text("{")
    app.run()
    assert any(f"The run {damaged.name} cannot be opened" in error.value for error in app.error)
    assert app.selectbox(key="run").value is None


def test_ones_own_run_that_is_gone_is_not_replaced_by_the_example_of_its_name(
    example: Run, make_run: MakeRun, store: Store, open_page: OpenPage
) -> None:
    own = make_run("ugs")
    assert own.name == example.name
    app = open_page("subgraphs", run=own.name)
    store.move_to_trash(own.path)
    assert told(app.run(), own)
    assert app.selectbox(key="run").value is None
    assert app.selectbox(key="run").options == ["UGS · Cora GCN · example"]


def test_a_start_that_is_gone_is_not_replaced_by_a_random_one(
    make_pretraining: Callable[..., Pretraining], store: Store, open_page: OpenPage
) -> None:
    pretraining = make_pretraining(hidden=512)
    app = open_page("launch", pretraining=pretraining.name)
    assert app.selectbox(key="pretraining").value == pretraining.name
    store.move_to_trash(pretraining.path)
    app.run()
    assert any(f"The run {pretraining.name} is no longer in the store" in error.value for error in app.error)
    assert app.button(key="start").disabled
    app.button(key="go-on-without-pretraining").click().run()
    assert not app.error
    assert not app.button(key="start").disabled


def test_the_log_of_a_run_that_is_gone_is_one_sentence(pair: tuple[Run, Run]) -> None:
    gone, _ = pair

    def page(folder: str) -> None:
        import shutil
        from pathlib import Path

        from app.components import frame
        from app.views import run_detail
        from glt.store import Run

        run = Run.open(Path(folder))
        shutil.rmtree(folder)
        frame.or_why()(run_detail.seed_logs)(run, 10)

    app = AppTest.from_function(page, kwargs={"folder": str(gone.path)}).run()
    assert not app.exception
    assert len(app.error) == 1
    assert gone.name in app.error[0].value


def test_a_bundle_is_made_only_of_the_runs_it_was_asked_for(
    pair: tuple[Run, Run], store: Store, open_page: OpenPage
) -> None:
    gone, other = pair
    app = open_page("export", what="bundle", runs=[gone.name, other.name])
    store.move_to_trash(gone.path)
    app.button(key="make-bundle").click().run()
    assert told(app, gone)
    # It is still offered: what was pressed was the button for both runs.
    assert app.button(key="make-bundle")
    assert "export: bundle" not in app.session_state


def test_a_press_counts_for_what_the_button_was_drawn_for() -> None:
    def page(about: str) -> None:
        import streamlit as st

        from app.components import controls

        about = st.session_state.setdefault("about", about)
        if controls.pressed("Do it", "do", about):
            st.write(f"done: {about}")

    app = AppTest.from_function(page, kwargs={"about": "one"}).run()
    app.button(key="do").click().run()
    assert [each.value for each in app.markdown] == ["done: one"]
    app.run()
    app.session_state["about"] = "other"
    app.button(key="do").click().run()
    assert not app.markdown
