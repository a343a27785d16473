"""The guided tour: shown on a first start only, never in the way of a link, and gone for good once ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import tour
from app.main import PAGES
from app.tour import STEPS
from glt.store import Run

OpenPage = Callable[..., AppTest]


def card(app: AppTest) -> str:
    """Return what the card says, "" without one."""
    assert not app.exception
    shown = [each.value for each in app.markdown]
    place = next((place for place, text in enumerate(shown) if "tour, step" in text), None)
    return "" if place is None else " ".join(shown[place : place + 2])


def test_a_first_start_is_led_through_five_pages_and_to_a_run_of_its_own(example: Run, open_page: OpenPage) -> None:
    app = open_page("curves")
    for number, step in enumerate(STEPS, start=1):
        assert f"step {number} of 5" in card(app)
        assert step.text in card(app)
        assert app.title[0].value.lower() == step.page
        assert app.query_params["tour"] == str(number)
        assert {name: app.query_params[name] for name in step.view} == clipped(dict(step.view))
        # A page switch does not tell the test's session where it is.
        app._page_hash = calc_hash(step.page)
        app.button(key="tour-next").click().run()
    assert app.title[0].value == "Launch"
    assert card(open_page("curves")) == "", "whoever went through it is not shown it again"


def clipped(view: dict[str, str]) -> dict[str, str]:
    """Return a step's view as the example of three rounds has it."""
    return {**view, **({"round": "3"} if "round" in view else {})}


def test_an_ended_tour_stays_ended_and_can_be_started_again(example: Run, open_page: OpenPage) -> None:
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
def test_a_link_to_something_particular_is_not_interrupted(
    page: str, view: dict[str, str], example: Run, open_page: OpenPage
) -> None:
    assert card(open_page(page, **view)) == ""


def test_runs_of_ones_own_mean_that_this_is_no_first_start(
    example: Run, make_run: Callable[..., Run], open_page: OpenPage
) -> None:
    make_run("random")
    assert card(open_page("curves")) == ""


@pytest.mark.parametrize("page", ["subgraphs", "launch"])
def test_an_address_of_a_step_leads_to_its_view(page: str, example: Run, open_page: OpenPage) -> None:
    app = open_page(page, tour="4")
    assert app.title[0].value == "Tickets"
    assert app.query_params["margin"] == "0.5"
    assert "step 4 of 5" in card(app)


@pytest.mark.parametrize("number", ["0", "6", "x", "-1", "<b>"])
def test_a_step_that_is_not_there_is_no_step(number: str, example: Run, open_page: OpenPage) -> None:
    assert card(open_page("curves", tour=number)) == ""


def test_where_nothing_can_be_written_the_tour_still_ends(
    example: Run, open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    app = open_page("curves")
    app.button(key="tour-end").click().run()
    assert card(app) == ""
    assert not app.error
    assert not tour.ended_file().exists()


def test_every_step_is_a_page_of_its_own() -> None:
    pages = [step.page for step in STEPS]
    assert len(set(pages)) == len(pages) == 5
    assert set(pages) <= {title.lower() for title in PAGES}
    assert all(step.text.count(". ") <= 1 for step in STEPS), "two sentences at most"
