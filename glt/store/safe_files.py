"""Writing that leaves no half file behind, and file errors put as sentences."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glt.commands import command
from glt.errors import StoreError
from glt.formats import file_size
from glt.store.paths import QUEUE, UNFINISHED_WRITE, has_run_name, seed_of

FULL = {errno.ENOSPC, errno.EDQUOT}
NO_FILE = {errno.EISDIR, errno.ELOOP}
FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}

_counter = itertools.count()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError raised while `path` is written into a StoreError that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(_write_fault(path, error)) from error


@contextmanager
def reading(path: Path, remedy: str) -> Iterator[None]:
    """Turn an OSError raised while `path` is read into a StoreError that ends with `remedy`."""
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing: {remedy}.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror or error}): {remedy}.") from error


def check_regular(path: Path, most_bytes: int) -> None:
    """Raise OSError for a device or a pipe, which reading has no end of, for too large a file and a missing one."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file")
    if found.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"{file_size(found.st_size)} are more than it can have, {file_size(most_bytes)}")


def make_folder(path: Path) -> None:
    """Create a folder and its parents; raises StoreError when that is impossible."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def replace_file(path: Path, content: bytes, durable: bool = True) -> None:
    """Write `content` under a temporary name, flush it to disk and rename it: readers see old or new, never half.

    Without `durable` the flush is left out, which is enough against killed processes but not against lost power.
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
            _flush_folder(path.parent)


def clear_unfinished(path: Path) -> None:
    """Remove what killed processes left of writing `path`; call it where nobody else can be writing it."""
    for left in path.parent.glob(f".{path.name}.*{UNFINISHED_WRITE}"):
        with writing(left):
            left.unlink(missing_ok=True)


def overwrite_file(path: Path, content: bytes) -> None:
    """Write `content` over what is in `path`, which on a full disk still fits where a new file does not.

    Whoever reads it, or kills the writer, in that moment may find half of it.
    """
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.pwrite(descriptor, content, 0)
            os.ftruncate(descriptor, len(content))
        finally:
            os.close(descriptor)


def append_line(path: Path, line: str, durable: bool = False) -> None:
    """Append one line by a single write; a line that does not fit, or stay, is taken back and StoreError raised."""
    content = line.encode() + b"\n"
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            _append(descriptor, content, durable)
        finally:
            os.close(descriptor)


def refuse_link(*places: Path) -> None:
    """Raise StoreError when one of these is a symbolic link: what is written below it would land elsewhere."""
    for path in places:
        if path.is_symlink():
            raise StoreError(_link_fault(path))


def flush_file(path: Path) -> None:
    """Force what was appended to `path` onto the disk; a missing file is fine."""
    with writing(path):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def cut_file(path: Path, size: int) -> None:
    """Shorten `path` to `size` bytes; a missing file is fine."""
    refuse_link(path)
    with writing(path):
        if path.exists() and path.stat().st_size > size:
            os.truncate(path, size)


def _append(descriptor: int, content: bytes, durable: bool) -> None:
    before = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if durable:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _link_fault(path: Path) -> str:
    return (
        f"{path} is a symbolic link, and nothing is written through one: move what it points to into its place, or "
        "choose another store with --store or GLT_STORE."
    )


def _is_resumed(path: Path) -> bool:
    """Say whether a file is written for a seed that has begun, so that resuming its run writes it again."""
    in_seed = any(seed_of(each.name) is not None and has_run_name(each.parent.name) for each in path.parents)
    return in_seed or QUEUE in (path.name, path.parent.name)


def _write_fault(path: Path, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return _link_fault(path)
    if error.errno in FULL:
        again = "resume the run" if _is_resumed(path) else "try again"
        return f"{path} could not be written because the disk is full: free some space, then {again}."
    if error.errno in FORBIDDEN:
        return (
            f"{path} cannot be written ({error.strerror}): choose another store with --store or GLT_STORE, "
            "or change its permissions."
        )
    if error.errno in NO_FILE:
        return f"{path} cannot be written ({error.strerror}): run `{command('doctor')}`, which says why."
    return f"{path} cannot be written ({error.strerror or error}): choose another store with --store or GLT_STORE."
