"""The checks of a store, its runs and their seeds: what must hold, why, what a repair does.

Of a run
- config.json can be read and belongs to the folder, since every other file depends on it; moved aside.
Of a seed
- Its rounds are its own, or a copied seed would count twice; the folder is moved aside.
- Every file opens (no folder, dead link or bad sector); moved aside, then treated as a damaged round.
- environment.json, which records what computed the results, matches its checksum; moved aside.
- status.json is readable and true: a seed marked running cannot be resumed; copied, then the true state is written.
- Lines, epochs and tensors of finished rounds match their checksums; from the first damaged round on, all is moved
  aside, and a resume computes the same bytes again.
- Every finished round has a checksum, or damage would go unnoticed; written again if all rounds can be read.
- Stored predictions match their checksum; moved aside, and `glt predictions` computes them again.
- The checkpoint and other files of the unfinished round are usable, since a resume starts from them; moved aside.
- theta_0 is readable, since every round rewinds to it; moved aside, and a resume draws it again from the seed.
- Tables end with a whole line: full disks and power loss cut lines; copied aside, then the half line is cut.
- A pre-training's result and epochs are readable, since runs start from it; moved aside; a resume trains again.
Of a store
- No unfinished write or place in the queue belongs to a dead process; annotations.json is readable; moved aside.

Repairs delete nothing. Other programs' files are reported and stay. Examples, running seeds and whatever a symbolic
link leads to are never changed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from glt.errors import StoreError
from glt.formats import as_typed
from glt.jobs.queue import TICKET
from glt.store import AnyRun, PretrainingSeed, Run, SeedFolder, SeedRun, State, Store, paths, recovery
from glt.store.annotations import is_of_others
from glt.store.atomic_io import CHECKSUM, read_json, whole_lines
from glt.store.checksums import foreign_owner
from glt.store.locks import ACTIVE, is_locked, is_seen_locked
from glt.store.recovery import is_usable
from glt.store.run import owner_of
from glt.store.store import open_folder, remedy_without_config

Repair = Enum("Repair", ["MOVE", "CUT", "ROUNDS", "STATUS"])

# Seconds. A write takes moments; a younger one may be of a host whose processes are not seen here.
WRITING = 10.0
STORE_MARKS = (paths.CONFIG_LOCK, paths.ANNOTATIONS_LOCK, paths.QUEUE)
TABLES = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)
CONFIG_REMEDY = "restore it from a copy, or start a run with the same settings, which continues from the rounds on disk"
ROUNDS_AGAIN = "resuming recomputes what is missing"
PREDICTED_AGAIN = f"`{as_typed('predictions')}` computes it again"
# What moving a file of a seed aside leads to.
AFTER = {
    paths.STATUS: "the other files show how far the seed is",
    paths.ENVIRONMENT: "the record of what a finished seed was computed with is lost",
    paths.LOG: "the log is lost",
    paths.LOCK: "the next worker makes a new one",
    paths.CHECKPOINT: "the unfinished round starts again",
    paths.CHECKSUMS: "it is recomputed from the files",
    paths.INIT: "resuming draws theta_0 again from the seed",
    paths.PRETRAINED: "resuming trains it again",
}


@dataclass(frozen=True)
class Finding:
    """Something wrong with `path`; `then` says what `repair` does, or the user can do."""

    path: Path
    wrong: str
    then: str
    repair: Repair | None = None
    is_fault: bool = True

    @property
    def sentence(self) -> str:
        """The finding and its remedy in one line."""
        return f"{self.path} {self.wrong}: {'with --repair, ' if self.repair else ''}{self.then}."

    def as_json(self) -> dict[str, Any]:
        """Return the entry that `glt doctor --json` prints."""
        words = {"file": str(self.path), "wrong": self.wrong, "then": self.then}
        return {**words, "can_be_mended": self.repair is not None, "is_fault": self.is_fault}


@dataclass(frozen=True)
class Examined:
    """The findings in a run's folder, or beside the runs of a store."""

    folder: Path
    findings: tuple[Finding, ...]
    run: AnyRun | None = None
    busy: tuple[int, ...] = ()
    is_store: bool = False


def examine_store(store: Store) -> Iterator[Examined]:
    """Examine each run of a store, then the files beside them."""
    root = store.root
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root} is not a folder, so it is not a store: name one with --store or GLT_STORE.")
    if root.exists() and not _looks_like_store(store) and any(root.iterdir()):
        raise StoreError(f"{root} is not a store: it contains no run; name the folder of your runs with --store.")
    yield from map(examine, store.folders())
    yield examine_beside_runs(store)


