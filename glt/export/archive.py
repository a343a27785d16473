"""A ticket as one .zip: ticket.json, tensors.safetensors, and a README for whoever finds it; nothing is pickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from glt.config import canonical_json
from glt.errors import ConfigError
from glt.export.about import About
from glt.export.opening import ABOUT, CHECKSUM, MOST_BYTES, README, TENSORS, about_of, checksum, damaged, members
from glt.export.readme import readme
from glt.export.tensor_types import read_tensor
from glt.export.tensors import arrays_of, ticket_of
from glt.export.ticket import Ticket
from glt.zips import zip_bytes

_MISFIT = (ValueError, KeyError, IndexError, TypeError, AttributeError, ConfigError)


def ticket_bytes(ticket: Ticket) -> bytes:
    """Return the content of a ticket file; equal tickets give equal bytes."""
    tensors = save({name: array.copy(order="C") for name, array in sorted(arrays_of(ticket).items())})
    about = ticket.about.model_dump(mode="json")
    sums = {TENSORS: checksum(tensors), ABOUT: checksum(canonical_json(about).encode())}
    text = json.dumps({**about, CHECKSUM: sums}, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return zip_bytes({README: readme(ticket).encode(), ABOUT: text.encode(), TENSORS: tensors})


def read_ticket(path: Path, most_bytes: int = MOST_BYTES) -> Ticket:
    """Return the ticket in a file after checking its checksums; raises DataError, one sentence, for any other file.

    One that would unpack to more than `most_bytes` is not unpacked.
    """
    text, tensors = members(path, most_bytes)
    return opened_ticket(path, about_of(path, text, tensors), tensors)


def opened_ticket(path: Path, about: About, tensors: bytes) -> Ticket:
    """Return the ticket that an opened file holds; raises DataError where its parts do not fit each other."""
    try:
        return ticket_of(about, _arrays(path, tensors))
    except _MISFIT as error:
        damaged(path, str(error) or type(error).__name__)


def _arrays(path: Path, tensors: bytes) -> dict[str, NDArray[Any]]:
    try:
        held = deserialize(tensors)  # type: ignore[no-untyped-call]
        return {name: read_tensor(name, **each) for name, each in held}
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        damaged(path, f"{TENSORS}: {error}")
