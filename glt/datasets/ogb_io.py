"""Files of the Open Graph Benchmark: paths, completeness, and download.

The ogb package is not used: it prompts on standard input, downloads without asking, and writes next to the files.
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
# ogb renames the first to the second in the user's folder.
OTHER_NAMES = {"node_species": "species"}
_PARTS = ("train", "valid", "test")
# Bytes unpacked at a time; longer than any row.
_CHUNK = 1 << 22
_LONGEST_NUMBER = 100
_ADDRESS = "http://snap.stanford.edu/ogb/data"
SECONDS_OF_SILENCE = 60
# Free space needed, as a multiple of the archive: both it and its contents exist for a moment.
ROOM = 2.2


@dataclass(frozen=True)
class OgbFiles:
    """Tables with a row per node (`node...`) or raw edge (`edge...`), and a split.

    `archive` is the path of the .zip at OGB's address without suffix; its last part is the folder inside.
    """

    name: str
    tables: tuple[str, ...]
    split: str
    archive: str
    split_ending: str = TABLE

    @property
    def folder_name(self) -> str:
        """The folder's name in ogb."""
        return self.name.replace("-", "_")

    def raw(self, folder: Path) -> dict[str, Path]:
        """Return the path of every file in raw/ by its name without ending."""
        return {name: _table(folder / "raw", name) for name in (*self.tables, NODE_COUNT, EDGE_COUNT)}

    def parts(self, folder: Path) -> dict[str, Path]:
        """Return the path of each part of the split."""
        return {part: folder / "split" / self.split / f"{part}{self.split_ending}" for part in _PARTS}

    def paths(self, folder: Path) -> list[Path]:
        """Return the paths of all files that are needed."""
        return [*self.raw(folder).values(), *self.parts(folder).values(), folder / RELEASE]


def _table(raw: Path, name: str) -> Path:
    path = raw / f"{name}{TABLE}"
    other = raw / f"{OTHER_NAMES[name]}{TABLE}" if name in OTHER_NAMES else path
    return other if other.is_file() else path


def ogb_folder(files: OgbFiles) -> Path:
    """Return the folder of a data set: in `ogb` of the data root, or in the root itself.

    The data root is `GLT_DATA`, by default in the user's cache folder. The second form allows `GLT_DATA` to name a
    folder that ogb uses.
    """
    root = data_root()
    own = root / "ogb" / files.folder_name
    used = [own, root / files.folder_name, root / f"{files.folder_name}_pyg"]
    return next((folder for folder in used if folder.is_dir()), own)


def check_folders(files: OgbFiles, folder: Path) -> None:
    """Raise DataError if a folder of the data set is a file or a broken link."""
    for path in (folder, folder / "raw", folder / "split", folder / "split" / files.split):
        if os.path.lexists(path) and not path.is_dir():
            raise DataError(
                f"{path} must be a folder of {files.name}, but it is a file or a broken link: move it away and "
                "try again."
            )


def is_absent(files: OgbFiles, folder: Path) -> bool:
    """Return whether no table and no part of the split exists, as after a failed download."""
    return not any(path.is_file() for path in files.paths(folder) if path.name != RELEASE)


def remove_half_made(files: OgbFiles, folder: Path) -> None:
    """Remove empty folders and the release note of a failed download, never a user's files."""
    for path in (folder / "raw", folder / "split" / files.split, folder / "split", folder / "processed"):
        with contextlib.suppress(OSError):
            path.rmdir()
    with contextlib.suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {RELEASE}:
            (folder / RELEASE).unlink(missing_ok=True)
            folder.rmdir()


def missing(files: OgbFiles, folder: Path) -> str:
    """Return the missing files as text, separated by commas."""
    return ", ".join(str(path.relative_to(folder)) for path in files.paths(folder) if not path.is_file())


def check_complete(files: OgbFiles, folder: Path) -> None:
    """Raise DataError if some files are missing."""
    if lacks := missing(files, folder):
        raise DataError(
            f"{files.name} in {folder} is incomplete ({lacks} missing): add the missing files, or move the folder away "
            "and try again to download it."
        )


def check_rows(files: OgbFiles, folder: Path) -> None:
    """Raise DataError for a table that cannot be unpacked or has a wrong number of rows."""
    nodes, edges = stated_counts(files, folder)
    for name in files.tables:
        path = files.raw(folder)[name]
        wanted, unit = (nodes, "node") if name.startswith("node") else (edges, "edge")
        rows = row_count(path, wanted)
        if rows != wanted:
            stated = NODE_COUNT if unit == "node" else EDGE_COUNT
            many = f"{'more than ' if rows > wanted else ''}{count(min(rows, wanted))}"
            raise refusal(path, f"has {many} rows, but {stated}{TABLE} states {count(wanted)} {unit}s")


