"""Views live in the address: links, defaults and values that cannot be used."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from app.components import controls
from glt.store import Run


def test_a_link_restores_the_view(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    run = make_run("ugs")
    make_run("random")
    app = open_page("curves", runs=[run.name], x="weight", margin="1.5", paper="1")
    assert app.multiselect(key="runs").value == [run.name]
    assert app.button_group(key="x").value == "weight"
    assert app.number_input(key="margin").value == 1.5
    assert app.toggle(key="paper").value is True


def test_a_change_is_written_and_defaults_are_too(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    make_run("ugs")
    app = open_page("curves")
    assert app.query_params["x"] == "graph"
    app.selectbox(key="score").set_value("test_last").run()
    assert app.query_params["score"] == "test_last"
    assert app.selectbox(key="score").value == "test_last"


def test_what_the_address_gets_wrong_falls_back_to_the_default(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs")
    app = open_page("subgraphs", run="no-such-run", seed="99", round="77", size="many", draw="x")
    assert not app.exception
    assert app.query_params["run"] == run.name
    assert app.query_params["seed"] == "0"
    assert app.query_params["round"] == "3"
    assert ["no-such-run" in toast.value for toast in app.toast].count(True) == 1


def test_a_run_that_is_not_there_is_said_where_several_are_chosen(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs")
    for page, name in (("curves", "runs"), ("runs", "run")):
        app = open_page(page, **{name: [run.name, "[gone](x)"]} if name == "runs" else {name: "[gone](x)"})
        assert [toast.value for toast in app.toast] == [
            f"The link names {name} “\\[gone\\](x)”, which does not exist here: another is shown."
        ]
        assert not app.run().toast


def test_no_runs_chosen_is_kept_as_a_choice(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    make_run("ugs")
    app = open_page("curves")
    app.multiselect(key="runs").set_value([]).run()
    assert app.query_params["runs"] == ""
    assert "No runs chosen" in [heading.value for heading in app.subheader]
    assert open_page("curves", runs="").multiselect(key="runs").value == []


def test_numbers_of_an_address_are_read_with_care() -> None:
    assert controls.whole(["7"], 0) == 7
    assert controls.whole(["-7"], 3) == 3
    assert controls.decimal(["1e-2"], 1) == 0.01
    assert controls.decimal(["nan"], 1) == 1
    assert controls.decimal(["inf"], 1) == 1
    assert controls.decimal([], 2) == 2


def test_a_round_beyond_the_last_one_is_told(make_run: Callable[..., Run], open_page: Callable[..., AppTest]) -> None:
    run = make_run("ugs")
    app = open_page("subgraphs", run=run.name, round="99")
    assert app.slider(key="round").value == 3
    assert [toast.value for toast in app.toast] == [
        "The link names round “99”, which does not exist here: another is shown."
    ]
    assert not open_page("subgraphs", run=run.name, round="2").toast


def test_words_typed_on_one_page_are_not_a_choice_made_on_another() -> None:
    def script() -> None:
        import streamlit as st

        from app.components import controls, url_state

        page = st.session_state.setdefault("page", "compare")
        url_state.enter(page)
        if page == "compare":
            controls.segments("at", "Paired at", {"round": "round", "sparsity": "sparsity"}, "round")
        else:
            st.caption(f"told [{controls.text('at', 'Node')}]")

    app = AppTest.from_function(script).run()
    for page, told in (("subgraphs", ""), ("compare", None), ("subgraphs", "")):
        app.session_state["page"] = page
        app.run()
        assert not app.exception
        assert [caption.value for caption in app.caption] == ([f"told [{told}]"] if told is not None else [])
    app.text_input(key="at").set_value("17").run()
    app.session_state["page"] = "elsewhere"
    app.run()
    assert app.caption[0].value == "told [17]"


def test_every_value_that_cannot_be_used_is_told(
    make_run: Callable[..., Run], open_page: Callable[..., AppTest]
) -> None:
    run = make_run("ugs")
    app = open_page("tickets", runs=[run.name], seed="-1", margin="nan")
    assert sorted(toast.value for toast in app.toast) == [
        "The link names seed “-1”, which does not exist here: another is shown.",
        "The link sets “Margin (points)” to “nan”, which is not valid: another value is used.",
    ]
    app = open_page("curves", runs=[run.name], margin="99", each_seed="yes", whole="1")
    assert len(app.toast) == 2
    assert not open_page("curves", runs=[run.name], margin="5", each_seed="0").toast
