"""Every page, over a filled and over an empty store."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import tour
from app.components.frame import JOINER, plain, plain_lines
from app.data.runs import open_catalog
from app.main import PAGES
from app.tour import STEPS
from glt.results_version import version_note
from glt.store import Run, Store
from glt.store.paths import EXAMPLES
from tests.app.conftest import MakeRun, OpenPage
from tests.opening import MAIN

NAMES = [title.lower() for title in PAGES]


@pytest.mark.parametrize("name", NAMES)
def test_pages_show_a_filled_store(name: str, make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    make_run("random")
    app = open_page(name)
    assert not app.error
    assert app.title[0].value.lower() == name


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("launch", "paper")])
def test_pages_of_an_empty_store_link_to_launch(name: str, store: Store, open_page: OpenPage) -> None:
    app = open_page(name)
    assert [link.label for link in app.get("page_link")] == ["Launch a run"]


def test_examples_fill_an_empty_store_and_are_marked(example: Run, open_page: OpenPage) -> None:
    app = open_page("curves")
    assert app.query_params["runs"] == f"examples/{example.name}"
    assert "example" in app.multiselect(key="runs").options[0]


def test_an_example_cannot_be_changed(example: Run, open_page: OpenPage) -> None:
    app = open_page("runs")
    assert not [button for button in app.button if button.label in ("Delete", "Stop", "Resume")]


def test_an_own_run_is_shown_beside_its_example(example: Run, make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    found = open_catalog()
    assert [run.is_example for run in found.runs] == [False, True]


# What pages may import: igraph lays out graphs (and imports matplotlib where it is there), Export draws for paper.
HEAVY = {"torch", "torch_geometric", "ogb", "matplotlib", "igraph"}
# igraph, which brings matplotlib, also measures bridges, cores and triangles.
WANTED = {page: {"igraph", "matplotlib"} for page in ("measurements", "subgraphs", "export")}
OPENED_ONE_BY_ONE = """
import json, sys
from streamlit import config
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

config._main_script_path = sys.argv[1]
config.get_config_options(force_reparse=True)
found = {}
for name in sys.argv[2:]:
    app = AppTest.from_file(sys.argv[1], default_timeout=1800)
    app._page_hash = calc_hash(name)
    app.run()
    assert not app.exception, (name, app.exception)
    assert app.title[0].value.lower() == name
    found[name] = sorted({module.split(".")[0] for module in sys.modules})