def stated_counts(files: OgbFiles, folder: Path) -> tuple[int, int]:
    """Return the stated numbers of nodes and raw edges; raise DataError if invalid."""
    raw = files.raw(folder)
    return _stated(raw[NODE_COUNT]), _stated(raw[EDGE_COUNT])


def _stated(path: Path) -> int:
    try:
        with gzip.open(path) as file:
            # A longer text is not a number, and may be endless.
            number = int(file.read(_LONGEST_NUMBER))
    except (OSError, EOFError, ValueError, zlib.error):
        number = 0
    if number < 1:
        raise refusal(path, "does not contain one positive whole number")
    return number


def row_count(path: Path, most: int) -> int:
    """Return the number of rows; counting stops soon after `most`, as a packed file may be huge."""
    rows, last = 0, b"\n"
    try:
        with gzip.open(path) as table:
            while rows <= most and (chunk := table.read(_CHUNK)):
                lines = chunk.count(b"\n")
                if not lines and len(chunk) == _CHUNK:
                    raise refusal(path, f"has a row longer than {file_size(_CHUNK)}")
                rows, last = rows + lines, chunk[-1:]
    except (OSError, EOFError, zlib.error) as error:
        raise refusal(path, f"cannot be unpacked ({error})") from error
    return rows + (last != b"\n")


def fingerprint(files: OgbFiles, folder: Path) -> str:
    """Return a hash of the files' paths, sizes and modification times."""
    stats = [(path, os.stat(path)) for path in map(str, files.paths(folder.resolve()))]  # noqa: PTH116 - called often
    facts = [(path, stat.st_size, stat.st_mtime_ns) for path, stat in stats]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def refusal(path: Path, why: str) -> DataError:
    """Return the error for an invalid file."""
    return DataError(
        f"{path} {why}: replace it with the published file, or move the folder of the data set away and try again to "
        "download it."
    )


def download(files: OgbFiles, folder: Path) -> None:
    """Download the data set into `folder`, which has none of it yet.

    Reports size, folder and free space on standard error. Raises DataError without a network or enough space.
    """
    # Imported late: it is slow to load.
    import urllib.request

    with _failing_in_one_sentence(files, folder):
        address = f"{_ADDRESS}/{files.archive}.zip"
        answer = urllib.request.urlopen(address, timeout=SECONDS_OF_SILENCE)  # noqa: S310 - the address is OGB's
    with answer:
        with _failing_in_one_sentence(files, folder):
            size = int(answer.info()["Content-Length"])
        check_room(folder, int(ROOM * size), f"to download {files.name}")
        _say(f"Downloading {files.name} ({file_size(size)}) to {folder} ({file_size(free_bytes(folder))} free).")
        remove_half_made(files, folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(folder.parent, ".download-") as partial:
            with _failing_in_one_sentence(files, folder):
                _unpack(answer, size, partial)
                unpacked = partial / files.archive.rpartition("/")[2]
                if lacks := missing(files, unpacked):
                    raise ValueError(f"the archive lacks {lacks}")
            _put(unpacked, files, folder)


def _unpack(answer: IO[bytes], size: int, into: Path) -> None:
    """Write the archive to `into`, report every tenth, and unpack it."""
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
        # Keep the user's files; move the release note last, so that an incomplete copy is noticed.
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
    # Broken connections, archives and answers raise different errors.
    except Exception as error:
        raise DataError(
            f"{files.name} could not be downloaded ({_why(error)}): connect to the network and try again, or put its "
            f"files (raw, split and {RELEASE}) into {folder}; GLT_DATA sets another data folder."
        ) from error


def _why(error: Exception) -> str:
    """Return the cause of a failed download as text.

    urllib wraps the system's error; TLS errors have unreadable messages and are replaced.
    """
    reason = getattr(error, "reason", error)
    if certificate := getattr(reason, "verify_message", None):
        return f"the server's certificate is not valid: {certificate}"
    if type(reason).__name__.startswith("SSL"):
        return "a secure connection to the server failed"
    words = str(getattr(reason, "strerror", None) or reason)
    return " ".join(words.split()).rstrip(".") or type(error).__name__
