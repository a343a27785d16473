"""Files that are whole or absent: atomic writes, JSON with a checksum, cached reads, errors as sentences.

JSON lines are read up to the last newline. Documents without a checksum, as earlier versions wrote them, are accepted.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from glt.config import canonical_json, parse_json
from glt.errors import StoreError
from glt.formats import as_typed, file_size
from glt.store.paths import QUEUE, SCHEMA, UNFINISHED_WRITE, has_run_name, seed_of

FULL = {errno.ENOSPC, errno.EDQUOT}
FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}

_counter = itertools.count()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while `path` is written into a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(_write_fault(path, error)) from error


@contextmanager
def reading(path: Path, remedy: str) -> Iterator[None]:
    """Turn an OSError while `path` is read into a StoreError that ends with `remedy`."""
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing: {remedy}.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror or error}): {remedy}.") from error


def check_regular(path: Path, most_bytes: int) -> None:
    """Raise OSError unless `path` is a regular file of at most `most_bytes`: devices and pipes never end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if found.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"{file_size(found.st_size)}, more than the limit of {file_size(most_bytes)}")


def make_folder(path: Path) -> None:
    """Create a folder and its parents; raises StoreError when that is impossible."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def replace_file(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a temporary file, flush it and rename it: readers see old or new content, never half.

    Without `durable` nothing is flushed: safe against killed processes, not against power loss.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_counter)}{UNFINISHED_WRITE}")
    with writing(path):
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            with _opened(path.parent, os.O_RDONLY) as folder:
                os.fsync(folder)


def clear_unfinished(path: Path) -> None:
    """Remove temporary files of killed writers of `path`; call it only while nobody else can write."""
    for left in path.parent.glob(f".{path.name}.*{UNFINISHED_WRITE}"):
        with writing(left):
            left.unlink(missing_ok=True)


def overwrite_file(path: Path, content: bytes) -> None:
    """Overwrite a file in place, which works on a full disk; a kill may leave half."""
    with writing(path), _opened(path, os.O_WRONLY) as descriptor:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))


def append_line(path: Path, line: str, durable: bool = False) -> None:
    """Append one line with a single write; a line that does not fit is taken back and StoreError raised."""
    content = line.encode() + b"\n"
    with writing(path), _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW) as descriptor:
        before = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if durable:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise


def refuse_link(*places: Path) -> None:
    """Raise StoreError if one of these is a symbolic link, because writes would land elsewhere."""
    for path in places:
        if path.is_symlink():
            raise StoreError(_link_fault(path))


def flush_file(path: Path) -> None:
    """Flush what was appended to `path` to disk; a missing file is fine."""
    with writing(path), suppress(FileNotFoundError), _opened(path, os.O_RDONLY) as descriptor:
        os.fsync(descriptor)


def cut_file(path: Path, size: int) -> None:
    """Shorten `path` to `size` bytes; a missing file is fine."""
    refuse_link(path)
    with writing(path):
        if path.exists() and path.stat().st_size > size:
            os.truncate(path, size)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _link_fault(path: Path) -> str:
    return (
        f"{path} is a symbolic link, and nothing is written through links: replace the link by the file or folder "
        "itself, or choose another store with --store or GLT_STORE."
    )


def _write_fault(path: Path, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return _link_fault(path)
    if error.errno in FULL:
        # Resuming a run writes the files of its seeds and of the queue again.
        in_seed = any(seed_of(each.name) is not None and has_run_name(each.parent.name) for each in path.parents)
        again = "resume the run" if in_seed or QUEUE in (path.name, path.parent.name) else "try again"
        return f"{path} could not be written because the disk is full: free some space, then {again}."
    remedy = "choose another store with --store or GLT_STORE"
    if error.errno in FORBIDDEN:
        remedy += ", or change its permissions"
    elif error.errno == errno.EISDIR:
        remedy = f"run `{as_typed('doctor')}` to see why"
    return f"{path} cannot be written ({error.strerror or error}): {remedy}."


SEE_DOCTOR = f"run `{as_typed('doctor')}` to see what can be repaired"
# A document holds settings or a state, lines are of a million epochs at most.
MOST_BYTES, MOST_BYTES_OF_LINES = 16 << 20, 1 << 30

Row = TypeVar("Row", bound=BaseModel)


def read_json(path: Path, remedy: str) -> Any:
    """Return the JSON document in `path`; raises StoreError when it is missing or damaged."""
    with reading(path, remedy):
        check_regular(path, MOST_BYTES)
        content = path.read_bytes()
    try:
        return parse_json(content)
    except ValueError:
        raise StoreError(f"{path} is damaged (no valid JSON): {remedy}.") from None


def check_schema(path: Path, document: Any) -> None:
    """Raise StoreError for a newer format version, or none."""
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise StoreError(f"{path} is damaged (it names no format version): restore it from a copy.")
    if schema > SCHEMA:
        raise StoreError(
            f"{path} was written by a newer GLT Studio (format {schema}, this one reads {SCHEMA}): update GLT Studio."
        )


def whole_lines(path: Path, offset: int = 0) -> tuple[list[bytes], int]:
    """Return the lines of `path` (none if missing) from byte `offset` to its last newline, and the offset after it.

    Reading starts at the beginning if `offset` is no longer the start of a line, because a resume cut the file.
    """
    # A symbolic link that leads nowhere is no missing file, but one that cannot be read.
    if not os.path.lexists(path):
        return [], 0
    with reading(path, SEE_DOCTOR):
        check_regular(path, MOST_BYTES_OF_LINES)
    with reading(path, SEE_DOCTOR), path.open("rb") as file:
        start = 0
        if 0 < offset <= file.seek(0, os.SEEK_END):
            file.seek(offset - 1)
            start = offset if file.read(1) == b"\n" else 0
        file.seek(start)
        content = file.read()
    lines = content.split(b"\n")[:-1]
    return lines, start + sum(map(len, lines)) + len(lines)


def parse_lines(path: Path, lines: list[bytes], row: type[Row], first: int = 1) -> list[Row]:
    """Return the records of `lines`; raises StoreError with the number of the first damaged line (`first` = 1)."""
    records: list[Row] = []
    try:
        records.extend(row.model_validate_json(line) for line in lines)
    except ValidationError:
        raise StoreError(f"{path} is damaged in line {first + len(records)}: {SEE_DOCTOR}.") from None
    return records


CHECKSUM = "crc32"


def crc(content: bytes) -> str:
    """Return the CRC-32 of some bytes as eight hexadecimal digits.

    >>> crc(b"123456789")
    'cbf43926'
    """
    return f"{zlib.crc32(content):08x}"


def signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the checksum of its canonical JSON."""
    return {**document, CHECKSUM: crc(canonical_json(dict(document)).encode())}