def examine_beside_runs(store: Store) -> Examined:
    """Examine the files of a store that belong to no run."""
    return Examined(store.root, tuple(_store_findings(store)), is_store=True)


def examine(folder: Path, held: Collection[int] = ()) -> Examined:
    """Examine every file of one run except running seeds; the caller holds the locks of seeds `held`."""
    try:
        run = open_folder(folder)
    except StoreError as error:
        return _without_links(Examined(folder, (_config_finding(folder, error),)))
    if run.is_example:
        return Examined(folder, tuple(_example_findings(run)) if isinstance(run, Run) else (), run)
    found: list[Finding] = []
    busy: list[int] = []
    for number, path in sorted(
        (number, path) for path in folder.iterdir() if (number := paths.seed_of(path.name)) is not None
    ):
        if not path.is_dir():
            found.append(_moved(path, "is not a folder", "resuming computes the seed again"))
        elif run.seed(number).is_at_work() or (number not in held and is_seen_locked(path / paths.LOCK)):
            busy.append(number)
        else:
            found += _seed_findings(run.seed(number))
    return _without_links(Examined(folder, (*found, *_strays(folder, paths.is_of_run)), run, tuple(busy)))


def _moved(path: Path, wrong: str, then: str = "") -> Finding:
    return Finding(path, wrong, f"it is set aside; {then}" if then else "it is set aside", Repair.MOVE)


def _without_links(examined: Examined) -> Examined:
    """Drop the repairs of everything behind a symbolic link: it is outside the store."""
    then = "it is reached through a symbolic link, so it is not changed: replace the link by the folder itself"
    folder, found = examined.folder, []
    for each in examined.findings:
        # The last parent of the relative path is ".", the folder itself.
        is_linked = any((folder / part).is_symlink() for part in each.path.relative_to(folder).parents)
        found.append(replace(each, then=then, repair=None) if each.repair and is_linked else each)
    return replace(examined, findings=tuple(found))


# A run's folder


def _config_finding(folder: Path, error: StoreError) -> Finding:
    """Say what is wrong with the config.json of a folder that cannot be opened."""
    path, owner = folder / paths.CONFIG, owner_of(folder)
    has_seeds = any(paths.seed_of(each.name) is not None for each in folder.iterdir())
    is_run = paths.has_run_name(folder.name) and has_seeds
    if "update GLT Studio" in str(error):
        return Finding(path, "was written by a newer GLT Studio", "update GLT Studio")
    if is_run and not os.path.lexists(path):
        return Finding(path, "is missing", remedy_without_config(folder))
    try:
        document = read_json(path, "")
        may_be_settings = isinstance(document, dict) and bool({"schema", "config"} & set(document))
    except StoreError:
        may_be_settings = os.path.lexists(path)
    # Many programs write a config.json: it is only moved where the folder's name, too, is a run's.
    if owner is None and not (is_run and may_be_settings):
        in_store = _looks_like_store(Store(folder.parent, writable=False))
        then = "move it out of the store" if in_store else "give the name or the folder of a run"
        return Finding(folder, "is not a run", then)
    if not is_usable(path):
        return _moved(path, _what_it_is(path), CONFIG_REMEDY)
    if owner is not None and owner != folder.name:
        then = f"rename the folder back to {owner}, or undo the edit of the file"
        return Finding(path, f"belongs to the run {owner}, not to this folder", then)
    return _moved(path, "is damaged", CONFIG_REMEDY)


def _example_findings(run: Run) -> Iterator[Finding]:
    """Find unreadable files of an example; examples are never repaired."""
    reads: dict[str, Callable[[SeedRun], object]] = {
        paths.ROUNDS: SeedRun.rounds,
        paths.EVENTS: SeedRun.events,
        paths.ENVIRONMENT: SeedRun.environment,
        paths.COMPACT_MASKS: lambda seed: seed.masks(0),
    }
    for seed in map(run.seed, run.seeds()):
        stored = filter(seed.has_predictions, range(seed.whole_rounds()))
        of_rounds: dict[str, Callable[[SeedRun], object]] = {
            paths.predictions_file(seed.path, number).name: partial(SeedRun.predictions, round=number)
            for number in stored
        }
        for name, read in {**reads, **of_rounds}.items():
            try:
                read(seed)
            except StoreError:
                yield Finding(
                    seed.path / name,
                    recovery.damaged_or_missing(seed.path / name),
                    "restore it from a copy (in a checkout: git checkout)",
                )