print(json.dumps(found))
"""


def test_pages_do_not_import_torch(make_run: MakeRun, tmp_path: Path) -> None:
    for method in ("ugs", "random"):
        make_run(method)
    # In a subprocess, since other tests have imported torch here. Pages that may import more come last.
    names = sorted(NAMES, key=lambda name: (name in WANTED, name == "export"))
    command = [sys.executable, "-W", "ignore", "-c", OPENED_ONE_BY_ONE, str(MAIN), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=MAIN.parents[1])
    assert done.returncode == 0, done.stderr
    allowed: set[str] = set()
    for name, modules in json.loads(done.stdout.splitlines()[-1]).items():
        allowed |= WANTED.get(name, set())
        assert HEAVY & set(modules) <= allowed, name
    assert "pandas" in modules


def test_examples_are_not_drawn_with_the_users_runs(example: Run, make_run: MakeRun, open_page: OpenPage) -> None:
    own = make_run("random")
    app = open_page("curves")
    assert app.query_params["runs"] == own.name
    assert len(app.multiselect(key="runs").options) == 2


@pytest.mark.parametrize("name", ["launch", "curves", "runs"])
def test_a_store_that_is_not_a_folder_is_one_sentence(name: str, store: Store, open_page: OpenPage) -> None:
    store.root.write_text("not a folder")
    app = open_page(name)
    assert [str(store.root) in error.value for error in app.error] == [True]


# Bare addresses as the page's Markdown finds them, once its own signs and backslashes are gone.
WEB = re.compile(r"(https?://|www(?=\.))([-.\w]+)([^ \t\r\n]*)", re.IGNORECASE)
MAIL = re.compile(r"([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)")


@pytest.mark.parametrize(
    "text",
    [
        "[x](http://evil.test)",
        "see https://evil.test/a?b",
        "HTTP://evil.test",
        "(www.evil.test)",
        "WWW.evil.test",
        "a.b-c+d@evil.test",
        "mailto:a@evil.test",
        "é@evil.test",
    ],
)
def test_bare_urls_are_not_links(text: str) -> None:
    assert WEB.search(text) or MAIL.search(text)
    for shown in (plain(text), plain_lines(text)):
        read = re.sub(r"\\(?=[^\w\s])", "", shown)
        assert not WEB.search(read)
        assert not MAIL.search(read)
        assert read.replace(JOINER, "") == text


@pytest.mark.parametrize("page", ["curves", "tickets", "compare", "runs", "export"])
def test_pages_name_the_results_version_of_examples(
    page: str, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.data.runs.EXAMPLES", EXAMPLES)
    app = open_page(page)
    note = version_note([Run.open(EXAMPLES / "cora-node-gcn-ugs-df8e8f72")])
    assert note
    assert [caption.value for caption in app.caption].count(note) == 1


def test_a_missing_store_is_reported_until_it_returns(make_run: MakeRun, store: Store, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("runs")
    assert not app.error
    away = store.root.rename(store.root.with_name("away"))
    assert "no longer exists" in app.run().error[0].value
    away.rename(store.root)
    assert not app.run().error


def test_a_link_restores_the_view(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    make_run("random")
    app = open_page("curves", runs=[run.name], x="weight", margin="1.5", paper="1")
    assert app.multiselect(key="runs").value == [run.name]
    assert app.button_group(key="x").value == "weight"
    assert app.number_input(key="margin").value == 1.5
    assert app.toggle(key="paper").value is True


def test_changes_and_defaults_are_written_to_the_url(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("curves")
    assert app.query_params["x"] == "graph"
    app.selectbox(key="score").set_value("test_last").run()
    assert app.query_params["score"] == "test_last"
    assert app.selectbox(key="score").value == "test_last"


def test_bad_url_values_fall_back_to_defaults(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("subgraphs", run="no-such-run", seed="99", round="77", size="many", draw="x")
    assert app.query_params["run"] == run.name
    assert app.query_params["seed"] == "0"
    assert app.query_params["round"] == "3"
    assert ["no-such-run" in toast.value for toast in app.toast].count(True) == 1


def test_a_missing_run_among_several_is_reported(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    for page, name in (("curves", "runs"), ("runs", "run")):
        app = open_page(page, **{name: [run.name, "[gone](x)"]} if name == "runs" else {name: "[gone](x)"})
        assert [toast.value for toast in app.toast] == [
            f"The link sets “{name.capitalize()}” to “\\[gone\\](x)”, which does not exist here: another is shown."
        ]
        assert not app.run().toast


def test_an_empty_run_selection_is_kept(make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("ugs")
    app = open_page("curves")
    app.multiselect(key="runs").set_value([]).run()
    assert app.query_params["runs"] == ""
    assert "No runs chosen" in [heading.value for heading in app.subheader]
    assert open_page("curves", runs="").multiselect(key="runs").value == []


def test_search_words_stay_on_their_page() -> None:
    def script() -> None:
        import streamlit as st

        from app.components import controls, url_state

        page = st.session_state.setdefault("page", "compare")
        url_state.enter(page)
        if page == "compare":
            controls.segments("at", "Paired at", {"round": "round", "sparsity": "sparsity"}, "round")
        else:
            st.caption(f"at [{controls.text('at', 'Node')}]")

    app = AppTest.from_function(script).run()
    for page, shown in (("subgraphs", ""), ("compare", None), ("subgraphs", "")):
        app.session_state["page"] = page
        app.run()
        assert not app.exception
        assert [caption.value for caption in app.caption] == ([f"at [{shown}]"] if shown is not None else [])
    app.text_input(key="at").set_value("17").run()
    app.session_state["page"] = "elsewhere"
    app.run()
    assert app.caption[0].value == "at [17]"


def test_every_unusable_url_value_is_reported(make_run: MakeRun, open_page: OpenPage) -> None:
    run = make_run("ugs")
    app = open_page("tickets", runs=[run.name], seed="-1", margin="nan")
    assert open_page("subgraphs", run=run.name, round="99").slider(key="round").value == 3
    assert not open_page("subgraphs", run=run.name, round="2").toast
    assert sorted(toast.value for toast in app.toast) == [
        "The link sets “Margin (points)” to “nan”, which is not valid: another value is used.",
        "The link sets “Seed for actions” to “-1”, which does not exist here: another is shown.",
    ]
    app = open_page("curves", runs=[run.name], margin="99", each_seed="yes", whole="1")
    assert len(app.toast) == 2
    assert not open_page("curves", runs=[run.name], margin="5", each_seed="0").toast


def card(app: AppTest) -> str:
    """Return what the card says, "" without one."""
    assert not app.exception
    shown = [each.value for each in app.markdown]
    place = next((place for place, text in enumerate(shown) if "tour, step" in text), None)
    return "" if place is None else " ".join(shown[place : place + 2])


def test_the_tour_leads_through_five_pages_to_a_first_run(example: Run, open_page: OpenPage) -> None:
    app = open_page("curves")
    for number, step in enumerate(STEPS, start=1):
        assert f"step {number} of 5" in card(app)
        assert step.text in card(app)
        assert app.title[0].value.lower() == step.page
        assert app.query_params["tour"] == str(number)
        # The example has three rounds only.
        view = {**step.view, **({"round": "3"} if "round" in step.view else {})}
        assert {name: app.query_params[name] for name in view} == view
        # A page switch does not tell the test's session where it is.
        app._page_hash = calc_hash(step.page)
        app.button(key="tour-next").click().run()
    assert app.title[0].value == "Launch"
    assert card(open_page("curves")) == "", "whoever went through it is not shown it again"


def test_an_ended_tour_stays_ended_and_can_be_restarted(example: Run, open_page: OpenPage) -> None:
    app = open_page("curves")
    app.button(key="tour-end").click().run()
    assert card(app) == ""
    assert "tour" not in app.query_params
    assert card(open_page("curves")) == "", "a restart shows it no more"
    (entry,) = [link for link in app.get("page_link") if link.label == "Tour"]
    assert "tour=1" in entry.proto.query_string
    assert "step 1 of 5" in card(open_page("curves", tour="1"))


@pytest.mark.parametrize(
    ("page", "view"), [("curves", {"x": "weight"}), ("tickets", {}), ("subgraphs", {"round": "1"})]
)
def test_links_are_not_interrupted_by_the_tour(
    page: str, view: dict[str, str], example: Run, open_page: OpenPage
) -> None:
    assert card(open_page(page, **view)) == ""


def test_own_runs_suppress_the_tour(example: Run, make_run: MakeRun, open_page: OpenPage) -> None:
    make_run("random")
    assert card(open_page("curves")) == ""


@pytest.mark.parametrize("page", ["subgraphs", "launch"])
def test_the_url_of_a_tour_step_opens_its_view(page: str, example: Run, open_page: OpenPage) -> None:
    app = open_page(page, tour="4")
    assert app.title[0].value == "Tickets"
    assert app.query_params["margin"] == "0.5"
    assert "step 4 of 5" in card(app)


@pytest.mark.parametrize("number", ["0", "6", "x", "-1", "<b>"])
def test_an_unknown_tour_step_is_ignored(number: str, example: Run, open_page: OpenPage) -> None:
    assert card(open_page("curves", tour=number)) == ""


def test_the_tour_ends_without_a_writable_folder(
    example: Run, open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    app = open_page("curves")
    app.button(key="tour-end").click().run()
    assert card(app) == ""
    assert not app.error
    assert not tour.ended_file().exists()


def test_every_tour_step_is_a_distinct_page() -> None:
    pages = [step.page for step in STEPS]
    assert len(set(pages)) == len(pages) == 5
    assert set(pages) <= {title.lower() for title in PAGES}
    assert all(step.text.count(". ") <= 1 for step in STEPS), "two sentences at most"
