"""What can be told of a ticket file without torch: that it is one, whole, and what it says of itself."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NoReturn

from pydantic import ValidationError

from glt import json_text, zips
from glt.config import canonical_json
from glt.errors import DataError
from glt.export.about import FORMAT, VERSION, About
from glt.formats import file_size, number_of
from glt.printable import one_line

ABOUT, TENSORS, README = "ticket.json", "tensors.safetensors", "README.md"
CHECKSUM = "sha256"
MOST_BYTES = 8 << 30
ENCRYPTED = 0x1
ZIP_STARTS = b"PK\x03\x04"
MACOS_FOLDER = "__MACOSX"


def members(path: Path, most_bytes: int = MOST_BYTES) -> tuple[bytes, bytes]:
    """Return the content of ticket.json and of the tensors' file; raises DataError for what holds no such members."""
    _refuse_no_file(path)
    try:
        with zips.opened(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > most_bytes:
                raise DataError(
                    f"{path} would unpack to {file_size(size)}, more than {file_size(most_bytes)}: not opened."
                )
            about, tensors = _names(path, archive.namelist())
            if any(archive.getinfo(name).flag_bits & ENCRYPTED for name in (about, tensors)):
                raise DataError(f"{path} is encrypted, which no ticket file is: decrypt it first.")
            return zips.read_member(archive, about), zips.read_member(archive, tensors)
    except FileNotFoundError:
        raise DataError(f"{path} is not there: give the path of a ticket file.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from None
    except zips.DAMAGE as error:
        if zipfile.is_zipfile(path):
            damaged(path, str(error))
        with suppress(OSError):
            _refuse_a_part(path)
        raise DataError(
            f"{path} is no ticket file: that is a .zip written by `python -m glt export --format ticket`."
        ) from None


def _names(path: Path, names: Sequence[str]) -> tuple[str, str]:
    """Return what the two members are called: at the top, or in the one folder that a ticket was unpacked to.

    Who unpacks a ticket and packs the folder again gets that folder in every name, and what the system adds for itself
    (`__MACOSX`, `.DS_Store`), which is of no account.
    """
    folders: dict[PurePosixPath, dict[str, str]] = {}
    for name in names:
        place = PurePosixPath(name.replace("\\", "/"))
        if place.name in (ABOUT, TENSORS) and MACOS_FOLDER not in place.parts:
            folders.setdefault(place.parent, {})[place.name] = name
    whole = {folder: held for folder, held in folders.items() if len(held) == len((ABOUT, TENSORS))}
    top = PurePosixPath()
    found = [whole[top]] if top in whole else list(whole.values())
    if not found:
        raise DataError(f"{path} is no ticket file: it holds no {ABOUT} and {TENSORS}.")
    if len(found) > 1:
        raise DataError(f"{path} holds {number_of(len(found), 'ticket')}: pack the folder of one of them alone.")
    return found[0][ABOUT], found[0][TENSORS]


def _refuse_no_file(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no ticket file but a folder, a pipe or a device: give the path of one.")


def _refuse_a_part(path: Path) -> None:
    """Raise DataError for an empty file, and for one that begins as a .zip does and has no end."""
    with path.open("rb") as file:
        start = file.read(len(ZIP_STARTS))
    if not start:
        raise DataError(f"{path} is empty: fetch it again.")
    if start == ZIP_STARTS:
        raise DataError(f"{path} is damaged or cut short (a .zip without its end): fetch it again.")


def about_of(path: Path, text: bytes, tensors: bytes) -> About:
    """Return what a file says of itself after comparing its checksums; raises DataError where they do not fit."""
    try:
        document = json_text.parsed(text)
        told, version, sums = document.get("format"), document.get("version"), document.pop(CHECKSUM, {})
        # Numbers that JSON does not have (NaN, infinities) end here too.
        found = {TENSORS: checksum(tensors), ABOUT: checksum(canonical_json(document).encode())}
    except (ValueError, AttributeError):
        damaged(path, f"{ABOUT} is not JSON")
    if told != FORMAT:
        raise DataError(f"{path} is no ticket file: its {ABOUT} was not written by GLT Studio.")
    if isinstance(version, int) and version > VERSION:
        raise DataError(f"{path} was written by a newer GLT Studio (version {version}, this one reads {VERSION}).")
    for name, expected in found.items():
        if not isinstance(sums, dict) or sums.get(name) != expected:
            damaged(path, f"the checksum of {name} does not fit its content")
    try:
        return About.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        damaged(path, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")


def damaged(path: Path, why: str) -> NoReturn:
    """Raise DataError for a file that was ours once."""
    raise DataError(f"{path} is damaged ({one_line(why).rstrip('.')}): export the ticket again.") from None


def checksum(content: bytes) -> str:
    """Return SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()
