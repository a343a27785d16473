"""Widgets tied to the address: each has a name (key and URL parameter) and plain-text options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from app.components import url_state
from app.components.frame import plain
from glt.errors import brief
from glt.store.paths import EXAMPLES_PREFIX

UNKNOWN = ":material/link_off:"
# Missing values of an address that are listed; there may be thousands.
MOST_UNKNOWN = 5
# Digits of a seed, round, epoch or width.
MOST_DIGITS = 9


def select(name: str, label: str, options: Mapping[str, str], default: str | None = None, **looks: Any) -> str:
    """Choose one of `options` (value -> words) from a list."""
    return _one(st.selectbox, name, label, options, default, format_func=options.__getitem__, **looks)


def segments(name: str, label: str, options: Mapping[str, str], default: str | None = None, **looks: Any) -> str:
    """Choose one of a few `options` (value -> words) side by side."""
    # Streamlit reads these labels as Markdown, and a run may have any title.
    words = {option: plain(text) for option, text in options.items()}
    choose = partial(st.segmented_control, required=True)
    return _one(choose, name, label, options, default, format_func=words.__getitem__, **looks)


def contents(name: str, label: str, options: Mapping[str, str], default: str, captions: Mapping[str, str]) -> str:
    """Choose one of `options` (value -> words) from a captioned list."""
    words = [captions[option] for option in options]
    return _one(st.radio, name, label, options, default, format_func=options.__getitem__, captions=words)


def several(
    name: str, label: str, options: Mapping[str, str], default: Sequence[str], pills: bool = False, **looks: Any
) -> list[str]:
    """Choose any of `options` (value -> words) from a list, or side by side as `pills`, returned in their order."""
    settle_several(name, label, options, default)
    if pills:
        words = {option: plain(text) for option, text in options.items()}
        chosen = st.pills(
            label, list(options), selection_mode="multi", format_func=words.__getitem__, key=name, **looks
        )
        values = [option for option in options if option in chosen]
    else:
        values = st.multiselect(label, list(options), format_func=options.__getitem__, key=name, **looks)
    url_state.keep(name, values)
    return list(values)


def switch(name: str, label: str, default: bool = False, **looks: Any) -> bool:
    """Turn something on or off (1 or 0 in the address)."""
    given = url_state.start(name)
    if given is not None:
        _tell_invalid(name, label, lambda value: value in ("0", "1"))
        st.session_state[name] = given[0] == "1" if given else default
    value = st.toggle(label, key=name, **looks)
    url_state.keep(name, [str(int(value))])
    return value


def step(name: str, label: str, last: int, default: int, **looks: Any) -> int:
    """Choose a whole number from 0 to `last` (at least 1) with a slider."""
    given = url_state.start(name)
    if given is not None:
        tell_unknown(name, label, [str(number) for number in range(last + 1)])
        st.session_state[name] = whole(given, default)
    st.session_state[name] = min(max(int(st.session_state[name]), 0), last)
    value = int(st.slider(label, 0, last, key=name, **looks))
    url_state.keep(name, [str(value)])
    return value


def number(name: str, label: str, default: float, low: float, high: float, step: float, **looks: Any) -> float:
    """Enter a number between `low` and `high`."""
    given = url_state.start(name)
    if given is not None:
        _tell_invalid(name, label, lambda value: low <= decimal([value], high + 1) <= high)
        st.session_state[name] = min(max(decimal(given, default), low), high)
    value = st.number_input(label, low, high, step=step, key=name, **looks)
    url_state.keep(name, [f"{value:g}"])
    return float(value)


def text(name: str, label: str, default: str = "", **looks: Any) -> str:
    """Enter a line of text; the address omits an empty one."""
    given = url_state.start(name, typed=True)
    if given is not None:
        st.session_state[name] = given[0] if given else default
    value = str(st.text_input(label, key=name, **looks)).strip()
    if value:
        url_state.keep(name, [value], typed=True)
    else:
        url_state.drop(name)
    return value


def optional(name: str, label: str, options: Mapping[str, str], **looks: Any) -> str | None:
    """Choose one of `options`; the address omits none ("", the first)."""
    value = _one(st.selectbox, name, label, options, "", format_func=options.__getitem__, **looks)
    if not value:
        url_state.drop(name)
    return value or None


def pressed(label: str, key: str, about: str, **looks: Any) -> bool:
    """Show a button; return whether it was pressed for its current subject, `about`.

    The page may have changed since the button was drawn, for example because a run was deleted in another tab. A click
    on an outdated button does nothing.
    """
    state = f"pressed: {key}"

    def note(about: str) -> None:
        st.session_state[state] = about

    return st.button(label, key=key, on_click=note, args=(about,), **looks) and st.session_state.pop(state, "") == about


def whole(texts: Sequence[str], default: int) -> int:
    """Read the first text as a whole number, or take the default.

    >>> whole(["7"], 0), whole(["x"], 3), whole([], 3)
    (7, 3, 3)
    """
    text = texts[0] if texts else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else default


def decimal(texts: Sequence[str], default: float) -> float:
    """Read the first text as a finite number, or take the default.

    >>> decimal(["0.5"], 0), decimal(["nan"], 1), decimal([], 2)
    (0.5, 1, 2)
    """
    try:
        value = float(texts[0]) if texts else default
    except ValueError:
        return default
    return value if abs(value) < float("inf") else default


def tell_unknown(name: str, label: str, options: Collection[str]) -> None:
    """Show once which values of a link do not exist."""
    linked = [value for value in url_state.linked(name) if value and value not in options]
    missing = [value for value in linked if meant(value, options) not in options]
    if bare := [value for value in linked if value not in missing]:
        words, many = _listed(bare), len(bare) > 1
        example = "the examples of those names are" if many else "the example of that name is"
        _tell(f"The link names {words}. You have no such {'runs' if many else 'run'}, so {example} shown.", "long")
    if missing:
        _tell(f"The link sets “{label}” to {_listed(missing)}, which does not exist here: another is shown.")


def _tell_invalid(name: str, label: str, is_valid: Callable[[str], bool]) -> None:
    """Show once that a link's value is invalid for a number or a switch."""
    invalid = [value for value in url_state.linked(name) if value and not is_valid(value)]
    if invalid:
        _tell(f"The link sets “{label}” to {_listed(invalid[:1])}, which is not valid: another value is used.")


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - MOST_UNKNOWN} more" if len(values) > MOST_UNKNOWN else ""
    return ", ".join(f"“{brief(value)}”" for value in values[:MOST_UNKNOWN]) + more


