"""The state of a view in the address: read on entering a page, written after every change.

Defaults are written too, so a link keeps its meaning when new runs change a default. (Streamlit's own
`bind="query-params"` omits defaults and loses shared values on a page switch.)
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
# Former names of parameters: old links still work.
FORMER = {"margin": "tolerance"}


def enter(page: str) -> None:
    """Note the current page; on a change, controls start from the address again."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_READ] = set()
        st.session_state[_SHOWN] = []
        st.session_state[_ASKED] = {name: st.query_params.get_all(name) for name in st.query_params}


def start(name: str, typed: bool = False) -> list[str] | None:
    """Return the initial value of a control, None while it has a value.

    The value is that of the address, else the last one of this session; [] if neither has one, [""] for a choice of
    nothing. Of a text field (`typed`) only a typed last value counts, because another page may use the name for a list.
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
    """Return whether the address has a value that the control has not read yet."""
    return name not in st.session_state.get(_READ, set()) and bool(st.query_params.get_all(name))


def held(name: str) -> list[str]:
    """Return the last choice of this session under a name, [] if the address has one."""
    if is_given(name):
        return []
    if name in st.session_state.get(_READ, set()) and name in st.session_state:
        value = st.session_state[name]
        return list(value) if isinstance(value, (list, tuple)) else [value] if value else []
    return recall(name)


def linked(name: str) -> list[str]:
    """Return the values of the entered address under a name; empty from the second call on."""
    waiting: dict[str, list[str]] = st.session_state.setdefault(_ASKED, {})
    return waiting.pop(name, []) or waiting.pop(FORMER.get(name, name), [])


def keep(name: str, values: Sequence[str], typed: bool = False) -> None:
    """Keep a control's value for the session and the address; `typed`: free text."""
    words: set[str] = st.session_state.setdefault(_TYPED, set())
    (words.add if typed else words.discard)(name)
    st.session_state.setdefault(_KEPT, {})[name] = list(values) or [""]
    shown: list[str] = st.session_state.setdefault(_SHOWN, [])
    if name not in shown:
        shown.append(name)


def drop(name: str) -> None:
    """Keep a control's value as empty, and omit it from the address."""
    st.session_state.setdefault(_KEPT, {})[name] = [""]
    shown: list[str] = st.session_state.setdefault(_SHOWN, [])
    if name in shown:
        shown.remove(name)


def recall(name: str) -> list[str]:
    """Return the last kept value under a name, of any page."""
    kept: dict[str, list[str]] = st.session_state.setdefault(_KEPT, {})
    return list(kept.get(name, []))


def forget(name: str) -> None:
    """Forget the last kept value under a name."""
    st.session_state.setdefault(_KEPT, {}).pop(name, None)


def current(name: str) -> str:
    """Return the value of a name in the address of this page, "" if absent."""
    return next(iter(recall(name)), "") if name in st.session_state.get(_SHOWN, []) else ""


def write() -> None:
    """Write the controls of this page to the address, in one step of the history."""
    kept: Mapping[str, list[str]] = st.session_state.get(_KEPT, {})
    values = {name: kept[name] for name in st.session_state.get(_SHOWN, [])}
    if values != {name: st.query_params.get_all(name) for name in st.query_params}:
        st.query_params.from_dict(values)


# The pages of the navigation by their URL paths; the start of the app fills it.
PAGES: dict[str, Any] = {}


def link(page: str, label: str, icon: str | None = None, **view: str | list[str]) -> None:
    """Show a link to a page with the parameters `view`."""
    st.page_link(PAGES[page], label=label, icon=icon, query_params=view)


def go(page: str, **view: str | list[str]) -> NoReturn:
    """Open a page with the parameters `view`."""
    st.switch_page(PAGES[page], query_params=view)
