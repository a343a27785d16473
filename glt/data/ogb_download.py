"""Downloading a data set of OGB: announced, into a folder beside the final one, whole or not at all."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from glt.data.ogb_files import RELEASE, OgbFiles, is_absent, missing, remove_half_made
from glt.data.ogb_package import master_entry, ogb_module, unattended
from glt.data.room import check_room, free_bytes
from glt.data.scratch import scratch_folder
from glt.errors import DataError
from glt.formats import file_size

SECONDS_OF_SILENCE = 60
# The archive and what it unpacks to, which is packed itself, lie side by side for a moment; some room to spare.
ROOM = 2.2


def download(files: OgbFiles, folder: Path, kind: str) -> None:
    """Fetch the data set into `folder`, which holds none of it yet.

    Size, place and free room are said on standard error before it starts. Raises DataError without a network or room.
    """
    about = master_entry(kind, files.name)
    with _failing_in_one_sentence(files, folder):
        size = _size(about["url"])
    check_room(folder, int(ROOM * size), f"to download {files.name}")
    free = file_size(free_bytes(folder))
    print(f"Downloading {files.name} ({file_size(size)}) to {folder}, {free} free there.", file=sys.stderr, flush=True)
    remove_half_made(files, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder.parent, ".download-") as partial:
        with _failing_in_one_sentence(files, folder):
            unpacked = _fetch(about["url"], partial) / about["download_name"]
            if lacks := missing(files, unpacked):
                raise ValueError(f"what came has no {lacks}")
        _put(unpacked, files, folder)


def _size(url: str) -> int:
    # Slow to load, and every listing of data sets loads this file.
    import urllib.request

    with _impatient(), urllib.request.urlopen(url) as answer:  # noqa: S310 - the address is ogb's own
        return int(answer.info()["Content-Length"])


def _fetch(url: str, into: Path) -> Path:
    """Let ogb fetch the archive, with its progress bar, and unpack it; returns `into`."""
    fetching = ogb_module("ogb.utils.url")
    with unattended(), _impatient():
        archive = fetching.download_url(url, str(into))
        fetching.extract_zip(archive, str(into))
    Path(archive).unlink()
    return into


def _put(unpacked: Path, files: OgbFiles, folder: Path) -> None:
    try:
        if not folder.exists():
            unpacked.replace(folder)
            return
        # Beside what a user keeps there; the release note comes last, so that a part is seen to be one.
        for made in sorted(unpacked.iterdir(), key=lambda path: path.name == RELEASE):
            made.replace(folder / made.name)
    except OSError:
        # Another process may have finished the same download first.
        if is_absent(files, folder):
            raise


@contextlib.contextmanager
def _impatient() -> Iterator[None]:
    """Let connections fail that say nothing for a minute; ogb's own would wait for ever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SECONDS_OF_SILENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


@contextlib.contextmanager
def _failing_in_one_sentence(files: OgbFiles, folder: Path) -> Iterator[None]:
    try:
        yield
    # Broken connections, archives and answers each raise something else.
    except Exception as error:
        raise DataError(
            f"{files.name} could not be downloaded ({_why(error)}): connect to the network and start again, "
            f"or put its files (raw, split and {RELEASE}) into {folder}; GLT_DATA names another folder of data."
        ) from error


def _why(error: Exception) -> str:
    """Return what went wrong in words.

    What urllib raises has the system's error in it, and that one a number before its words. An error of the TLS library
    is its own name, a number and the line of its source; what it means here is that no secure connection was made.
    """
    reason = getattr(error, "reason", error)
    if certificate := getattr(reason, "verify_message", None):
        return f"the server's certificate was not accepted: {certificate}"
    if type(reason).__name__.startswith("SSL"):
        return "no secure connection to the server could be made"
    words = str(getattr(reason, "strerror", None) or reason)
    return " ".join(words.split()).rstrip(".") or type(error).__name__
