"""Sessions of the app for its benchmarks: the server process, and a visitor without a browser.

`Visitor` speaks the protocol of Streamlit's client over a websocket.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlencode

import psutil
import websockets
from playwright.sync_api import Page
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from docs.screenshots import SETTLED


@contextmanager
def opened_store(home: Path, store: Path | None) -> Iterator[Path]:
    """Link a store to where a server with home folder `home` looks for it."""
    runs = home / "runs"
    if store is not None:
        runs.symlink_to(store.absolute())
    yield runs


def settled(page: Page) -> None:
    """Wait until a page has a heading and has finished computing."""
    page.wait_for_function("document.querySelector('h1')")
    page.wait_for_function(SETTLED)


def server_of() -> psutil.Process:
    """Return the server process started by this one."""
    return next(child for child in psutil.Process().children() if "streamlit" in child.cmdline())


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds that a process has used."""
    used = process.cpu_times()
    return round(float(used.user + used.system), 3)


def browser_cpu_seconds(server: psutil.Process) -> float:
    """Return the CPU seconds of the browser and its driver."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used += cpu_seconds(process) if process != server else 0.0
    return used


def megabytes(process: psutil.Process) -> int:
    """Return the resident memory of a process in MB."""
    return round(process.memory_info().rss / 1e6)


# A visitor without a browser.

# Seconds until a script counts as stuck.
PATIENCE = 120.0
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class Answer(NamedTuple):
    """One script run: its page, whether a fragment refreshed itself, seconds and bytes."""

    page: str
    live: bool
    seconds: float
    size: int


class Visitor:
    """A session that opens pages, flips toggles and refreshes fragments as a tab does."""

    def __init__(self, address: str, chance: random.Random) -> None:
        self.answers: list[Answer] = []
        self.errors: list[str] = []
        self._address, self._chance = address, chance
        self._page, self._query = "", ""
        self._socket: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._hashes: dict[str, str] = {}
        self._toggles: dict[str, bool] = {}
        self._asked: tuple[float, bool] | None = None
        self._size = 0
        self._finished = asyncio.Event()

    async def __aenter__(self) -> Visitor:
        """Connect as a browser does."""
        origin = self._address
        stream = f"{origin.replace('http', 'ws', 1)}/_stcore/stream"
        self._socket = await connect(
            stream, subprotocols=[websockets.Subprotocol("streamlit")], origin=websockets.Origin(origin), max_size=None
        )
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave as a closed tab does."""
        self._stop_timers()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()

    async def open(self, page: str, **view: str) -> float:
        """Open a page; return the seconds until its script has finished."""
        self._toggles.clear()
        self._page, self._query = page, urlencode(view)
        return await self._run()

    async def click(self) -> float:
        """Flip one of the page's toggles, or reload a page without any."""
        if not self._toggles:
            return await self._run()
        chosen = self._chance.choice(sorted(self._toggles))
        self._toggles[chosen] = not self._toggles[chosen]
        return await self._run()

    async def _run(self) -> float:
        # A full run announces its refreshing fragments anew.
        self._stop_timers()
        self._finished.clear()
        begun = time.perf_counter()
        await self._ask("")
        assert self._listening is not None
        finished = asyncio.create_task(self._finished.wait())
        await asyncio.wait([finished, self._listening], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not finished.done():
            finished.cancel()
            self.errors.append(f"{self._page}: {_why_none(self._listening)}")
        return time.perf_counter() - begun

    async def _ask(self, fragment: str) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.fragment_id, state.is_auto_rerun = self._query, fragment, bool(fragment)
        if self._page in self._hashes:
            state.page_script_hash = self._hashes[self._page]
        else:
            state.page_name = self._page
        for widget, value in self._toggles.items():
            state.widget_states.widgets.add(id=widget, bool_value=value)
        if self._asked is None or not fragment:
            self._asked = time.perf_counter(), bool(fragment)
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _listen(self) -> None:
        assert self._socket is not None
        try:
            async for data in self._socket:
                message = ForwardMsg()
                message.ParseFromString(data)
                self._size += len(data)
                self._take(message)
            self.errors.append(f"{self._page}: the server closed the connection")
        except websockets.ConnectionClosedError as error:
            self.errors.append(f"{self._page}: {error}")

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "delta":
            self._look_at(message)
        elif kind == "navigation":
            self._hashes = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_timers(*message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished":
            self._finish(message.script_finished)
        elif kind == "page_not_found" or message.session_event.HasField("script_compilation_exception"):
            self.errors.append(f"{self._page}: {kind}")

    def _look_at(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{self._page}: {element.exception.type}: {element.exception.message}")
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            self.errors.append(f"{self._page}: {element.alert.body}")
        elif kind == "checkbox" and not element.checkbox.disabled:
            now = element.checkbox.value if element.checkbox.set_value else element.checkbox.default
            self._toggles.setdefault(element.checkbox.id, now)

    def _finish(self, status: int) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.errors.append(f"{self._page}: the script could not be compiled")
        if status in FINISHED and self._asked is not None:
            begun, live = self._asked
            if not live and status != ForwardMsg.FINISHED_SUCCESSFULLY:
                return
            self.answers.append(Answer(self._page, live, time.perf_counter() - begun, self._size))
            self._asked, self._size = None, 0
            if not live:
                self._finished.set()

    def _start_timer(self, fragment: str, interval: float) -> None:
        if fragment not in self._timers:
            self._timers[fragment] = asyncio.create_task(self._tick(fragment, interval))

    def _stop_timers(self, *fragments: str) -> None:
        for fragment in fragments or tuple(self._timers):
            timer = self._timers.pop(fragment, None)
            if timer is not None:
                timer.cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._ask(fragment)


def _why_none(listening: asyncio.Task[None]) -> str:
    """Return why a request has no answer."""
    if not listening.done():
        return f"no answer within {PATIENCE:.0f} s"
    failed = listening.exception()
    return f"an answer could not be read: {failed!r}" if failed else "no answer: the connection has ended"
