"""Annotations of runs: title, note, colour, hidden; kept beside the runs, never in them.

One file in the store's root, keyed by the references of runs. A run's folder and hash stay as they are, and the
read-only examples can be annotated too. A damaged file is moved aside, never deleted.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from glt.config import all_faults, parse_json
from glt.errors import ConfigError, StoreError, one_line, quoted, several_lines
from glt.store import atomic_io, paths
from glt.store.locks import briefly_locked

# The names of the Okabe-Ito colours that methods have, which colour-blind readers can tell; "" is the method's own.
ColorName = Literal["", "vermilion", "blue", "orange", "green", "pink", "sky", "olive", "grey"]
COLORS: tuple[str, ...] = tuple(name for name in get_args(ColorName) if name)
LONGEST_TITLE, LONGEST_NOTE = 60, 2000
RUNS = "runs"


class _DamagedError(StoreError):
    """The file is no JSON document of annotations."""


class Annotation(BaseModel):
    """The annotation of one run; "" means not set. Fields of a later version are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    title: Annotated[str, AfterValidator(one_line), Field(max_length=LONGEST_TITLE)] = ""
    note: Annotated[str, AfterValidator(several_lines), Field(max_length=LONGEST_NOTE)] = ""
    color: ColorName = ""
    hidden: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the fields that are set, as plain values."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Annotations(NamedTuple):
    """The annotations of a store by run name, and a sentence on damage, or ""."""

    entries: Mapping[str, Annotation]
    damage: str = ""

    def of(self, name: str) -> Annotation:
        """Return the annotation of a run."""
        return self.entries.get(name, Annotation())


def annotations_in(root: Path) -> Annotations:
    """Return the annotations in a store's root; damage is reported, not raised."""
    return _known(root / paths.ANNOTATIONS)


def annotate(root: Path, name: str, changes: Mapping[str, Any]) -> tuple[Annotation, str]:
    """Change fields of the annotation of a run; see `Annotation`.

    Returns the annotation and a sentence on what was moved aside, or "". Entries of other runs stay, also if other
    processes write at the same time. Raises ConfigError for a bad value, StoreError when the store cannot be written.
    """
    made(changes)
    atomic_io.make_folder(root)
    with briefly_locked(root / paths.ANNOTATIONS_LOCK):
        atomic_io.clear_unfinished(root / paths.ANNOTATIONS)
        entries, warning = _entries_or_aside(root / paths.ANNOTATIONS)
        known = entry_name(root, entries, name)
        before, _ = _readable(entries.get(known, {}))
        annotation = made({**before.as_json(), **changes})
        entries.pop(known, None)
        if annotation.as_json():
            entries[name] = annotation.as_json()
        document = {"schema": paths.SCHEMA, RUNS: dict(sorted(entries.items()))}
        atomic_io.replace_file(
            root / paths.ANNOTATIONS, f"{json.dumps(document, indent=1, ensure_ascii=False)}\n".encode()
        )
    return annotation, warning


def entry_name(root: Path, entries: Collection[str], reference: str) -> str:
    """Return the key of a run's entry in the annotations of a store.

    Earlier versions kept annotations of an example under its bare name, which is also that of a run with the same
    settings. Such an entry is the example's as long as the store neither holds nor has deleted a run of that name.
    """
    name = reference.removeprefix(paths.EXAMPLES_PREFIX)
    if reference in entries or name == reference or os.path.lexists(root / name):
        return reference
    was_own = any((root / paths.TRASH).glob(f"{glob.escape(name)}.*"))
    return reference if was_own else name


def made(values: Mapping[str, Any]) -> Annotation:
    """Return an annotation of these values; raises ConfigError for the first bad one."""
    try:
        return Annotation.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigError(_fault(error)) from None


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    field = str(fault["loc"][0])
    if fault["type"].endswith("too_long"):
        return f"The {field} has {len(fault['input'])} characters: at most {fault['ctx']['max_length']} are allowed."
    if field == "color":
        return f"Unknown color {quoted(str(fault['input']))}: choose one of {', '.join(COLORS)}."
    return all_faults(error)[0]


def _read(path: Path) -> Annotations:
    try:
        entries = _entries(path)
    except StoreError as error:
        return Annotations({}, str(error))
    read = {name: _readable(entry) for name, entry in entries.items()}
    bad = ", ".join(name for name, (_, whole) in read.items() if not whole)
    damage = f"{path} has an annotation of {bad} that cannot be read: annotate it again." if bad else ""
    return Annotations({name: annotation for name, (annotation, _) in read.items()}, damage)


def _readable(entry: Any) -> tuple[Annotation, bool]:
    """Return what can be read of an entry, and whether that is all of it."""
    try:
        return Annotation.model_validate(entry), True
    except ValidationError as error:
        bad = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
    good = {name: value for name, value in entry.items() if name not in bad} if isinstance(entry, dict) else {}
    return Annotation.model_validate(good), False


_known = atomic_io.cached(_read)


def _entries(path: Path) -> dict[str, Any]:
    """Return the entries in the file, none without a file; raises StoreError when they cannot be read."""
    if not path.exists():
        return {}
    with atomic_io.reading(path, "allow it to be read"):
        atomic_io.check_regular(path, atomic_io.MOST_BYTES)
        content = path.read_bytes()
    try:
        document = parse_json(content)
        schema, entries = document["schema"], document[RUNS]
    except (ValueError, KeyError, TypeError):
        schema, entries = None, None
    if isinstance(schema, int) and schema > paths.SCHEMA:
        raise StoreError(f"{path} was written by a newer GLT Studio: update GLT Studio to read titles and notes.")
    if not isinstance(entries, dict):
        raise _DamagedError(f"{path} is damaged, so no titles and notes are shown: annotate a run to start a new file.")
    return entries


def is_of_others(path: Path) -> bool:
    """Say whether the file is valid JSON of another program."""
    try:
        atomic_io.check_regular(path, atomic_io.MOST_BYTES)
        document = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return False
    return not isinstance(document, dict) or not {"schema", RUNS} & set(document)


def _entries_or_aside(path: Path) -> tuple[dict[str, Any], str]:
    try:
        return _entries(path), ""
    except _DamagedError:
        if is_of_others(path):
            raise StoreError(
                f"{path} was not written by GLT Studio: choose another store with --store or GLT_STORE."
            ) from None
        number = 1
        while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        with atomic_io.writing(aside):
            path.rename(aside)
        return {}, f"{path.name} was damaged: it is kept as {aside.name}, and a new file was started."
