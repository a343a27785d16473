"""Links from one page to a view of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import streamlit as st

_PAGES: dict[str, Any] = {}


def register(pages: Mapping[str, Any]) -> None:
    """Note the pages of the navigation under their names in the address."""
    _PAGES.update(pages)


def link(page: str, label: str, icon: str | None = None, **view: str | list[str]) -> None:
    """Show a link to a page, opened on the view that `view` names."""
    st.page_link(_PAGES[page], label=label, icon=icon, query_params=view)


def go(page: str, **view: str | list[str]) -> NoReturn:
    """Open a page on the view that `view` names."""
    st.switch_page(_PAGES[page], query_params=view)
