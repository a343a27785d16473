"""Files of the Open Graph Benchmark: where they lie, whether they are complete, and their download.

OGB's files are read here and not by its package: that one asks on standard input, downloads unasked, and writes beside
the files.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from glt.datasets.cache import check_room, scratch_folder
from glt.errors import DataError
from glt.formats import count, file_size
from glt.user_path import data_root, free_bytes

RELEASE = "RELEASE_v1.txt"
NODE_COUNT, EDGE_COUNT = "num-node-list", "num-edge-list"
TABLE = ".csv.gz"
# ogb itself renames the first to the second in the user's folder.
OTHER_NAMES = {"node_species": "species"}
_PARTS = ("train", "valid", "test")
# Unpacked at a time; no row of numbers is as long.
_CHUNK = 1 << 22
_LONGEST_NUMBER = 100
_ADDRESS = "http://snap.stanford.edu/ogb/data"
SECONDS_OF_SILENCE = 60
# The archive and what it unpacks to, which is packed itself, lie side by side for a moment; some room to spare.
ROOM = 2.2


@dataclass(frozen=True)
class OgbFiles:
    """Tables of one row a node (`node...`) or a raw edge (`edge...`) in raw/, and a split in split/KIND/.

    `archive` is the published .zip below OGB's address, without its ending; its last part is the folder inside.
    """

    name: str
    tables: tuple[str, ...]
    split: str
    archive: str
    split_ending: str = TABLE

    @property
    def folder_name(self) -> str:
        """What ogb calls the folder."""
        return self.name.replace("-", "_")

    def raw(self, folder: Path) -> dict[str, Path]:
        """Return the path of every file in raw/ by its name without ending."""
        return {name: _table(folder / "raw", name) for name in (*self.tables, NODE_COUNT, EDGE_COUNT)}

    def parts(self, folder: Path) -> dict[str, Path]:
        """Return the path of each part of the split."""
        return {part: folder / "split" / self.split / f"{part}{self.split_ending}" for part in _PARTS}

    def paths(self, folder: Path) -> list[Path]:
        """Return the paths of all files that reading takes."""
        return [*self.raw(folder).values(), *self.parts(folder).values(), folder / RELEASE]


def _table(raw: Path, name: str) -> Path:
    path = raw / f"{name}{TABLE}"
    other = raw / f"{OTHER_NAMES[name]}{TABLE}" if name in OTHER_NAMES else path
    return other if other.is_file() else path


def ogb_folder(files: OgbFiles) -> Path:
    """Return the folder of a data set: in `ogb` of the data root, or in that root itself where it is there.

    The data root is `GLT_DATA`, by default in the user's cache folder. The second form, also under the name that
    ogb gave it in earlier versions, lets `GLT_DATA` name a folder that ogb has been using already.
    """
    root = data_root()
    own = root / "ogb" / files.folder_name
    used = [own, root / files.folder_name, root / f"{files.folder_name}_pyg"]
    return next((folder for folder in used if folder.is_dir()), own)


def check_folders(files: OgbFiles, folder: Path) -> None:
    """Raise DataError where the data set's folder or one in it is a file, or a link that leads nowhere."""
    for path in (folder, folder / "raw", folder / "split", folder / "split" / files.split):
        if os.path.lexists(path) and not path.is_dir():
            raise DataError(
                f"{path} should be a folder of {files.name} and is a file or a link that leads nowhere: move it away "
                "and start again."
            )


def is_absent(files: OgbFiles, folder: Path) -> bool:
    """Say whether no table and no part of the split is there: an empty folder is what a failed download leaves."""
    return not any(path.is_file() for path in files.paths(folder) if path.name != RELEASE)


def remove_half_made(files: OgbFiles, folder: Path) -> None:
    """Remove the empty folders and the release note of a failed download, never anything that a user keeps there."""
    for path in (folder / "raw", folder / "split" / files.split, folder / "split", folder / "processed"):
        with contextlib.suppress(OSError):
            path.rmdir()
    with contextlib.suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {RELEASE}:
            (folder / RELEASE).unlink(missing_ok=True)
            folder.rmdir()


def missing(files: OgbFiles, folder: Path) -> str:
    """Name the files that are not there, with commas between."""
    return ", ".join(str(path.relative_to(folder)) for path in files.paths(folder) if not path.is_file())


def check_complete(files: OgbFiles, folder: Path) -> None:
    """Raise DataError where files are missing beside others that are there."""
    if lacks := missing(files, folder):
        raise DataError(
            f"{files.name} in {folder} is incomplete ({lacks} missing): put what is missing there, "
            f"or move the folder away and start again to download it."
        )


