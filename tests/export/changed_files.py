"""Ticket files with other content than their ticket's, and sums that fit it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from glt.config import canonical_json
from glt.export.archive import read_ticket
from glt.export.checking import TicketReport, check
from glt.export.opening import ABOUT, TENSORS, checksum

Arrays = dict[str, Any]


def checked(path: Path) -> TicketReport:
    return check(read_ticket(path), path)


def changed(path: Path, about: Callable[[Arrays], None] | None = None, **arrays: Any) -> Path:
    """Write the file again with other content and sums that fit it."""
    with zipfile.ZipFile(path) as archive:
        document, tensors = json.loads(archive.read(ABOUT)), dict(load(archive.read(TENSORS)))
    document.pop("sha256")
    if about is not None:
        about(document)
    content = save({name: np.ascontiguousarray(values) for name, values in {**tensors, **arrays}.items()})
    document["sha256"] = {ABOUT: checksum(canonical_json(document).encode()), TENSORS: checksum(content)}
    return zipped(path, {ABOUT: json.dumps(document).encode(), TENSORS: content})


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    path.write_bytes(buffer.getvalue())
    return path