def _strays(folder: Path, is_ours: Callable[[str], bool]) -> Iterator[Finding]:
    """Find unfinished writes of our files, and other programs' files, which stay."""
    for path in sorted(folder.iterdir()):
        writer = paths.writer_of(path.name)
        if writer is not None and is_ours(writer[0]):
            with suppress(FileNotFoundError):
                if time.time() - path.lstat().st_mtime >= WRITING and not psutil.pid_exists(writer[1]):
                    yield _moved(path, "was being written when its process ended")
        elif not is_ours(path.name) and not path.name.startswith("."):
            yield Finding(path, "was not written by GLT Studio", "it is not changed", is_fault=False)


# A seed


def state_of_files(seed: SeedFolder) -> State:
    """Return the state of an idle seed as its files other than status.json show it."""
    has_all = seed.is_complete() and (not isinstance(seed, SeedRun) or seed.has_theta0())
    return "done" if has_all else "stopped"


def _seed_findings(seed: SeedFolder) -> list[Finding]:
    """Return all findings on an idle seed."""
    with suppress(StoreError):
        if isinstance(seed, SeedRun) and (owner := foreign_owner(seed.path)):
            return [_moved(seed.path, f"holds the rounds of {owner}", "resuming computes the seed itself")]
    bad = recovery.unusable(seed.path)
    found = []
    for path in bad:
        is_evidence = paths.is_predictions(path.name)
        then = f"it is set aside; {PREDICTED_AGAIN if is_evidence else AFTER.get(path.name, ROUNDS_AGAIN)}"
        of_rounds = not is_evidence and (path.name not in AFTER or path.name in (paths.CHECKSUMS, paths.PRETRAINED))
        way = Repair.STATUS if path.name == paths.STATUS else Repair.ROUNDS if of_rounds else Repair.MOVE
        found.append(Finding(path, _what_it_is(path), then, way))
    return [*found, *(finding for finding in _content_findings(seed) if finding.path not in bad)]


def _content_findings(seed: SeedFolder) -> Iterator[Finding]:
    """Find what is wrong with files that can be opened."""
    environment = seed.path / paths.ENVIRONMENT
    # Files of earlier versions carry no checksums.
    has_checksums = _is_signed(seed.path.parent / paths.CONFIG) or _is_signed(environment)
    try:
        is_damaged = bool(seed.environment()) and has_checksums and not _is_signed(environment)
    except StoreError:
        is_damaged = True
    if is_damaged:
        yield _moved(environment, "is damaged", AFTER[paths.ENVIRONMENT])
    yield from _status_findings(seed)
    if isinstance(seed, SeedRun):
        yield from _round_findings(seed, has_checksums)
    elif isinstance(seed, PretrainingSeed):
        yield from _pretraining_findings(seed)
    for path in (seed.path / name for name in TABLES):
        if is_usable(path) and (extra := path.stat().st_size - whole_lines(path)[1]):
            then = f"a copy is set aside and the {extra} bytes are cut"
            yield Finding(path, "ends in an incomplete line", then, Repair.CUT)
    yield from _strays(seed.path, paths.is_of_seed)


def _is_signed(path: Path) -> bool:
    """Say whether a JSON file carries a checksum, right or wrong."""
    with suppress(StoreError):
        document = read_json(path, "")
        return isinstance(document, dict) and CHECKSUM in document
    return False


def _status_findings(seed: SeedFolder) -> Iterator[Finding]:
    path, written, state = seed.path / paths.STATUS, seed.written_status(), state_of_files(seed)
    then = f"the seed is set to {state}"
    if written is None:
        if seed.was_started():
            wrong = "is damaged" if is_usable(path) else "is missing"
            yield Finding(path, wrong, f"{then}, as the other files show", Repair.STATUS)
    elif written.state in ACTIVE and seed.status().state not in ACTIVE:
        process = f"process {written.pid}" if written.pid else "its process"
        wrong = f"says {written.state}, but {process} no longer exists"
        yield Finding(path, wrong, f"{then}, and can be resumed", Repair.STATUS)
    elif written.state not in (*ACTIVE, "done") and state == "done" and seed.is_sound():
        yield Finding(path, f"says {written.state}, but everything is complete", then, Repair.STATUS)


