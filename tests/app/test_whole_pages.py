"""A live part that asks while a page is still being sent takes nothing of it away."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from app.widgets import whole_pages

CONFIG = Path(__file__).resolve().parents[2] / "app" / ".streamlit" / "config.toml"


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)
    whole_pages.keep()


def block(path: list[int], fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.delta.add_block.vertical.SetInParent()
    message.delta.fragment_id = fragment
    message.metadata.delta_path.extend(path)
    return message


def words(path: list[int], text: str, fragment: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.markdown.body = text
    message.delta.fragment_id = fragment
    message.metadata.delta_path.extend(path)
    return message


def finished() -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    return message


PAGE = [block([0, 0]), block([0, 0, 0], "live"), words([0, 0, 0, 0], "first", "live"), words([0, 0, 1], "after")]


def test_a_live_part_leaves_the_page_that_waits_as_it_is() -> None:
    queue = ForwardMsgQueue()
    for message in (*PAGE, finished()):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["live"])
    queue.enqueue(words([0, 0, 0, 0], "second", "live"))
    assert queue.flush() == [*PAGE, finished(), words([0, 0, 0, 0], "second", "live")]


def test_a_new_page_takes_the_place_of_the_one_that_waits() -> None:
    queue = ForwardMsgQueue()
    for message in (*PAGE, finished()):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=None)
    (left,) = queue.flush()
    assert left.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN


@dataclass
class Runner:
    """A run that takes further requests, or whose thread has ended."""

    takes: bool
    asked: list[str] = field(default_factory=list)

    def request_rerun(self, wanted: str) -> bool:
        if self.takes:
            self.asked.append(wanted)
        return self.takes


class Session:
    """What the server's session has to do with it."""

    def __init__(self, runner: Runner | None) -> None:
        self._scriptrunner, self._event_loop = runner, asyncio.get_running_loop()
        self._state = AppSessionState.APP_IS_RUNNING


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    begun: list[str] = []
    monkeypatch.setattr(whole_pages, "_create", lambda session, wanted: begun.append(wanted))
    monkeypatch.setattr(whole_pages, "AGAIN", 0.001)
    return begun


def begin(session: Any, wanted: str) -> None:
    getattr(AppSession, "_create_scriptrunner")(session, wanted)  # noqa: B009  (the session is a stand-in)


def test_a_run_waits_until_the_last_ones_words_are_taken(begun: list[str]) -> None:
    async def ask() -> None:
        session = Session(Runner(takes=False))
        begin(session, "live")
        await asyncio.sleep(0.02)
        assert not begun
        session._scriptrunner = None
        while not begun:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(ask(), 600))
    assert begun == ["live"]


def test_a_run_that_came_meanwhile_takes_the_request(begun: list[str]) -> None:
    async def ask() -> Runner:
        session, later = Session(Runner(takes=False)), Runner(takes=True)
        begin(session, "live")
        session._scriptrunner = later
        while not later.asked:
            await asyncio.sleep(0.001)
        return later

    assert asyncio.run(asyncio.wait_for(ask(), 600)).asked == ["live"]
    assert not begun


def test_the_first_run_begins_at_once_and_none_after_the_end(begun: list[str]) -> None:
    async def ask() -> None:
        begin(Session(None), "page")
        assert begun == ["page"]
        ended = Session(Runner(takes=False))
        begin(ended, "live")
        ended._scriptrunner, ended._state = None, AppSessionState.SHUTDOWN_REQUESTED
        await asyncio.sleep(0.02)

    asyncio.run(ask())
    assert begun == ["page"]


def test_no_message_is_large_enough_to_be_remembered_by_a_browser() -> None:
    settings = dict(re.findall(r"^(m\w+) = (\S+)$", CONFIG.read_text(encoding="utf-8"), re.MULTILINE))
    assert float(settings["minCachedMessageSize"]) > float(settings["maxMessageSize"]) * 2**20


def test_a_session_has_what_is_asked_of_it_by_name() -> None:
    written = AppSession.__init__.__code__.co_names
    assert {"_scriptrunner", "_event_loop", "_state"} <= set(written)
