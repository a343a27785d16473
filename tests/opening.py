"""Pages of the app in AppTest, servers of the app, and raw HTTP requests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psutil
import pytest
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from websockets import Origin, Subprotocol
from websockets.sync.client import connect

MAIN = Path(__file__).parents[1] / "app" / "main.py"
# Generous, since the machine may be busy.
SECONDS = 1800


def open_at(name: str, view: Mapping[str, str | list[str]], seconds: float = SECONDS) -> AppTest:
    """Open a page with query parameters; it has so many seconds."""
    load_settings()
    app = AppTest.from_file(MAIN, default_timeout=seconds)
    app._page_hash = calc_hash(name)
    for key, value in view.items():
        app.query_params[key] = value
    return app.run()


def load_settings() -> None:
    """Have Streamlit read the app's settings, as `streamlit run` does and AppTest does not."""
    if config._main_script_path != str(MAIN):
        config._main_script_path = str(MAIN)
        config.get_config_options(force_reparse=True)


WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


class Answer(NamedTuple):
    """The status, the headers by small name, and what came with them."""

    status: int
    headers: dict[str, str]
    body: bytes


def request(address: str, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """Send one request and return the answer; a keyword `X_Name` is the header X-Name."""
    place = urlsplit(address)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Host": place.netloc, "Connection": "close", "Content-Length": str(len(body)), **named}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
        connection.sendall(head.encode("latin-1") + body)
        return _answer(connection)


def handshake(address: str, **headers: str) -> int:
    """Ask for the websocket that a page is drawn by, and return the status: 101 is yes."""
    place = urlsplit(address)
    lines = {"Host": place.netloc, **WEBSOCKET, **headers}
    head = (
        "GET /_stcore/stream HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    )
    with socket.create_connection((place.hostname, place.port), SECONDS) as connection:
        connection.sendall(head.encode())
        return int(connection.recv(64).split()[1])


def _answer(connection: socket.socket) -> Answer:
    content = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    named = (line.partition(":")[::2] for line in lines)
    return Answer(int(first.split()[1]), {name.lower(): value.strip() for name, value in named}, body)


LOOPBACK = {"127.0.0.1", "::1"}
STREAMLIT = (str(Path(sys.executable).parent / "streamlit"), "run")


@dataclass(frozen=True)
class Started:
    """A server at work: its address, the addresses it listens on and the file with what it prints."""

    address: str
    listens_on: frozenset[str]
    log: Path

    def assert_serves_this_machine_alone(self) -> None:
        """Check the listening sockets, what is printed, statistics, upload tokens and that there are pages."""
        assert self.listens_on
        assert self.listens_on <= LOOPBACK
        printed = self.log.read_text()
        assert not any(word in printed for word in ("Network URL", "External URL", "usage statistics")), printed
        assert (
            request(self.address, f"{urlsplit(self.address).path}/_stcore/upload_file/a/b", "PUT", b"x").status == 403
        )
        page = self.first_page()
        assert page.has_pages
        assert not page.collects_statistics

    def first_page(self) -> FirstPage:
        """Open a session as a browser does; take what comes until the list of pages is there or the script is done."""
        origin = f"http://{urlsplit(self.address).netloc}"
        stream = f"{self.address.replace('http', 'ws', 1)}/_stcore/stream"
        collects, texts = True, []
        with connect(stream, subprotocols=[Subprotocol("streamlit")], origin=Origin(origin), max_size=None) as to:
            message = BackMsg()
            message.rerun_script.query_string = ""
            to.send(message.SerializeToString())
            while True:
                answer = ForwardMsg()
                answer.ParseFromString(_bytes(to.recv(timeout=SECONDS)))
                kind = answer.WhichOneof("type")
                if kind == "new_session":
                    collects = answer.new_session.config.gather_usage_stats
                elif kind == "delta":
                    element = answer.delta.new_element
                    texts += [element.alert.body] if element.WhichOneof("type") == "alert" else []
                # The bare address leads on to a page: the first run of the script ends early.
                is_done = kind == "script_finished" and answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
                if kind == "navigation" or is_done:
                    return FirstPage(collects, tuple(texts), has_pages=kind == "navigation")


@dataclass(frozen=True)
class FirstPage:
    """The first messages of a session: statistics setting, alerts, and whether there are pages."""

    collects_statistics: bool
    alerts: tuple[str, ...]
    has_pages: bool


@contextmanager
def started(command: Sequence[str | Path], folder: Path, scratch: Path, base: str = "") -> Iterator[Started]:
    """Run a command that starts the app from a folder, as a person with a home of their own; `scratch` holds it.

    `base` is the path below which the app is to be served.
    """
    port, log = free_port(), scratch / "server.log"
    (scratch / "home").mkdir(exist_ok=True)
    own = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    own |= {"HOME": str(scratch / "home"), "GLT_STORE": str(scratch / "store")}
    own |= {"STREAMLIT_SERVER_PORT": str(port), "STREAMLIT_SERVER_HEADLESS": "true"}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*map(str, command)], cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    family = [psutil.Process(server.pid)]
    try:
        address = f"http://localhost:{port}{base}"
        wait_for(f"{address}/_stcore/health", server, log)
        family += family[0].children(recursive=True)
        sockets = [each for process in family for each in process.net_connections("tcp") if each.status == "LISTEN"]
        yield Started(address, frozenset(each.laddr.ip for each in sockets), log)
    finally:
        for process in reversed(family):
            process.kill()
        server.wait()
        psutil.wait_procs(family[1:])


def _bytes(data: str | bytes) -> bytes:
    assert isinstance(data, bytes)
    return data


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not start: {log.read_text()}")
