"""What a person says about runs: a title, a note, a colour, and which are hidden; kept beside the runs, never in them.

One file in the store's root, by the references of runs, so that a run's folder and hash stay as they are and the
examples, which nobody can write, can be annotated too. What is damaged is moved aside, never deleted.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from glt.config import all_faults
from glt.errors import ConfigError, StoreError
from glt.store import paths
from glt.store.atomic_io import MOST_BYTES, check_regular, clear_unfinished, make_folder, reading, replace_file, writing
from glt.store.file_cache import cached
from glt.store.locks import briefly_locked
from glt.user_text import one_line, parse_json, quoted, several_lines

# The names of the Okabe-Ito colours that methods have, which colour-blind readers can tell; "" is the method's own.
ColorName = Literal["", "vermilion", "blue", "orange", "green", "pink", "sky", "olive", "grey"]
COLORS: tuple[str, ...] = tuple(name for name in get_args(ColorName) if name)
LONGEST_TITLE, LONGEST_NOTE = 60, 2000
RUNS = "runs"

Entries = dict[str, Any]


class _DamagedError(StoreError):
    """The file is no JSON document of annotations."""


class Annotation(BaseModel):
    """What a person says about one run; "" is nothing said. Words of a later version are kept, not understood."""

    model_config = ConfigDict(frozen=True, extra="allow")

    title: Annotated[str, AfterValidator(one_line), Field(max_length=LONGEST_TITLE)] = ""
    note: Annotated[str, AfterValidator(several_lines), Field(max_length=LONGEST_NOTE)] = ""
    color: ColorName = ""
    hidden: bool = False

    def said(self) -> dict[str, Any]:
        """Return what is said at all, as plain values."""
        return self.model_dump(mode="json", exclude_defaults=True)


NOTHING_SAID = Annotation()


class Annotations(NamedTuple):
    """The annotations of a store by the names of runs, and the sentence that says what of them cannot be read."""

    entries: Mapping[str, Annotation]
    damage: str = ""

    def of(self, name: str) -> Annotation:
        """Return what is said about a run."""
        return self.entries.get(name, NOTHING_SAID)


def annotations_in(root: Path) -> Annotations:
    """Return the annotations in a store's root, read again when their file has changed; damage is told, not raised."""
    return _known(root / paths.ANNOTATIONS)


def annotate(root: Path, name: str, changes: Mapping[str, Any]) -> tuple[Annotation, str]:
    """Change what is said about the run of a reference, one field each; see `Annotation`.

    Returns it with the sentence on what was moved aside, or "".
    Other runs' entries stay whoever else writes meanwhile. Raises ConfigError for a value that cannot be, StoreError
    when the store cannot be written.
    """
    made(changes)
    make_folder(root)
    with briefly_locked(root / paths.ANNOTATIONS_LOCK):
        clear_unfinished(root / paths.ANNOTATIONS)
        entries, told = _entries_or_aside(root / paths.ANNOTATIONS)
        known = entry_name(root, entries, name)
        before, _ = _readable(entries.get(known, {}))
        annotation = made({**before.said(), **changes})
        entries.pop(known, None)
        if annotation.said():
            entries[name] = annotation.said()
        _write(root / paths.ANNOTATIONS, entries)
    return annotation, told


def entry_name(root: Path, entries: Collection[str], reference: str) -> str:
    """Return the name under which a store's annotations hold what is said about the run of a reference.

    Earlier versions kept what was said about an example under its bare name, which is that of a run of one's own: it
    is the example's as long as the store neither holds nor has deleted a run of that name.
    """
    name = reference.removeprefix(paths.EXAMPLES_PREFIX)
    if reference in entries or name == reference or os.path.lexists(root / name):
        return reference
    was_own = any((root / paths.TRASH).glob(f"{glob.escape(name)}.*"))
    return reference if was_own else name


def made(values: Mapping[str, Any]) -> Annotation:
    """Return an annotation of these values; raises ConfigError, one sentence, for the first that cannot be."""
    try:
        return Annotation.model_validate(dict(values))
    except ValidationError as error:
        raise ConfigError(_fault(error)) from None


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    field = str(fault["loc"][0])
    if fault["type"].endswith("too_long"):
        return f"The {field} has {len(fault['input'])} characters: {fault['ctx']['max_length']} is the most."
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
    told = f"{path} says something about {bad} that cannot be read: annotate it again." if bad else ""
    return Annotations({name: annotation for name, (annotation, _) in read.items()}, told)


def _readable(entry: Any) -> tuple[Annotation, bool]:
    """Return what can be read of an entry, and whether that is all of it."""
    try:
        return Annotation.model_validate(entry), True
    except ValidationError as error:
        bad = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
    good = {name: value for name, value in entry.items() if name not in bad} if isinstance(entry, dict) else {}
    return Annotation.model_validate(good), False


_known = cached(_read)


def _entries(path: Path) -> Entries:
    """Return the entries as they stand in the file, none without one; raises StoreError when they cannot be read."""
    if not path.exists():
        return {}
    with reading(path, "allow it to be read"):
        check_regular(path, MOST_BYTES)
        content = path.read_bytes()
    try:
        document = parse_json(content)
        schema, entries = document["schema"], document[RUNS]
    except (ValueError, KeyError, TypeError):
        schema, entries = None, None
    if isinstance(schema, int) and schema > paths.SCHEMA:
        raise StoreError(f"{path} was written by a newer GLT Studio: update GLT Studio to read titles and notes.")
    if not isinstance(entries, dict):
        raise _DamagedError(f"{path} is damaged, so runs stand without titles and notes: annotate one to begin anew.")
    return entries


def is_of_others(path: Path) -> bool:
    """Say whether a file is whole JSON of a form that annotations never had: another program's file of that name."""
    try:
        check_regular(path, MOST_BYTES)
        document = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return False
    return not isinstance(document, dict) or not {"schema", RUNS} & set(document)


def _entries_or_aside(path: Path) -> tuple[Entries, str]:
    try:
        return _entries(path), ""
    except _DamagedError:
        if is_of_others(path):
            raise StoreError(f"{path} is not GLT Studio's: choose another store with --store or GLT_STORE.") from None
        aside = _free_name(path)
        with writing(aside):
            path.rename(aside)
        return {}, f"{path.name} was damaged: it is kept as {aside.name}, and a new one begins."


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


def _write(path: Path, entries: Entries) -> None:
    document = {"schema": paths.SCHEMA, RUNS: dict(sorted(entries.items()))}
    replace_file(path, f"{json.dumps(document, indent=1, ensure_ascii=False)}\n".encode())
