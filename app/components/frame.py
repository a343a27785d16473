"""Parts of every page: heading, captions, empty states, errors, escaped text, state chips."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components import url_state
from glt.errors import LONGEST_MESSAGE, ConfigError, StudioError, brief
from glt.results_version import version_note
from glt.store import KnownRun, State
from glt.user_path import default_store

Item = TypeVar("Item")
# Invisible. Markdown finds links after it has removed backslashes, so a backslash does not prevent one.
JOINER = "\u2060"
# Where bare web and mail addresses become links.
_LINKED = re.compile(r"(?:https?|ftp|mailto|xmpp)(?=\\?:)|www(?=\.)|[\w.+-](?=@)", re.IGNORECASE)

_NEXT = "said on the next page"


@contextmanager
def page(title: str, purpose: str) -> Iterator[None]:
    """Show the heading of a page, and a StudioError inside it as a sentence."""
    with row("page-head"):
        st.title(title, anchor=False, width="content")
        st.caption(purpose, width="content")
    for sentence in st.session_state.pop(_NEXT, []):
        st.toast(plain(sentence), icon=":material/info:", duration="long")
    with or_why():
        yield


def say_on_next_page(sentence: str) -> None:
    """Show a sentence on the next page: a toast disappears with its page."""
    st.session_state.setdefault(_NEXT, []).append(sentence)


@contextmanager
def or_why() -> Iterator[None]:
    """Show a StudioError inside the context as a sentence; the page continues.

    Decorates fragments too: they rerun without the page around them.
    """
    try:
        yield
    except StudioError as error:
        failure(str(error))


def row(key: str, align: Literal["top", "center", "bottom"] = "bottom", **looks: Any) -> DeltaGenerator:
    """Return a row for controls and buttons; `looks` are those of `st.container`."""
    return st.container(key=key, horizontal=True, vertical_alignment=align, gap="small", **looks)


def in_columns(items: Sequence[Item], across: int) -> Iterator[tuple[DeltaGenerator, Item]]:
    """Yield each item with its column, in rows of `across` columns."""
    for start in range(0, len(items), across):
        yield from zip(st.columns(across, gap="small"), items[start : start + across], strict=False)


def caption(text: str, details: str, label: str = "Details") -> None:
    """Show a short caption, and details in a popover."""
    with st.container(gap=None):
        if text:
            st.caption(text)
        with st.popover(label, type="tertiary", icon=":material/info:"):
            st.caption(details)


def results_note(runs: Sequence[KnownRun]) -> None:
    """Show a note if runs have another results version than this program."""
    if note := version_note(runs):
        st.caption(plain(note))


def failure(*sentences: str) -> None:
    """Show an error, or a list of several: what is wrong, where, and what to do."""
    texts = [plain(brief(sentence, LONGEST_MESSAGE)) for sentence in sentences]
    if len(texts) > 1:
        texts = [f"**{len(texts)} problems**\n", *(f"- {text}" for text in texts)]
    st.error("\n".join(texts), icon=":material/error:")


def plain(text: str) -> str:
    r"""Return text with all Markdown escaped.

    >>> plain("seed [1](x) of $a$")
    'seed \\[1\\](x) of \\$a\\$'
    >>> plain(":red[hi]")
    '\\:red\\[hi\\]'
    >>> plain("http://a.b").replace(JOINER, "")
    'http://a.b'
    """
    # A colon before a letter starts a directive of Streamlit's; unknown ones are dropped.
    escaped = re.sub(r"([\\`*\[\]$<~]|:(?=[A-Za-z:]))", r"\\\1", text)
    return _LINKED.sub(rf"\g<0>{JOINER}", escaped)


def plain_lines(text: str) -> str:
    r"""Return several lines of text with all Markdown escaped.

    >>> plain_lines("# a\n- *b*")
    '\\# a  \n\\- \\*b\\*'
    """
    return "  \n".join(re.sub(r"^(\s*)([#>+=|-])", r"\1\\\2", line) for line in plain(text).split("\n"))


def empty(title: str, text: str, icon: str, page: str | None = None, label: str = "", **view: str) -> None:
    """Fill an empty page or panel with a sentence and a link."""
    with st.container(key=f"empty-{title}", border=True, horizontal_alignment="center", gap="small"):
        st.space("medium")
        st.markdown(f":gray[:material/{icon}:]", width="content", text_alignment="center")
        st.subheader(title, anchor=False, width="content", text_alignment="center")
        st.caption(text, width="content", text_alignment="center")
        if page is not None:
            url_state.link(page, label, ":material/arrow_forward:", **view)
        st.space("medium")


BadgeColor = Literal["gray", "blue", "green", "orange", "red", "violet"]

STATE_LOOKS: dict[State, tuple[BadgeColor, str]] = {
    "queued": ("gray", ":material/schedule:"),
    "running": ("blue", ":material/play_arrow:"),
    "done": ("green", ":material/check:"),
    "stopped": ("orange", ":material/pause:"),
    "failed": ("red", ":material/error:"),
    "lost": ("red", ":material/link_off:"),
}


def is_dark() -> bool:
    """Return whether the theme is dark."""
    return st.context.theme.type == "dark"


def state_chip(state: State) -> None:
    """Show a state as a coloured chip."""
    color, icon = STATE_LOOKS[state]
    st.badge(state, color=color, icon=icon)


_SEEN = "store: seen"


def tell_store_gone() -> None:
    """Show an error if the store of this session no longer exists."""
    try:
        root = default_store().absolute()
    except ConfigError:
        # The page itself shows this error.
        return
    if root.is_dir():
        st.session_state[_SEEN] = str(root)
    elif st.session_state.get(_SEEN) == str(root):
        failure(f"The store {root} no longer exists: restore the folder, or continue with the examples only.")