def check_rows(files: OgbFiles, folder: Path) -> None:
    """Raise DataError for a table that cannot be unpacked or has not one row for each node or raw edge."""
    nodes, edges = stated_counts(files, folder)
    for name in files.tables:
        path = files.raw(folder)[name]
        wanted, unit = (nodes, "node") if name.startswith("node") else (edges, "edge")
        rows = row_count(path, wanted)
        if rows != wanted:
            stated = NODE_COUNT if unit == "node" else EDGE_COUNT
            many = f"{'more than ' if rows > wanted else ''}{count(min(rows, wanted))}"
            raise refusal(path, f"has {many} rows, and {stated}{TABLE} says {count(wanted)} {unit}s")


def stated_counts(files: OgbFiles, folder: Path) -> tuple[int, int]:
    """Return the numbers of nodes and of raw edges that the two lists state; raises DataError for anything else."""
    raw = files.raw(folder)
    return _stated(raw[NODE_COUNT]), _stated(raw[EDGE_COUNT])


def _stated(path: Path) -> int:
    try:
        with gzip.open(path) as file:
            # More is no number, and may be without end.
            number = int(file.read(_LONGEST_NUMBER))
    except (OSError, EOFError, ValueError, zlib.error):
        number = 0
    if number < 1:
        raise refusal(path, "is not one whole number above 0")
    return number


def row_count(path: Path, most: int) -> int:
    """Return the rows of a table; counting ends soon after `most`, for a packed file may be almost without end."""
    rows, last = 0, b"\n"
    try:
        with gzip.open(path) as table:
            while rows <= most and (chunk := table.read(_CHUNK)):
                here = chunk.count(b"\n")
                if not here and len(chunk) == _CHUNK:
                    raise refusal(path, f"has a row of more than {file_size(_CHUNK)}")
                rows, last = rows + here, chunk[-1:]
    except (OSError, EOFError, zlib.error) as error:
        raise refusal(path, f"cannot be unpacked ({error})") from error
    return rows + (last != b"\n")


def fingerprint(files: OgbFiles, folder: Path) -> str:
    """Return a hash of where the files are, how large and of when: another one for files that were changed."""
    stats = [(path, os.stat(path)) for path in map(str, files.paths(folder.resolve()))]  # noqa: PTH116 - called often
    facts = [(path, stat.st_size, stat.st_mtime_ns) for path, stat in stats]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def refusal(path: Path, why: str) -> DataError:
    """Return the one sentence about a file that is not what it should be."""
    return DataError(
        f"{path} {why}: put the published file there, or move the data set's folder away and start again to download "
        "it."
    )


def download(files: OgbFiles, folder: Path) -> None:
    """Fetch the data set into `folder`, which holds none of it yet.

    Size, place and free room are said on standard error before it starts. Raises DataError without a network or room.
    """
    # Slow to load, and every listing of data sets loads this file.
    import urllib.request

    with _failing_in_one_sentence(files, folder):
        address = f"{_ADDRESS}/{files.archive}.zip"
        answer = urllib.request.urlopen(address, timeout=SECONDS_OF_SILENCE)  # noqa: S310 - the address is OGB's
    with answer:
        with _failing_in_one_sentence(files, folder):
            size = int(answer.info()["Content-Length"])
        check_room(folder, int(ROOM * size), f"to download {files.name}")
        _say(f"Downloading {files.name} ({file_size(size)}) to {folder}, {file_size(free_bytes(folder))} free there.")
        remove_half_made(files, folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(folder.parent, ".download-") as partial:
            with _failing_in_one_sentence(files, folder):
                _unpack(answer, size, partial)
                unpacked = partial / files.archive.rpartition("/")[2]
                if lacks := missing(files, unpacked):
                    raise ValueError(f"what came has no {lacks}")
            _put(unpacked, files, folder)


def _unpack(answer: IO[bytes], size: int, into: Path) -> None:
    """Write the archive to `into`, say how far it is at every tenth, and unpack it."""
    archive, came = into / "archive.zip", 0
    with archive.open("wb") as file:
        while chunk := answer.read(1 << 20):
            file.write(chunk)
            tenth, came = 10 * came // size, came + len(chunk)
            if 10 * came // size > tenth:
                _say(f"{file_size(came)} of {file_size(size)}")
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(into)
    archive.unlink()


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


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
