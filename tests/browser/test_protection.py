"""The server's answers to other origins and malformed requests; no request to another machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Page, expect

from app.main import PAGES
from glt.store import Store
from tests.browser.conftest import serving
from tests.browser.test_accessible import SETTLED
from tests.browser.test_runs import SHORT, start
from tests.opening import handshake, request

GUARD = Path(__file__).parents[1] / "odd_machine"
ROOT = Path(__file__).parents[2]


def guarded(log: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(GUARD), str(ROOT)]), "GLT_NETWORK_LOG": str(log)}


def test_the_guard_notices_a_request(tmp_path: Path) -> None:
    script = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=1)"
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **guarded(tmp_path / "log")}, check=False)
    assert done.returncode
    assert "192.0.2.1" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("titles", [("Runs",), pytest.param(PAGES, marks=pytest.mark.long)])
def test_no_page_makes_an_outside_request(page: Page, store: Store, tmp_path: Path, titles: tuple[str, ...]) -> None:
    """The fixture `context` lets the browser reach the app alone and fails the test for any other request."""
    log = tmp_path / "network.log"
    with serving(store.root, guarded(log)) as address:
        for title in titles:
            page.goto(f"{address}/{title.lower()}")
            page.wait_for_function(SETTLED)
        assert handshake(address, Origin="http://evil.example") == 403
    assert not log.exists(), log.read_text()


@pytest.mark.long
def test_no_job_makes_an_outside_request(page: Page, store: Store, tmp_path: Path) -> None:
    log = tmp_path / "network.log"
    with serving(store.root, guarded(log)) as address:
        start(page, address, SHORT)
        expect(page.locator(".st-key-seed-row-0")).to_contain_text("done")
    assert not log.exists(), log.read_text()


@pytest.mark.long
def test_reading_ogb_data_makes_no_request(test_data: Path, tmp_path: Path) -> None:
    """The ogb package starts a thread that looks for a newer version unless it is prevented."""
    log = tmp_path / "network.log"
    environment = {**os.environ, **guarded(log), "GLT_DATA": str(test_data / "ogb_sample"), "GLT_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "glt.datasets.cache", "ogbn-arxiv"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not log.exists(), log.read_text()


@pytest.mark.parametrize("verb", ["list", "doctor"])
def test_commands_make_no_request(store: Store, tmp_path: Path, verb: str) -> None:
    log = tmp_path / "network.log"
    command = [sys.executable, "-m", "glt", verb, "--store", str(store.root)]
    subprocess.run(command, env={**os.environ, **guarded(log)}, capture_output=True, check=False, cwd=ROOT)
    assert not log.exists(), log.read_text()


FOREIGN = "http://evil.example"
# Texts of /etc/passwd and of the program's own sources and settings.
SECRETS = (b"root:", b"[server]", b"allowedHosts", b"def main()")
UP = "../" * 8
ESCAPED = "%2e%2e/" * 8
TRICKS = (
    f"/app/static/{UP}etc/passwd", f"/app/static/{ESCAPED}etc/passwd", "/app/static/main.py", f"/static/{UP}etc/passwd",
    f"/static/{ESCAPED}etc/passwd", "/static/..%2f..%2f..%2f..%2fetc/passwd", f"/static/..%5c..%5c{UP}etc/passwd",
    f"/component/glt_studio.picking/{UP}etc/passwd", f"/component/{ESCAPED}etc/passwd", "/component//etc/passwd",
    f"/_stcore/bidi-components/glt_studio.picking/{ESCAPED}etc/passwd", f"/media/{UP}etc/passwd",
    f"/media/{ESCAPED}etc/passwd", f"/{UP}etc/passwd", f"/{ESCAPED}etc/passwd", "//etc/passwd", "/%00",
    "/.streamlit/config.toml", f"/{ESCAPED}.streamlit/config.toml", "/main.py", "/app/main.py", "/C:/Windows/win.ini",
    "/%ff%fe", "/curves/" + UP, "/_stcore/" + ESCAPED + "etc/passwd", "/\\\\host\\share\\a",
)  # fmt: skip


def test_the_server_listens_on_localhost_only(address: str) -> None:
    port = urlsplit(address).port
    listening = [each for each in psutil.net_connections("tcp") if each.status == "LISTEN" and each.laddr.port == port]
    assert listening
    assert {each.laddr.ip for each in listening} <= {"127.0.0.1", "::1"}


def test_a_foreign_page_opens_no_session(address: str) -> None:
    port = urlsplit(address).port
    assert handshake(address, Origin=address) == 101
    assert handshake(address, Origin=FOREIGN) == 403
    assert handshake(address, Origin="null") == 403
    assert handshake(address, Origin=f"http://localhost.evil.example:{port}") == 403


def test_a_page_of_another_port_opens_no_session(address: str, page: Page) -> None:
    page.goto(address)
    page.wait_for_function("document.querySelector('h1')")
    assert handshake(address, Origin="http://localhost:9") == 403
    assert handshake(address, Origin="http://127.0.0.1:9") == 403
    assert handshake(address, Origin="http://[::1]:9") == 403
    assert handshake(address, Origin="http://localhost") == 403
    assert handshake(address, Origin=address) == 101


def test_an_unknown_host_name_gets_an_empty_page(address: str) -> None:
    """What SECURITY.md says of it: the files of Streamlit's page, which hold nothing of the store."""
    rebound = {"Host": f"evil.example:{urlsplit(address).port}"}
    assert request(address, "/", **rebound).body == request(address, "/").body
    assert handshake(address, **rebound) == 403


