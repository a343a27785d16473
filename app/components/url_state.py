"""The address bar holds the state of a view: read when a page is entered, written after every change.

Every value is written, defaults too, so a link keeps its meaning when new runs change what a default would be.
(Streamlit's own `bind="query-params"` leaves defaults out and loses shared values on a page switch.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import streamlit as st

_PAGE = "address: page"
_READ = "address: read"
_KEPT = "address: kept"
_SHOWN = "address: shown"
_ASKED = "address: asked"
_TYPED = "address: typed"
# What a parameter was called before: links of that time still work.
FORMER = {"margin": "tolerance"}


def enter(page: str) -> None:
    """Note which page runs; on entering another one its controls start from the address again."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_READ] = set()
        st.session_state[_SHOWN] = []
        st.session_state[_ASKED] = {name: st.query_params.get_all(name) for name in st.query_params}


def start(name: str, typed: bool = False) -> list[str] | None:
    """Return what the control `name` starts from (address, else this session's last value), None while it has a value.

    An empty list means that neither knows the name; [""] stands for a choice of nothing. Where words are `typed` no
    list of options tells that the last value was another page's choice: only what was typed is taken.
    """
    seen: set[str] = st.session_state.setdefault(_READ, set())
    if name in seen and name in st.session_state:
        return None
    given = [] if name in seen else st.query_params.get_all(name) or st.query_params.get_all(FORMER.get(name, name))
    seen.add(name)
    if typed and name not in st.session_state.get(_TYPED, set()):
        return given
    return given or recall(name)


def is_given(name: str) -> bool:
    """Say whether the address that the page was entered by gives a value which the control has not read yet."""
    return name not in st.session_state.get(_READ, set()) and bool(st.query_params.get_all(name))


def held(name: str) -> list[str]:
    """Return what this session chose last under a name: on this page, else on another; none where the address says."""
    if is_given(name):
        return []
    if name in st.session_state.get(_READ, set()) and name in st.session_state:
        value = st.session_state[name]
        return list(value) if isinstance(value, (list, tuple)) else [value] if value else []
    return recall(name)


def asked(name: str) -> list[str]:
    """Return what the address a page was entered by gave for a name, the first time it is asked for."""
    waiting: dict[str, list[str]] = st.session_state.setdefault(_ASKED, {})
    return waiting.pop(name, []) or waiting.pop(FORMER.get(name, name), [])


def keep(name: str, values: Sequence[str], typed: bool = False) -> None:
    """Remember a control's value for this session and for the address; `typed` ones are free words."""
    words: set[str] = st.session_state.setdefault(_TYPED, set())
    (words.add if typed else words.discard)(name)
    st.session_state.setdefault(_KEPT, {})[name] = list(values) or [""]
    shown: list[str] = st.session_state.setdefault(_SHOWN, [])
    if name not in shown:
        shown.append(name)


def drop(name: str) -> None:
    """Remember that a control is empty, and leave it out of the address."""
    st.session_state.setdefault(_KEPT, {})[name] = [""]
    shown: list[str] = st.session_state.setdefault(_SHOWN, [])
    if name in shown:
        shown.remove(name)


def recall(name: str) -> list[str]:
    """Return the value this session last kept under a name, on whichever page."""
    kept: dict[str, list[str]] = st.session_state.setdefault(_KEPT, {})
    return list(kept.get(name, []))


def forget(name: str) -> None:
    """Forget what this session last kept under a name."""
    st.session_state.setdefault(_KEPT, {}).pop(name, None)


def told(name: str) -> str:
    """Return what the address of this page says for a name, "" where it says nothing."""
    return next(iter(recall(name)), "") if name in st.session_state.get(_SHOWN, []) else ""


def write() -> None:
    """Bring the address in line with the controls of this page, in one step (one entry of the browser's history)."""
    kept: Mapping[str, list[str]] = st.session_state.get(_KEPT, {})
    wanted = {name: kept[name] for name in st.session_state.get(_SHOWN, [])}
    present = {name: st.query_params.get_all(name) for name in st.query_params}
    if wanted != present:
        st.query_params.from_dict(wanted)


_PAGES: dict[str, Any] = {}


def register_pages(pages: Mapping[str, Any]) -> None:
    """Note the pages of the navigation under their names in the address."""
    _PAGES.update(pages)


def link(page: str, label: str, icon: str | None = None, **view: str | list[str]) -> None:
    """Show a link to a page, opened on the view that `view` names."""
    st.page_link(_PAGES[page], label=label, icon=icon, query_params=view)


def go(page: str, **view: str | list[str]) -> NoReturn:
    """Open a page on the view that `view` names."""
    st.switch_page(_PAGES[page], query_params=view)
