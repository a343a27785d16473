"""Each patch of Streamlit: the fault of the installed version without it, and what the patch does."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st
from streamlit import net_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_websocket

from app import streamlit_patches as patches
from app.protection import is_own_origin
from tests.app.conftest import MakeRun, OpenPage

CONFIG = Path(__file__).resolve().parents[2] / "app" / ".streamlit" / "config.toml"
HOST = "localhost:8501"
OTHER_PORT = "http://localhost:9999"
# Streamlit's own functions, whichever test ran before in this process.
ORIGINAL: dict[tuple[Any, str], Any] = {
    (ForwardMsgQueue, "clear"): patches._clear,
    (AppSession, "_create_scriptrunner"): patches._create,
    (starlette_websocket, "_is_origin_allowed"): patches._origin_allowed,
    (net_util, "get_external_ip"): patches._external_ip,
    (net_util, "get_internal_ip"): patches._internal_ip,
}


@pytest.fixture(autouse=True)
def unpatched(monkeypatch: pytest.MonkeyPatch) -> None:
    for (owner, name), function in ORIGINAL.items():
        monkeypatch.setattr(owner, name, function)


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


def sent_after_a_fragment_rerun() -> list[ForwardMsg]:
    """Queue a page, rerun its fragment before anything was sent, and return what is sent."""
    queue = ForwardMsgQueue()
    for message in (*PAGE, finished()):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["live"])
    queue.enqueue(words([0, 0, 0, 0], "second", "live"))
    return queue.flush()


def test_streamlit_drops_elements_of_a_queued_page_and_the_patch_keeps_it_whole() -> None:
    assert PAGE[1] not in sent_after_a_fragment_rerun()
    patches.patch_message_queue()
    assert sent_after_a_fragment_rerun() == [*PAGE, finished(), words([0, 0, 0, 0], "second", "live")]


def test_a_new_page_replaces_a_queued_one() -> None:
    patches.patch_message_queue()
    queue = ForwardMsgQueue()
    for message in (*PAGE, finished()):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=None)
    (left,) = queue.flush()
    assert left.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN


def test_streamlit_replaces_a_runner_and_then_ignores_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_session, "ScriptRunner", MagicMock())
    last, session = object(), MagicMock()
    session._scriptrunner, session._state = last, AppSessionState.APP_IS_RUNNING
    session._script_event_loop.is_closed.return_value = False
    AppSession._create_scriptrunner(session, MagicMock())
    assert session._scriptrunner is not last

    async def tell() -> None:
        session._event_loop = asyncio.get_running_loop()
        event, message = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, finished()
        AppSession._handle_scriptrunner_event_on_event_loop(session, last, event, forward_msg=message)  # type: ignore[arg-type]

    asyncio.run(tell())
    session._enqueue_forward_msg.assert_not_called()


@dataclass
class Runner:
    """A script run that accepts further requests, or whose thread has ended."""

    takes: bool
    requests: list[str] = field(default_factory=list)

    def request_rerun(self, wanted: str) -> bool:
        if self.takes:
            self.requests.append(wanted)
        return self.takes


class Session:
    """The parts of a server session that the patch uses."""

    def __init__(self, runner: Runner | None) -> None:
        self._scriptrunner, self._event_loop = runner, asyncio.get_running_loop()
        self._state = AppSessionState.APP_IS_RUNNING


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    begun: list[str] = []
    monkeypatch.setattr(patches, "_create", lambda session, wanted: begun.append(wanted))
    monkeypatch.setattr(patches, "RETRY", 0.001)
    patches.patch_script_runs()
    return begun


def begin(session: Any, wanted: str) -> None:
    getattr(AppSession, "_create_scriptrunner")(session, wanted)  # noqa: B009  (the session is a stand-in)


def test_a_rerun_waits_until_the_last_runs_messages_are_sent(begun: list[str]) -> None:
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


def test_a_run_that_started_meanwhile_takes_the_request(begun: list[str]) -> None:
    async def ask() -> Runner:
        session, later = Session(Runner(takes=False)), Runner(takes=True)
        begin(session, "live")
        session._scriptrunner = later
        while not later.requests:
            await asyncio.sleep(0.001)
        return later

    assert asyncio.run(asyncio.wait_for(ask(), 600)).requests == ["live"]
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


def test_a_session_has_the_private_names_that_the_patch_uses() -> None:
    assert {"_scriptrunner", "_event_loop", "_state"} <= set(AppSession.__init__.__code__.co_names)


def test_no_message_is_large_enough_to_be_cached_by_a_browser() -> None:
    settings = dict(re.findall(r"^(m\w+) = (\S+)$", CONFIG.read_text(encoding="utf-8"), re.MULTILINE))
    assert float(settings["minCachedMessageSize"]) > float(settings["maxMessageSize"]) * 2**20


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that Streamlit asks; nothing is sent."""
    requests: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: requests.append(url))
    monkeypatch.setattr(net_util, "_external_ip", None)
    return requests


