"""A ticket as one .zip: ticket.json, tensors.safetensors, and a README for whoever finds it; nothing is pickled."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, NoReturn

from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load, save

from glt.config import canonical_json
from glt.errors import ConfigError, DataError
from glt.export.about import FORMAT, VERSION, About
from glt.export.readme import readme
from glt.export.tensors import arrays_of, ticket_of
from glt.export.ticket import Ticket
from glt.formats import file_size
from glt.zips import zip_bytes

ABOUT, TENSORS, README = "ticket.json", "tensors.safetensors", "README.md"
CHECKSUM = "sha256"
MOST_BYTES = 8 << 30
ENCRYPTED = 0x1
_NO_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
_MISFIT = (ValueError, KeyError, IndexError, TypeError, AttributeError, ConfigError)


def ticket_bytes(ticket: Ticket) -> bytes:
    """Return the content of a ticket file; equal tickets give equal bytes."""
    tensors = save({name: array.copy(order="C") for name, array in sorted(arrays_of(ticket).items())})
    about = ticket.about.model_dump(mode="json")
    sums = {TENSORS: _sum(tensors), ABOUT: _sum(canonical_json(about).encode())}
    text = json.dumps({**about, CHECKSUM: sums}, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return zip_bytes({README: readme(ticket).encode(), ABOUT: text.encode(), TENSORS: tensors})


def read_ticket(path: Path, most_bytes: int = MOST_BYTES) -> Ticket:
    """Return the ticket in a file after checking its checksums; raises DataError, one sentence, for any other file.

    One that would unpack to more than `most_bytes` is not unpacked.
    """
    text, tensors = _members(path, most_bytes)
    about, arrays = _about(path, text, tensors), _arrays(path, tensors)
    try:
        return ticket_of(about, arrays)
    except _MISFIT as error:
        _damaged(path, str(error) or type(error).__name__)


def _members(path: Path, most_bytes: int) -> tuple[bytes, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > most_bytes:
                raise DataError(
                    f"{path} would unpack to {file_size(size)}, more than {file_size(most_bytes)}: not opened."
                )
            if not {ABOUT, TENSORS} <= set(archive.namelist()):
                raise DataError(f"{path} is no ticket file: it holds no {ABOUT} and {TENSORS}.")
            if any(archive.getinfo(name).flag_bits & ENCRYPTED for name in (ABOUT, TENSORS)):
                raise DataError(f"{path} is encrypted, which no ticket file is: decrypt it first.")
            return archive.read(ABOUT), archive.read(TENSORS)
    except FileNotFoundError:
        raise DataError(f"{path} is not there: give the path of a ticket file.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from None
    except _NO_ZIP as error:
        if zipfile.is_zipfile(path):
            _damaged(path, str(error))
        raise DataError(
            f"{path} is no ticket file: that is a .zip written by `python -m glt export --format ticket`."
        ) from None


def _about(path: Path, text: bytes, tensors: bytes) -> About:
    try:
        document = json.loads(text)
        told, version, sums = document.get("format"), document.get("version"), document.pop(CHECKSUM, {})
        # Numbers that JSON does not have (NaN, infinities) end here too.
        found = {TENSORS: _sum(tensors), ABOUT: _sum(canonical_json(document).encode())}
    except (ValueError, AttributeError, RecursionError):
        _damaged(path, f"{ABOUT} is not JSON")
    if told != FORMAT:
        raise DataError(f"{path} is no ticket file: its {ABOUT} was not written by GLT Studio.")
    if isinstance(version, int) and version > VERSION:
        raise DataError(f"{path} was written by a newer GLT Studio (version {version}, this one reads {VERSION}).")
    for name, checksum in found.items():
        if not isinstance(sums, dict) or sums.get(name) != checksum:
            _damaged(path, f"the checksum of {name} does not fit its content")
    try:
        return About.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        _damaged(path, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")


def _arrays(path: Path, tensors: bytes) -> dict[str, NDArray[Any]]:
    try:
        return dict(load(tensors))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        _damaged(path, f"{TENSORS}: {error}")


def _damaged(path: Path, why: str) -> NoReturn:
    raise DataError(f"{path} is damaged ({why.rstrip('.')}): export the ticket again.") from None


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
