"""Whatever stands in a page's address, the page opens without an exception, and says shortly what it does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as hs
from streamlit.testing.v1 import AppTest

from app.data import runs
from app.main import PAGES
from glt.presets import resolve
from glt.store import Store
from glt.user_path import STORE_VARIABLE
from tests.fuzz.hostile import EXAMPLES, SENT, hostile, sent_texts

NAMES = [title.lower() for title in PAGES]
ROOT = Path(__file__).parents[2]
# Words of an address have up to 100,000 letters; what pages explain by themselves has some 10,000.
LONGEST_SAID = 20_000


def parameters() -> list[str]:
    """Return the name of every control, and so of every query parameter, as the sources have it."""
    calls = re.compile(r"(?:controls\.\w+|_?settle_\w+|address\.\w+)\(\s*f?\"([a-z_]+)\"")
    found = {name for path in (ROOT / "app").rglob("*.py") for name in calls.findall(path.read_text(encoding="utf-8"))}
    return sorted(found)


PARAMETERS = parameters()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Iterator[Store]:
    """Two finished runs, which the app shows without examples."""
    folder = tmp_path_factory.mktemp("addresses")
    store = Store(folder / "store")
    for method in ("ugs", "random"):
        run = store.create(resolve({"method": method, "rounds": 2, "epochs": 2, "retrain_epochs": 2}, "official"))
        for seed in (0, 1):
            draw_seed(run.seed(seed), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STORE_VARIABLE, str(store.root))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(runs, "EXAMPLES", folder / "no examples")
        st.cache_data.clear()
        st.cache_resource.clear()
        yield store


def check(app: AppTest) -> None:
    assert not app.exception, [each.value for each in app.exception]
    for said in (*app.toast, *app.error, *app.warning, *app.caption, *app.markdown):
        assert len(said.value) < LONGEST_SAID, said.value[:200]


def test_every_parameter_is_known_here() -> None:
    assert {"runs", "run", "seed", "round", "size", "x", "margin", "view"} <= set(PARAMETERS)
    assert len(PARAMETERS) > 50


@pytest.mark.parametrize("page", NAMES)
def test_words_to_trip_over(filled: Store, open_page: Callable[..., AppTest], page: str) -> None:
    """Every parameter of every page has a word of the written list, and another one at each opening."""
    for first in range(0, len(SENT) if EXAMPLES else 1, 12):
        view = {name: SENT[(first + place) % len(SENT)] for place, name in enumerate(PARAMETERS)}
        check(open_page(page, view))


@hostile(few=2, share=0.2)
@given(
    page=hs.sampled_from(NAMES),
    view=hs.dictionaries(
        hs.sampled_from(PARAMETERS), hs.one_of(sent_texts(), hs.lists(sent_texts(), max_size=5)), max_size=12
    ),
)
def test_words_of_any_kind(
    filled: Store, open_page: Callable[..., AppTest], page: str, view: dict[str, str | list[str]]
) -> None:
    check(open_page(page, view))


@pytest.mark.long
@pytest.mark.parametrize("page", ["curves", "subgraphs", "launch"])
def test_a_parameter_that_stands_there_a_thousand_times(
    filled: Store, open_page: Callable[..., AppTest], page: str
) -> None:
    many = [f"run-{number}" for number in range(1000)]
    check(open_page(page, {"runs": many, "run": many, "seed": many, "seeds": many, "methods": many}))