def unsigned(path: Path, document: Mapping[str, Any], remedy: str) -> dict[str, Any]:
    """Return a document without its checksum; raises StoreError if the checksum does not match."""
    content = {name: value for name, value in document.items() if name != CHECKSUM}
    try:
        is_damaged = CHECKSUM in document and signed(content)[CHECKSUM] != document[CHECKSUM]
    except ValueError:  # such a value cannot have been written as canonical JSON
        is_damaged = True
    if is_damaged:
        raise StoreError(f"{path} is damaged (its checksum does not match its content): {remedy}.")
    return content


Content = TypeVar("Content")
Stamp = tuple[int, int, int]

MOST_CACHED = 20_000
# Seconds; clocks of file systems tick in milliseconds.
TOO_FRESH = 0.1


def cached(
    read: Callable[[Path], Content], lasts: Callable[[Content], bool] = lambda content: True
) -> Callable[[Path], Content]:
    """Return `read` with results kept until the file or folder changes (inode, size, modification time).

    A store of a thousand runs is read once. Files are replaced by renaming (new inode) or grow (new size); files
    changed a moment ago are not cached, because clocks of file systems are coarse. Not kept: exceptions, and results
    for which `lasts` is false, since they may change without the stamp.
    """
    kept: dict[str, tuple[Stamp, Content]] = {}

    def reader(path: Path) -> Content:
        name = os.fspath(path)
        stamp = _stamp(path)
        known = kept.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        content = read(path)
        if stamp is not None and time.time() - stamp[2] / 1e9 > TOO_FRESH and lasts(content):
            if len(kept) >= MOST_CACHED:
                kept.clear()
            kept[name] = stamp, content
        return content

    return reader


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
