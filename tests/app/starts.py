"""A start of the app as a person types it: where it listens, what it prints and what its first page is given."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import Origin, Subprotocol
from websockets.sync.client import connect

from tests.browser.conftest import free_port, wait_for
from tests.browser.raw_requests import request

LOOPBACK = {"127.0.0.1", "::1"}
SECONDS = 240.0
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
    """What a session is sent first: whether to collect statistics, alerts, and whether there are pages."""

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
