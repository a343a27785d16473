"""What people and programs hand over that is none of what was asked for: values for hypothesis, and how long it looks.

`make fuzz` sets GLT_FUZZ to a number of examples a test; without it a test looks at few, the same ones every time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("GLT_FUZZ") or 0)
FEW = 15
# A title that a browser would act on, one that a terminal would, one that reads other than it is, and a long one.
SCRIPT = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
TERMINAL = "\x1b[31mred\x1b]0;title\x07"
BACKWARDS = "safe\u202egpj.exe\u200b\u2066\ufeff"
LONG = "a" * 100_000
WRITTEN = (
    "", " ", ".", "..", "/", "../../etc/passwd", "/etc/passwd", "C:\\Windows", "\\\\host\\share", "CON", "NUL",
    "a/b", "a\\b", "~root", "-", "--store", "a\nb", "a\rb", "a\tb", "\x00", "a\x00b", "\x7f", "\ud800",
    "nan", "-nan", "inf", "-inf", "1e999", "-1", "0", "00", "1.5", "1_000", "٣", "²", "0x10", "1" * 100_000, "true",
    "$x$", "[a](javascript:alert(1))", "![a](http://host/a)", "{{7*7}}", "${7*7}", "%s%n", "' OR 1=1", SCRIPT, TERMINAL,
    BACKWARDS, LONG, "💥", "e\u0301" * 500,
)  # fmt: skip

# A browser sends no lone surrogate.
SENT = tuple(word for word in WRITTEN if "\ud800" not in word)


def hostile(few: int = FEW, share: float = 1.0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Look at `few` examples, the same ones every time, or at GLT_FUZZ of them times `share`, drawn anew."""
    return settings(
        max_examples=max(int(EXAMPLES * share), 1) if EXAMPLES else few,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        # A page takes a second: what was drawn is shown as it is.
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def texts() -> st.SearchStrategy[str]:
    """Text: of the written list, or any at all, lone surrogates and control characters among it."""
    return st.one_of(st.sampled_from(WRITTEN), st.text(st.characters(), max_size=40))


def sent_texts() -> st.SearchStrategy[str]:
    """Text that a browser can send: without lone surrogates, which UTF-8 does not have."""
    whole = st.characters(exclude_categories=["Cs"])
    return st.one_of(st.sampled_from(SENT), st.text(whole, max_size=40))


def numbers() -> st.SearchStrategy[Any]:
    """Numbers that JSON or a program may hold: huge, negative, none at all."""
    return st.one_of(
        st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, -0.0, float("nan"), float("inf")]),
        st.integers(),
        st.floats(),
    )


def values() -> st.SearchStrategy[Any]:
    """Anything that JSON can say."""
    plain = st.one_of(st.none(), st.booleans(), numbers(), texts())
    return st.recursive(
        plain,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts(), inner, max_size=4)),
        max_leaves=6,
    )


def written(value: Any) -> str:
    """Write a value as JSON, with NaN and infinities where it has those, surrogates as JSON may have them."""
    import json

    return json.dumps(value)


DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "1" * 100_000
# Documents that are no JSON, or are JSON to trip over.
DOCUMENTS = (
    b"", b"null", b"[]", b"{}", b"0", b"NaN", b'"text"', b"\xff\xfe", b"\x80\x04K\x01.", b"{", DEEP.encode(),
    b'{"a":' * 50_000, DIGITS.encode(), b'{"schema":1}', b'{"schema":true,"config":{}}', b'{"schema":1,"kind":[]}',
    b'{"schema":1,"kind":{},"config":{}}', b'{"schema":1,"kind":"run","config":[]}', b'{"schema":1,"config":"abc"}',
    b'{"schema":1,"config":[["a",1]]}', b'{"schema":1,"config":{"dataset":1}}', b'{"schema":' + DIGITS.encode() + b"}",
    b'{"schema":1e999,"config":{}}', b'{"schema":2,"config":{}}', b'{"schema":-5,"config":{}}',
    b'{"schema":1,"config":{"hidden":1,"hidden":2}}', b'{"schema":1,"config":{"rounds":' + DIGITS.encode() + b"}}",
    b'{"schema":1,"config":{"options":{"gat_heads":[1]}}}', b'{"schema":1,"config":' + DEEP.encode() + b"}",
)  # fmt: skip
