"""Reading and writing a ticket file: a zip of ticket.json, tensors.safetensors and a README; nothing is pickled.

`members` and `about_of` need no torch, so other files are refused at once.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from pydantic import ValidationError
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from glt import formats, zip_files
from glt.config import canonical_json, parse_json
from glt.errors import ConfigError, DataError, one_line
from glt.formats import as_typed
from glt.ticket_file.schema import ABOUT, CHECKSUM, FORMAT, README, TENSORS, VERSION, About, read_tensor

if TYPE_CHECKING:
    from glt.ticket_file.ticket import Ticket

MOST_BYTES = 8 << 30
ENCRYPTED = 0x1
ZIP_STARTS = b"PK\x03\x04"
MACOS_FOLDER = "__MACOSX"
# The loaders of docs/ticket-file.md; all models need the block SHARED.
LOADERS = Path(__file__).with_name("loader.md")
SHARED = "read"
PACKAGES = ("torch", "torch-geometric", "safetensors")
_MISFIT = (SafetensorError, ValueError, KeyError, IndexError, TypeError, AttributeError, ConfigError)


def ticket_bytes(ticket: Ticket) -> bytes:
    """Return the content of a ticket file; equal tickets give equal bytes."""
    from glt.ticket_file.ticket import arrays_of

    tensors = save({name: array.copy(order="C") for name, array in sorted(arrays_of(ticket).items())})
    about = ticket.about.model_dump(mode="json")
    sums = {TENSORS: checksum(tensors), ABOUT: checksum(canonical_json(about).encode())}
    text = json.dumps({**about, CHECKSUM: sums}, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return zip_files.zip_bytes({README: readme(ticket.about).encode(), ABOUT: text.encode(), TENSORS: tensors})


def read_ticket(path: Path, most_bytes: int = MOST_BYTES) -> Ticket:
    """Return the ticket in a file.

    Raises DataError for any other file, for wrong checksums or inconsistent parts, and for a file that would unpack to
    more than `most_bytes`.
    """
    text, tensors = members(path, most_bytes)
    return opened_ticket(path, about_of(path, text, tensors), tensors)


def opened_ticket(path: Path, about: About, tensors: bytes) -> Ticket:
    """Return the ticket of an opened file; raise DataError for inconsistent parts."""
    from glt.ticket_file.ticket import ticket_of

    try:
        held = deserialize(tensors)  # type: ignore[no-untyped-call]
        return ticket_of(about, {name: read_tensor(name, **each) for name, each in held})
    except _MISFIT as error:
        damaged(path, str(error) or type(error).__name__)


def members(path: Path, most_bytes: int = MOST_BYTES) -> tuple[bytes, bytes]:
    """Return the contents of ticket.json and tensors.safetensors; raise DataError without them."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is not a file: give the path of a ticket file.")
    try:
        with zip_files.opened(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > most_bytes:
                raise DataError(
                    f"{path} would unpack to {formats.file_size(size)}, more than the limit of "
                    f"{formats.file_size(most_bytes)}; it was not opened."
                )
            about, tensors = _names(path, archive.namelist())
            if any(archive.getinfo(name).flag_bits & ENCRYPTED for name in (about, tensors)):
                raise DataError(f"{path} is encrypted: decrypt it first.")
            return zip_files.read_member(archive, about), zip_files.read_member(archive, tensors)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist: give the path of a ticket file.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from None
    except zip_files.DAMAGE as error:
        if zipfile.is_zipfile(path):
            damaged(path, str(error))
        raise DataError(f"{path} {_other_file(path)}") from None


def _names(path: Path, names: Sequence[str]) -> tuple[str, str]:
    """Return the names of the two members, at the top or in a single folder.

    A ticket that was unpacked and packed again has a folder in every name, and system files (`__MACOSX`, `.DS_Store`),
    which are ignored.
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
        raise DataError(f"{path} is not a ticket file: it does not contain {ABOUT} and {TENSORS}.")
    if len(found) > 1:
        raise DataError(
            f"{path} contains {formats.number_of(len(found), 'ticket')}: pack the folder of only one of them."
        )
    return found[0][ABOUT], found[0][TENSORS]


def _other_file(path: Path) -> str:
    """Say what is wrong with a file that is no zip."""
    start = None
    with suppress(OSError), path.open("rb") as file:
        start = file.read(len(ZIP_STARTS))
    if start == b"":
        return "is empty: copy it again."
    if start == ZIP_STARTS:
        return "is damaged or truncated (a .zip without its end): copy it again."
    return f"is not a ticket file, a .zip written by `{as_typed('export', '--format', 'ticket')}`."


def about_of(path: Path, text: bytes, tensors: bytes) -> About:
    """Return ticket.json after comparing both checksums; raise DataError if they differ."""
    try:
        document = parse_json(text)
        kind, version, sums = document.get("format"), document.get("version"), document.pop(CHECKSUM, {})
        # NaN and infinities, which JSON lacks, fail here too.
        found = {TENSORS: checksum(tensors), ABOUT: checksum(canonical_json(document).encode())}
    except (ValueError, AttributeError):
        damaged(path, f"{ABOUT} is not JSON")
    if kind != FORMAT:
        raise DataError(f"{path} is not a ticket file: its {ABOUT} was not written by GLT Studio.")
    if isinstance(version, int) and version > VERSION:
        raise DataError(f"{path} was written by a newer GLT Studio (version {version}, this one reads {VERSION}).")
    for name, expected in found.items():
        if not isinstance(sums, dict) or sums.get(name) != expected:
            damaged(path, f"the checksum of {name} does not match its content")
    try:
        return About.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        damaged(path, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}")


def damaged(path: Path, why: str) -> NoReturn:
    """Raise DataError for a damaged ticket file."""
    raise DataError(f"{path} is damaged ({one_line(why).rstrip('.')}): export the ticket again.") from None


def checksum(content: bytes) -> str:
    """Return SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


TEXT = """# A graph lottery ticket

{model} on {data}, round {round} of {run}, seed {seed}: {metric} {test} on the test split at the best validation epoch;
{graph} of the graph's entries and {weight} of the prunable weights are removed.

- `ticket.json`: settings, scores, node ids, where the data and the numbers are from, SHA-256 of the other file.
- `tensors.safetensors`: `weight.*` (zeros where pruned), `mask.*`, `theta_0.*`, the graph (`edges`, `edge_mask`),
  what a convolution of PyTorch Geometric takes (`edge_index`, `edge_weight`), features, labels (-1: unknown), split,
  and `outputs`: what the network gives.

GLT Studio wrote this file; `python -m glt import FILE` checks it there.
"""
RUN_IT = """
## Run it without GLT Studio

Install `torch`, `torch_geometric` and `safetensors` ({versions}), save the program below as `load.py`
and run `python load.py ticket.zip`, or give it the folder that this file was unpacked to. It builds the network with
PyTorch Geometric's layers, runs it on the surviving edges, and compares the outputs with those in the file.

```python
import sys
{shared}

{model}

about, t, x = read(sys.argv[1])
with torch.no_grad():
    outputs = {name}(about, t, x)
{comparison}{score}```
"""
COMPARISON = """\
assert torch.allclose(outputs, t["outputs"], rtol=1e-5, atol=1e-5), "other outputs than the file's"
print("the outputs are those of the file:", list(outputs.shape))
"""
IN_CLUSTERS = """\
# This network was evaluated in clusters, between which edges carry nothing; the file's outputs are those.
print("largest difference from the outputs in clusters:", (outputs - t["outputs"]).abs().max().item())
"""
ACCURACY = """\
test = t["split.test"]
print("test accuracy:", (outputs[test].argmax(dim=1) == t["labels"][test]).double().mean().item())
"""
LINKS = """
For links, `outputs` are embeddings before the PReLU whose slope is `weight.link.prelu`; a pair's score is the cosine of
its embeddings.
"""


def readme(about: About) -> str:
    """Return the README of a ticket file, with a program that runs its model if possible."""
    config, record = about.config, about.record
    text = TEXT.format(
        model=config.model.upper(),
        data=about.data.name,
        round=record.round,
        run=about.run,
        seed=about.seed,
        metric=about.metric,
        test=formats.percent(record.test),
        graph=formats.percent(record.graph_sparsity),
        weight=formats.percent(record.weight_sparsity),
    )
    if config.model not in loaders():
        return text
    known = about.environment.get("versions")
    found = [f"{name} {known[name]}" for name in PACKAGES if name in known] if isinstance(known, dict) else []
    program = RUN_IT.format(
        # The file's content is not trusted.
        versions=one_line(f"it was computed with {', '.join(found)}") if found else "any recent versions",
        shared=loaders()[SHARED].strip(),
        name=config.model,
        model=loaders()[config.model].strip(),
        comparison=COMPARISON if config.options.get("batch_clusters_eval", 1) == 1 else IN_CLUSTERS,
        score=ACCURACY if config.task == "node" and about.metric == "accuracy" else "",
    )
    return text + program + (LINKS if config.task == "link" else "")


@cache
def loaders() -> dict[str, str]:
    """Return the code blocks of loader.md by name: SHARED, and one for each model."""
    text = LOADERS.read_text(encoding="utf-8")
    return dict(re.findall(r"## (\w+)\n\n```python\n(.*?)```", text, flags=re.DOTALL))