def test_a_rebound_host_name_opens_no_session(address: str) -> None:
    """DNS rebinding: the page's own name leads to this machine, so that origin and host are equal."""
    port = urlsplit(address).port
    rebound = f"evil.example:{port}"
    assert handshake(address, Host=rebound, Origin=f"http://{rebound}") == 403
    assert handshake(address, Host=rebound) == 403
    assert handshake(address, Host=f"127.0.0.1:{port}", Origin=f"http://127.0.0.1:{port}") == 101


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_uploads_and_downloads_need_the_session_token(address: str, method: str) -> None:
    path = "/_stcore/upload_file/session/file"
    assert request(address, path, method, b"x").status == 403
    assert request(address, path, method, b"x", Origin=FOREIGN, X_Xsrftoken="made-up").status == 403
    guessed = {"Cookie": "_streamlit_xsrf=a", "X_Xsrftoken": "b"}
    assert request(address, path, method, b"x", Origin=FOREIGN, **guessed).status == 403


def test_no_cross_origin_headers_are_sent(address: str) -> None:
    for path in ("/_stcore/health", "/_stcore/host-config", "/", "/_stcore/metrics", "/media/x"):
        allowed = request(address, path, Origin=FOREIGN).headers.get("access-control-allow-origin")
        assert allowed is None, path
    headers = request(address, "/_stcore/upload_file/a/b", "OPTIONS", Origin=FOREIGN).headers
    assert "evil" not in headers.get("access-control-allow-origin", "")


def test_no_control_endpoint_is_open(address: str) -> None:
    for path in ("/_stcore/agent/interact", "/_stcore/agent/mcp"):
        answer = request(address, path, "POST", b"{}")
        assert answer.status >= 400
        assert b"does not serve" in answer.body or answer.status in {403, 404, 405}


@pytest.mark.parametrize("path", TRICKS)
def test_no_url_path_reaches_a_file(address: str, path: str) -> None:
    answer = request(address, path)
    assert answer.status < 500
    assert not any(secret in answer.body for secret in SECRETS)


def test_oversized_requests_are_refused(address: str) -> None:
    assert request(address, "/curves?runs=" + "a" * 100_000).status in {200, 400, 414, 431}
    assert request(address, "/", Cookie="a=" + "b" * 100_000).status in {200, 400, 431}
    assert request(address, "/_stcore/health").status == 200


def test_the_server_log_has_no_traceback(store_log: Path) -> None:
    assert "Traceback" not in store_log.read_text()


@pytest.fixture
def store_log(address: str, store: object) -> Path:
    """What the server has printed so far."""
    return Path(store.root).parent / "server.log"  # type: ignore[attr-defined]