def test_the_patch_stops_requests_about_a_foreign_origin(requests: list[str]) -> None:
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert requests
    requests.clear()
    patches.patch_addresses()
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert server_util.is_url_from_allowed_origins("http://localhost:8501")
    assert not requests


def test_streamlit_accepts_pages_of_other_ports_and_the_patch_refuses_them() -> None:
    assert starlette_websocket._is_origin_allowed(OTHER_PORT, HOST)
    patches.patch_origins()
    assert not starlette_websocket._is_origin_allowed(OTHER_PORT, HOST)
    assert starlette_websocket._is_origin_allowed(f"http://{HOST}", HOST)
    assert not starlette_websocket._is_origin_allowed("http://evil.example", HOST)


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        (None, True),
        ("http://localhost:8501", True),
        (OTHER_PORT, False),
        ("http://localhost", False),
        ("http://127.0.0.1:8501", False),
        ("http://[::1]:8501", False),
        ("http://[", False),
    ],
)
def test_another_port_is_another_origin(origin: str | None, is_own: bool) -> None:
    assert is_own_origin(origin, HOST) is is_own


@pytest.mark.parametrize(("origin", "shown"), [(OTHER_PORT, False), (f"http://{HOST}", True)])
def test_an_unpatched_server_serves_nothing_to_other_ports(
    make_run: MakeRun, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, origin: str, shown: bool
) -> None:
    make_run("ugs")
    headers: Mapping[str, str] = {"Origin": origin, "Host": HOST}
    monkeypatch.setattr(type(st.context), "headers", headers)
    app = open_page("runs")
    assert bool(app.title) is shown


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Start with a version of Streamlit and a value of the switch."""

    def start(version: str, switch: str = "") -> bool:
        monkeypatch.setattr(st, "__version__", version)
        monkeypatch.setenv(patches.SWITCH, switch)
        return patches.apply_patches.__wrapped__()

    return start


def is_patched() -> bool:
    return all(getattr(owner, name) is not function for (owner, name), function in ORIGINAL.items())


def test_the_installed_version_is_patched(start: Callable[..., bool]) -> None:
    assert start(st.__version__)
    assert is_patched()


@pytest.mark.parametrize(("version", "switch"), [("99.0.0", ""), (patches.VERSIONS[-1], "0")])
def test_unknown_versions_and_the_switch_disable_the_patches(
    start: Callable[..., bool], caplog: pytest.LogCaptureFixture, version: str, switch: str
) -> None:
    with caplog.at_level(logging.WARNING):
        assert not start(version, switch)
    assert not any(getattr(owner, name) is not function for (owner, name), function in ORIGINAL.items())
    (record,) = caplog.records
    assert version in record.getMessage()


def test_the_switch_patches_an_unknown_version(start: Callable[..., bool]) -> None:
    assert start("99.0.0", "1")
    assert is_patched()
