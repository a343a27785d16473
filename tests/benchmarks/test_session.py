"""The visitor without a browser reports errors that a person would see."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import session as visiting
from benchmarks.load import _failures, _slope, _spread
from benchmarks.session import Visitor


@pytest.fixture
def visitor() -> Visitor:
    """A session that is not connected."""
    visitor = Visitor("http://localhost:1", random.Random(0))  # noqa: S311
    visitor._page = "runs"
    return visitor


def test_an_exception_and_an_error_box_are_errors_and_a_hint_is_none(visitor: Visitor) -> None:
    message = ForwardMsg()
    message.delta.new_element.exception.type, message.delta.new_element.exception.message = "KeyError", "round"
    visitor._take(message)
    for shown in (Alert.ERROR, Alert.INFO):
        message = ForwardMsg()
        message.delta.new_element.alert.format, message.delta.new_element.alert.body = shown, f"box {shown}"
        visitor._take(message)
    message = ForwardMsg()
    message.page_not_found.page_name = "nowhere"
    visitor._take(message)
    assert visitor.errors == ["runs: KeyError: round", f"runs: box {Alert.ERROR}", "runs: page_not_found"]


def test_a_script_that_does_not_compile_is_an_error(visitor: Visitor) -> None:
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_WITH_COMPILE_ERROR))
    assert visitor.errors == ["runs: the script could not be compiled"]


def test_a_page_is_answered_by_its_own_finish_only(visitor: Visitor) -> None:
    visitor._asked = time.perf_counter(), False
    for status in (ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY):
        visitor._take(ForwardMsg(script_finished=status))
        assert not visitor.answers
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY))
    assert [(answer.page, answer.live) for answer in visitor.answers] == [("runs", False)]
    visitor._asked = time.perf_counter(), True
    visitor._take(ForwardMsg(script_finished=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    assert [answer.live for answer in visitor.answers] == [False, True]


def test_memory_that_grows_has_a_slope_and_times_have_their_spread() -> None:
    grows = [{"uss": 100.0, "rss": 0.0}, *({"uss": 100.0 + 3 * k, "rss": 0.0, "minute": float(k)} for k in range(1, 6))]
    assert _slope(grows) == 3.0
    assert _slope(grows[:2]) is None
    assert _spread([1.0, 2.0, 3.0]) == {"count": 3, "p50": 2.0, "p95": 2.9, "most": 3.0}
    assert _spread([]) == {"count": 0}


def test_tracebacks_are_errors_unless_they_say_that_a_tab_was_closed() -> None:
    lines = ["Traceback (most recent call last):", '  File "app/main.py", line 1, in main', "    main()"]
    fault = [*lines, "KeyError: 'round'", ""]
    gone = [*lines, "starlette.websockets.WebSocketDisconnected: gone", ""]
    log = "\n".join(["2026 hello", *fault, "2026 words", *gone, "2026 words"])
    assert _failures(log) == (["KeyError: 'round'"], 1)
    assert _failures("all is well\n") == ([], 0)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (None, "runs: no answer within 0 s"),
        (KeyError("frag"), "runs: an answer could not be read: KeyError('frag')"),
        ("closed", "runs: no answer: the connection has ended"),
    ],
)
def test_a_missing_answer_says_why(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, ends: Exception | str | None, said: str
) -> None:
    async def listen() -> None:
        if ends is None:
            await asyncio.Event().wait()
        if isinstance(ends, Exception):
            raise ends

    async def sent(fragment: str) -> None:
        assert not fragment

    async def ask() -> None:
        visitor._listening = asyncio.create_task(listen())
        await visitor.click()
        visitor._listening.cancel()

    monkeypatch.setattr(visiting, "PATIENCE", 0.05)
    monkeypatch.setattr(visitor, "_ask", sent)
    asyncio.run(ask())
    assert visitor.errors == [said]
