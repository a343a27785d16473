"""Downloading an OGB set: announced, whole or not at all, one sentence without a network or room, no question."""

from __future__ import annotations

import builtins
import io
import shutil
import ssl
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

import pytest

from glt.datasets import DATASETS
from glt.errors import DataError
from glt.formats import file_size
from tests.datasets.conftest import FOLDERS, files_under, lines_of

# What OGB calls the archive and the folder in it.
ARCHIVES = {"ogbn-arxiv": "arxiv", "ogbn-proteins": "proteins", "ogbl-collab": "collab"}


class Free(NamedTuple):
    total: int
    used: int
    free: int


class Answer(io.BytesIO):
    """An answer of a web server."""

    def info(self) -> dict[str, str]:
        return {"Content-Length": str(len(self.getvalue()))}


def packed(samples: Path, name: str, leave_out: str = "") -> bytes:
    buffer = io.BytesIO()
    folder = samples / FOLDERS[name]
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != leave_out:
                archive.write(path, f"{ARCHIVES[name]}/{path.relative_to(folder)}")
    return buffer.getvalue()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], list[str]]:
    """Answer every request with `content`; returns the list of addresses asked for."""

    def start(content: bytes) -> list[str]:
        asked: list[str] = []

        def answer(url: str, timeout: float) -> Answer:
            asked.append(url)
            return Answer(content)

        monkeypatch.setattr(urllib.request, "urlopen", answer)
        return asked

    return start


def certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed (_ssl.c:1006)")
    error.verify_message = "unable to get local issuer certificate"
    return error


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(url: str, timeout: float) -> None:
        raise URLError(OSError(-2, "Name or service not known"))

    monkeypatch.setattr(urllib.request, "urlopen", fail)


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(prompt: object = "") -> str:
        pytest.fail(f"asked {prompt}")

    monkeypatch.setattr(builtins, "input", ask)


def refusal(name: str) -> str:
    with pytest.raises(DataError) as caught:
        DATASETS.get(name).load()
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_download_is_announced_and_leaves_the_data_set_alone(
    name: str,
    ogb_root: Path,
    samples: Path,
    serve: Callable[[bytes], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = packed(samples, name)
    asked = serve(content)
    graph = DATASETS.get(name).load()
    told = capsys.readouterr()
    assert told.out == ""
    assert f"Downloading {name} (" in told.err
    assert f"kB) to {ogb_root / FOLDERS[name]}" in told.err
    assert "free there." in told.err
    assert f" of {file_size(len(content))}" in told.err
    assert all(url.endswith(f"/{ARCHIVES[name]}.zip") for url in asked)
    assert files_under(ogb_root / FOLDERS[name]) == files_under(samples / FOLDERS[name])
    assert {path.name for path in ogb_root.iterdir()} == {FOLDERS[name]}
    assert graph.num_nodes == int(lines_of(samples / FOLDERS[name] / "raw/num-node-list.csv.gz")[0])
    asked.clear()
    DATASETS.get(name).load()
    assert not asked


@pytest.mark.usefixtures("no_network")
def test_no_network_is_the_same_sentence_twice_and_leaves_nothing(ogb_root: Path) -> None:
    first, second = refusal("ogbn-arxiv"), refusal("ogbn-arxiv")
    assert first == second
    assert first.startswith("ogbn-arxiv could not be downloaded (Name or service not known): connect to the network")
    assert str(ogb_root / "ogbn_arxiv") in first
    assert not ogb_root.exists()


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (certificate_error(), "the server's certificate was not accepted: unable to get local issuer certificate"),
        (ssl.SSLEOFError(8, "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF (_ssl.c:1006)"), "no secure connection to the"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"), "no secure connection to"),
    ],
)
def test_a_connection_that_is_not_secure_is_said_in_words(
    ogb_root: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, why: str
) -> None:
    def fail(url: str, timeout: float) -> None:
        raise URLError(error)

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    told = refusal("ogbn-arxiv")
    assert f"ogbn-arxiv could not be downloaded ({why}" in told
    assert "_ssl.c" not in told
    assert f"put its files (raw, split and RELEASE_v1.txt) into {ogb_root / 'ogbn_arxiv'}; GLT_DATA names" in told


@pytest.mark.usefixtures("no_network")
def test_what_a_failed_download_of_ogb_left_is_no_reason_to_ask(ogb_root: Path) -> None:
    (ogb_root / "ogbn_arxiv" / "raw").mkdir(parents=True)
    assert refusal("ogbn-arxiv") == refusal("ogbn-arxiv")


def test_what_a_failed_download_of_ogb_left_is_replaced(
    ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]]
) -> None:
    (ogb_root / "ogbn_arxiv" / "raw").mkdir(parents=True)
    (ogb_root / "ogbn_arxiv" / "RELEASE_v1.txt").touch()
    serve(packed(samples, "ogbn-arxiv"))
    DATASETS.get("ogbn-arxiv").load()
    assert files_under(ogb_root / "ogbn_arxiv") == files_under(samples / "ogbn_arxiv")


def test_what_else_a_user_keeps_there_stays(ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]]) -> None:
    (ogb_root / "ogbn_arxiv" / "raw").mkdir(parents=True)
    (ogb_root / "ogbn_arxiv" / "notes.txt").write_text("mine")
    serve(packed(samples, "ogbn-arxiv"))
    DATASETS.get("ogbn-arxiv").load()
    assert files_under(ogb_root / "ogbn_arxiv") == files_under(samples / "ogbn_arxiv") | {"notes.txt"}


@pytest.mark.parametrize("what", ["cut short", "a page", "without a file"])
def test_half_a_download_or_another_one_is_not_kept(
    what: str, ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]]
) -> None:
    whole = packed(samples, "ogbn-arxiv")
    contents = {
        "cut short": whole[: len(whole) // 2],
        "a page": b"<html>Sign in</html>",
        "without a file": packed(samples, "ogbn-arxiv", leave_out="node-label.csv.gz"),
    }
    serve(contents[what])
    message = refusal("ogbn-arxiv")
    assert message.startswith("ogbn-arxiv could not be downloaded (")
    assert ".download-" not in message
    assert message == refusal("ogbn-arxiv")
    assert files_under(ogb_root) == set()


def test_too_little_room_is_said_before_anything_is_written(
    ogb_root: Path, samples: Path, serve: Callable[[bytes], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed(samples, "ogbn-arxiv")
    serve(content)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Free(10**9, 10**9 - len(content), len(content)))
    message = refusal("ogbn-arxiv")
    assert "are needed to download ogbn-arxiv" in message
    assert "make room" in message
    assert not ogb_root.exists()


def test_a_data_root_that_cannot_be_used_is_one_sentence(
    ogb_root: Path, tmp_path: Path, samples: Path, serve: Callable[[bytes], list[str]]
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    serve(packed(samples, "ogbn-arxiv"))
    message = refusal("ogbn-arxiv")
    assert "set GLT_DATA to a folder of your own" in message
    assert str(ogb_root / "ogbn_arxiv") in message
