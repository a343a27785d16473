"""Hostile and malformed values for hypothesis, and processes with limits.

`make fuzz` sets GLT_FUZZ to a number of examples a test; without it a test looks at few, the same ones every time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("GLT_FUZZ") or 0)
FEW = 15
# Titles with markup, with terminal codes, with reversed text, and a long one.
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


class Harm:
    """Unpickling this creates a folder."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("harmed",)


def hostile(few: int = FEW, share: float = 1.0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Look at `few` examples, the same ones every time, or at GLT_FUZZ of them times `share`, drawn anew."""
    return settings(
        max_examples=max(int(EXAMPLES * share), 1) if EXAMPLES else few,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        # A page takes a second, so examples are not shrunk.
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def texts() -> st.SearchStrategy[str]:
    """Text: listed hostile strings, or arbitrary text with lone surrogates and control characters."""
    return st.one_of(st.sampled_from(WRITTEN), st.text(st.characters(), max_size=40))


def sent_texts() -> st.SearchStrategy[str]:
    """Text that a browser can send: without lone surrogates, which UTF-8 does not have."""
    whole = st.characters(exclude_categories=["Cs"])
    return st.one_of(st.sampled_from(SENT), st.text(whole, max_size=40))


def numbers() -> st.SearchStrategy[Any]:
    """Numbers that JSON or a program may hold: huge, negative, not a number."""
    return st.one_of(
        st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, -0.0, float("nan"), float("inf")]),
        st.integers(),
        st.floats(),
    )


def values() -> st.SearchStrategy[Any]:
    """Any JSON value."""
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
# Documents that are not JSON, or malformed JSON.
DOCUMENTS = (
    b"", b"null", b"[]", b"{}", b"0", b"NaN", b'"text"', b"\xff\xfe", b"\x80\x04K\x01.", b"{", DEEP.encode(),
    b'{"a":' * 50_000, DIGITS.encode(), b'{"schema":1}', b'{"schema":true,"config":{}}', b'{"schema":1,"kind":[]}',
    b'{"schema":1,"kind":{},"config":{}}', b'{"schema":1,"kind":"run","config":[]}', b'{"schema":1,"config":"abc"}',
    b'{"schema":1,"config":[["a",1]]}', b'{"schema":1,"config":{"dataset":1}}', b'{"schema":' + DIGITS.encode() + b"}",
    b'{"schema":1e999,"config":{}}', b'{"schema":2,"config":{}}', b'{"schema":-5,"config":{}}',
    b'{"schema":1,"config":{"hidden":1,"hidden":2}}', b'{"schema":1,"config":{"rounds":' + DIGITS.encode() + b"}}",
    b'{"schema":1,"config":{"options":{"gat_heads":[1]}}}', b'{"schema":1,"config":' + DEEP.encode() + b"}",
)  # fmt: skip


ROOT = Path(__file__).parents[3]
# Limit of the address space, of which libraries reserve more than they use.
MOST_ADDRESSES = 12 << 30


class Ended(NamedTuple):
    """The exit code, what it printed where, and the most memory it held, in MiB."""

    code: int
    out: str
    output: str
    peak_mb: float


# VmHWM, since ru_maxrss of a forked process includes the parent's memory.
CHILD = """
import atexit, pathlib, resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))
resource.setrlimit(resource.RLIMIT_CPU, (200, 200))
status = pathlib.Path("/proc/self/status")
atexit.register(lambda: pathlib.Path({peak!r}).write_text(status.read_text().split("VmHWM:")[1].split()[0]))
sys.argv = {arguments!r}
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def limited(*arguments: str) -> Ended:
    """Run `python -m ARGUMENTS` and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        peak = Path(folder, "peak")
        code = CHILD.format(most=MOST_ADDRESSES, peak=str(peak), arguments=list(arguments))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env=environment,
        )  # fmt: skip
        peak_mb = int(peak.read_text()) / 1024 if peak.exists() else float("inf")
        return Ended(done.returncode, done.stdout, done.stderr, peak_mb)


def one_sentence(ended: Ended) -> str:
    """Return the one line that a failed command printed; there must be no other output."""
    assert ended.code not in (0, -9, -11), ended
    assert ended.out == "", ended.out[:300]
    assert ended.output.endswith("\n"), ended.output[:300]
    assert ended.output.count("\n") == 1, ended.output[:2000]
    assert "Traceback" not in ended.output
    assert "Unexpected" not in ended.output
    assert len(ended.output) < 5000
    return ended.output