def _tell(sentence: str, duration: Literal["long", "infinite"] = "infinite") -> None:
    # A timed note may close before the page is drawn.
    st.toast(plain(sentence), icon=UNKNOWN, duration=duration)


def meant(value: str, options: Collection[str]) -> str:
    """Return the option for a value of an address.

    Links of earlier versions name an example without its prefix.

    >>> meant("a", ["examples/a"]), meant("a", ["a", "examples/a"]), meant("b", ["a"])
    ('examples/a', 'a', 'b')
    """
    example = f"{EXAMPLES_PREFIX}{value}"
    return example if value not in options and example in options else value


def started(name: str, options: Collection[str]) -> list[str] | None:
    """Return `url_state.start`, with values of the address mapped by `meant`."""
    is_given = url_state.is_given(name)
    given = url_state.start(name)
    return [meant(value, options) for value in given] if given is not None and is_given else given


def _one(
    widget: Callable[..., Any], name: str, label: str, options: Mapping[str, str], default: str | None, **looks: Any
) -> str:
    _settle_one(name, label, options, default)
    value = str(widget(label, list(options), key=name, **looks))
    url_state.keep(name, [value])
    return value


def _settle_one(name: str, label: str, options: Mapping[str, str], default: str | None) -> None:
    """Put a valid choice into the session before the widget is created."""
    given = started(name, options)
    tell_unknown(name, label, options)
    choice = given[0] if given else None if given is not None else st.session_state[name]
    if choice not in options:
        choice = default if default in options else next(iter(options))
    st.session_state[name] = choice


def settle_several(name: str, label: str, options: Mapping[str, str], default: Sequence[str]) -> int:
    """Put valid choices into the session before the widget is created; return their number."""
    given = started(name, options)
    tell_unknown(name, label, options)
    if given is not None:
        known = [value for value in given if value in options]
        st.session_state[name] = known if known or given == [""] else list(default)
    else:
        st.session_state[name] = [value for value in st.session_state[name] if value in options]
    return len(st.session_state[name])