def _round_findings(seed: SeedRun, has_checksums: bool) -> Iterator[Finding]:
    """Find damaged rounds, an unusable checkpoint, files of no round, missing checksums, a damaged theta_0."""
    faults, finished = recovery.round_faults(seed.path), recovery.finished_rounds(seed.path)
    first = min((fault.round for fault in faults), default=finished)
    are = "is" if first == finished - 1 else "are"
    then = f"{recovery.name_rounds(first, finished)} {are} set aside, and {ROUNDS_AGAIN}"
    for fault in faults:
        yield Finding(fault.path, fault.wrong, then, Repair.ROUNDS)
    again = "resuming computes the round again"
    if why := seed.checkpoint_fault():
        yield _moved(seed.path / paths.CHECKPOINT, f"cannot be used ({why})", again)
    for path in sorted(seed.path.iterdir()):
        number = paths.round_of(path.name)
        if number is not None and number >= finished and is_usable(path):
            yield _moved(path, "belongs to no finished round", again)
        elif number is not None and is_usable(path) and _has_damaged_predictions(seed, number, path):
            yield _moved(path, "is damaged", PREDICTED_AGAIN)
    # A worker that was killed at the end of a round leaves one without a checksum.
    path, known = seed.path / paths.CHECKSUMS, len(recovery.checksums_or_none(seed.path))
    if not faults and known < finished and has_checksums:
        wrong = f"lacks {recovery.name_rounds(known, finished)}" if path.exists() else "is missing"
        yield Finding(path, wrong, AFTER[paths.CHECKSUMS], Repair.ROUNDS)
    path = seed.path / paths.INIT
    # A seed that is called stopped makes it again when it is resumed.
    if not seed.has_theta0() and seed.whole_rounds() and (path.exists() or seed.status().state == "done"):
        yield _moved(path, recovery.damaged_or_missing(path), f"the seed is set to stopped, and {AFTER[paths.INIT]}")


def _has_damaged_predictions(seed: SeedRun, round: int, path: Path) -> bool:
    if paths.is_predictions(path.name):
        try:
            seed.predictions(round)
        except StoreError:
            return True
    return False


def _pretraining_findings(seed: PretrainingSeed) -> Iterator[Finding]:
    if not seed.was_complete() or seed.is_sound():
        return
    wrong, then = "is missing", "the seed is set to stopped"
    if seed.is_complete():
        wrong, then = f"does not match its epochs in {paths.EVENTS}", "it is set aside"
        try:
            seed.first_layer()
        except StoreError:
            wrong = "is damaged"
    yield Finding(seed.path / paths.PRETRAINED, wrong, f"{then}; {AFTER[paths.PRETRAINED]}", Repair.ROUNDS)


def _what_it_is(path: Path) -> str:
    """Say what is in the place of a file that cannot be opened."""
    if path.is_symlink() and not path.exists():
        return "is a broken symbolic link"
    try:
        if path.is_dir():
            return "is a folder instead of a file"
        if not stat.S_ISREG(path.stat().st_mode):
            return "is not a regular file"
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        return f"cannot be read ({os.strerror(error.errno or 0)})"
    return "is damaged"


# A store beside its runs


def _looks_like_store(store: Store) -> bool:
    """Say whether a folder holds a run, also a renamed one, or a file that only stores have."""
    folders = store.folders()
    return (
        any(paths.has_run_name(folder.name) for folder in folders)
        or any((store.root / mark).exists() for mark in STORE_MARKS)
        or any(owner_of(folder) is not None for folder in folders)
    )


def _store_findings(store: Store) -> Iterator[Finding]:
    if not store.root.is_dir():
        return
    path, lost = store.root / paths.ANNOTATIONS, "its titles and notes are lost"
    if os.path.lexists(path) and not is_usable(path):
        yield _moved(path, _what_it_is(path), lost)
    elif path.exists() and is_of_others(path):
        yield Finding(path, "was not written by GLT Studio", "it is not changed", is_fault=False)
    elif damage := store.annotations().damage:
        wrong = damage.removeprefix(f"{path} ").split(":")[0].split(", so")[0]
        is_partial = "cannot be read" in damage
        yield Finding(path, wrong, "annotate it again") if is_partial else _moved(path, wrong, lost)
    folders = {folder.name for folder in store.folders()}
    yield from _strays(store.root, lambda name: name.startswith(paths.ANNOTATIONS) or name in folders)
    queue = store.queue_path
    # The next waiting worker would clear such places too. Without locks on the file system they cannot be recognised.
    for path in sorted(queue.rglob(f"*{TICKET}")) if queue.is_dir() and not queue.is_symlink() else ():
        with suppress(StoreError):
            if not is_usable(path) or not is_locked(path):
                yield _moved(path, "is a place in the queue whose process no longer exists")
