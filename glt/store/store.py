"""Store: a folder of runs; which runs need others, the trash, and the bundled examples."""

from __future__ import annotations

import copy
import difflib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from glt.config import RunConfig, make_config, pretraining_of
from glt.errors import ConfigError, StoreError, quoted
from glt.formats import as_typed, listing, number_of
from glt.methods import METHODS
from glt.pretraining.config import PretrainConfig
from glt.store import paths
from glt.store.annotations import Annotation, Annotations, annotate, annotations_in
from glt.store.atomic_io import cached, clear_unfinished, make_folder, read_json, reading, refuse_link, writing
from glt.store.locks import briefly_locked, is_locked
from glt.store.paths import EXAMPLES_PREFIX
from glt.store.pretraining import PRETRAINING, Pretraining
from glt.store.run import (
    KIND,
    REMEDY,
    RUN,
    AnyRun,
    Run,
    folder_size,
    read_config,
    read_document,
    run_name,
    write_config,
)
from glt.store.seed_run import SeedRun
from glt.user_path import user_path


def sources_of(config: RunConfig) -> list[str]:
    """Return the names of the runs that a run of this config needs, mostly none."""
    first = pretraining_of(config)
    return list(dict.fromkeys([*METHODS.get(config.method).reads(config), *([] if first is None else [first])]))


def check_unread(name: str, readers: Sequence[Run]) -> None:
    """Raise StoreError if a run that needs this one is running or incomplete."""
    waiting = []
    for run in readers:
        seeds = [run.seed(seed) for seed in run.seeds()]
        at_work = [one.seed for one in seeds if one.is_at_work()]
        lacking = [one.seed for one in seeds if one.seed not in at_work and not one.is_complete()]
        states = ((at_work, "running"), (lacking, "not complete"))
        if state := ", ".join(f"{listing(numbers)} {words}" for numbers, words in states if numbers):
            waiting.append(f"{run.name} ({state})")
    if waiting:
        who = " and ".join(waiting)
        them, need = ("it", "needs") if len(waiting) == 1 else ("them", "need")
        raise StoreError(
            f"{name} cannot be deleted, because {who} still {need} it: let {them} finish (`{as_typed('resume')}` "
            f"continues idle seeds), or stop and delete {them} first."
        )


# Runs that a sentence names.
MOST_NAMED = 3


def readers_left(name: str, readers: Sequence[Run]) -> str:
    """Say what deleting a run means for complete runs that need it, "" without any."""
    if not readers:
        return ""
    named = [run.name for run in readers[:MOST_NAMED]]
    more = len(readers) - len(named)
    who = ", ".join(named) + (f" and {number_of(more, 'other run')}" if more else "")
    need, are, their = ("needs", "is", "its") if len(readers) == 1 else ("need", "are", "their")
    return (
        f"{who} {need} {name} and {are} complete: {their} rounds stay, but none can be added or computed again "
        "without it."
    )


def readers_first(names: Iterable[str], runs: Iterable[AnyRun]) -> list[str]:
    """Return the names, each run before those it needs."""
    known = {run.name: run for run in runs}
    return sorted(names, key=lambda name: -len(_all_sources(name, known)))


def _all_sources(name: str, known: Mapping[str, AnyRun]) -> set[str]:
    run = known.get(name)
    direct = sources_of(run.config) if isinstance(run, Run) else []
    return set(direct).union(*(_all_sources(each, known) for each in direct))


# A run may be deleted, computed again and deleted again: the greatest number is the newest.
NUMBERED = re.compile(r"(?P<name>.+)\.(?P<number>[1-9]\d{0,17})")

# Whatever else a folder may hold one day gets a line here.
KnownRun = Run | Pretraining
KINDS: dict[str, type[Run] | type[Pretraining]] = {RUN: Run, PRETRAINING: Pretraining}


def open_folder(path: Path, writable: bool = True) -> KnownRun:
    """Open a run of any kind; raises StoreError if that fails or its kind is unknown."""
    config = path / paths.CONFIG
    remedy = REMEDY if os.path.lexists(config) else remedy_without_config(path)
    document = read_document(config, remedy)
    kind = document.get(KIND, RUN)
    if kind not in KINDS:
        raise StoreError(
            f"{path} holds a kind of run that this version does not know ({quoted(kind)}): update GLT Studio."
        )
    return KINDS[kind].from_document(path, document, writable)


def remedy_without_config(folder: Path) -> str:
    """Say what to do about a folder without config.json; names a damaged one that was set aside."""
    copies = sorted((folder / paths.ASIDE).glob(f"*/{paths.CONFIG}*"))
    if not copies:
        return REMEDY
    with suppress(StoreError, ConfigError, KeyError, TypeError):
        if run_name(make_config(read_json(copies[-1], "")["config"])) == folder.name:
            again = as_typed("run", "--config", copies[-1], "--store", folder.parent)
            match = f"the damaged one is {copies[-1]}, and its settings match the folder's name"
            return f"{match}: `{again}` continues with them"
    return (
        f"the damaged one is {copies[-1]}; start a run with the settings it had ({as_typed('run')}), which "
        "continues from the rounds on disk"
    )


# Whether a store may be written, to a cache of the runs opened in it by their config.json.
_OPENED = {
    True: cached(lambda config: open_folder(config.parent, writable=True)),
    False: cached(lambda config: open_folder(config.parent, writable=False)),
}


AnyKind = TypeVar("AnyKind", bound=KnownRun)


class Contents(NamedTuple):
    """All runs of a store, and the folders that cannot be opened, each with its error."""

    every: list[KnownRun]
    damaged: list[tuple[Path, str]]

    @property
    def runs(self) -> list[Run]:
        """The runs with rounds."""
        return [run for run in self.every if isinstance(run, Run)]

    @property
    def pretrainings(self) -> list[Pretraining]:
        """The pre-trainings."""
        return [run for run in self.every if isinstance(run, Pretraining)]


class Store:
    """The runs in one folder, which the first write creates."""

    def __init__(self, root: Path | str, writable: bool = True) -> None:
        self.root = user_path(root) if isinstance(root, str) else root
        self.writable = writable

    @classmethod
    def around(cls, seed_run: SeedRun) -> Store:
        """Return the store of a seed, for reading."""
        return cls(seed_run.path.parents[1], writable=False)

    def contents(self) -> Contents:
        """Return everything in the store, by name."""
        contents = Contents([], [])
        for folder in self.folders():
            try:
                contents.every.append(_OPENED[self.writable](paths.inside(folder, paths.CONFIG)))
            except StoreError as error:
                contents.damaged.append((folder, str(error)))
        return contents

    def runs(self) -> list[Run]:
        """Return all runs with rounds that can be opened, by name."""
        return self.contents().runs

    def pretrainings(self) -> list[Pretraining]:
        """Return all pre-training runs that can be opened, by name."""
        return self.contents().pretrainings

    def damaged(self) -> list[tuple[Path, str]]:
        """Return the folders that cannot be opened, each with its error."""
        return self.contents().damaged

    def find(self, name: str, asking: str = "") -> Run:
        """Return a run by name, "examples/NAME" or path; errors suggest similar names."""
        return self._found(Run.open, name, asking)

    def find_pretraining(self, name: str, asking: str = "") -> Pretraining:
        """Return a pre-training run by name or path; raises StoreError as `find` does, or for a run with rounds."""
        return self._found(Pretraining.open, name, asking)

    def find_any(self, name: str) -> KnownRun:
        """Return a run of any kind by name or path; raises StoreError with similar names."""
        return self._found(open_folder, name)

    def create(self, config: RunConfig) -> Run:
        """Return the run with `config`, made if new, extended if longer."""
        run = Run.open(self._made(config, RUN))
        if run.is_example or config.rounds <= run.config.rounds:
            return run
        with self._writing_config(run.path):
            # Somebody may have extended it further in the meantime.
            longer = run.config.model_copy(update={"rounds": max(config.rounds, read_config(run.path).rounds)})
            write_config(run.path, longer)
        return Run(run.path, longer)

    def create_pretraining(self, config: PretrainConfig) -> Pretraining:
        """Return the pre-training run with `config`, made if new; raises StoreError as `create`."""
        return Pretraining.open(self._made(config, PRETRAINING))

    def size_bytes(self) -> int:
        """Return the bytes in all files of the store, its trash included."""
        return folder_size(self.root)

    @property
    def queue_path(self) -> Path:
        """The folder of the queue, which may not exist yet."""
        return self.root / paths.QUEUE

    def queue_folder(self) -> Path:
        """Return the folder of the queue, made if missing."""
        self._refuse_read_only()
        refuse_link(self.queue_path)
        make_folder(self.queue_path)
        return self.queue_path

    def folder(self, name: str) -> Path:
        """Return a run's folder, even if damaged, by name or path; raises StoreError with similar names."""
        return self._place(name)[0]

    def folders(self) -> list[Path]:
        """Return all folders in the store, by name."""
        if not self.root.exists():
            return []
        with reading(self.root, "choose another store with --store or GLT_STORE"), os.scandir(self.root) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
        return [paths.inside(self.root, name) for name in names]

    def move_to_trash(self, folder: Path) -> None:
        """Move a run's folder to the trash, unless it runs or another run needs it."""
        self._refuse_read_only()
        is_in_store = folder.parent.resolve() == self.root.resolve()
        if not is_in_store and paths.is_in_examples(folder):
            name = f"{paths.EXAMPLES_PREFIX}{folder.name}"
            raise StoreError(f"{name} comes with GLT Studio and cannot be deleted: hide it instead (annotate --hide).")
        if not is_in_store or folder.is_symlink():
            raise StoreError(
                f"{folder} is not a folder of the store {self.root}, so it is left alone: delete it by hand."
            )
        with reading(folder, "allow it to be read, then delete it"):
            seeds = sorted(seed for path in folder.iterdir() if (seed := paths.seed_of(path.name)) is not None)
        for seed in seeds:
            if is_locked(paths.seed_folder(folder, seed) / paths.LOCK):
                raise StoreError(f"The run {folder.name} is running (seed {seed}): stop it, then delete it.")
        check_unread(folder.name, self.readers(folder.name))
        trash = self._trash()
        make_folder(trash)
        matches = [match for path in trash.iterdir() if (match := NUMBERED.fullmatch(path.name)) is not None]
        newest = max((int(match["number"]) for match in matches if match["name"] == folder.name), default=0)
        with writing(trash):
            folder.rename(trash / f"{folder.name}.{newest + 1}")

    def readers(self, name: str) -> list[Run]:
        """Return the runs of the store that need the run `name`: its masks, or its first layer."""
        return [run for run in self.runs() if name in sources_of(run.config)]

    def set_aside(self) -> list[Path]:
        """Return the folders that repairs move files to; they may not exist."""
        return [self.root / f".{paths.ASIDE}", *(folder / paths.ASIDE for folder in self.folders())]

    def trashed(self) -> list[Path]:
        """Return the contents of the trash, by name."""
        trash = self._trash()
        return sorted(trash.iterdir()) if trash.exists() else []

    def restorable(self) -> list[str]:
        """Return the names of the runs that can be restored from the trash."""
        return sorted(self._newest_trashed())

    def restore(self, name: str) -> Path:
        """Restore the most recently deleted run of that name; raises StoreError if none, or the name is taken."""
        self._refuse_read_only()
        held = self._newest_trashed()
        if name not in held:
            if not held:
                raise StoreError(f"The trash of the store {self.root} is empty: no run can be restored from it.")
            known = ", ".join(sorted(held))
            raise StoreError(f"The trash of the store {self.root} holds no run {name!r}: it holds {known}.")
        with briefly_locked(self.root / paths.CONFIG_LOCK):
            place = self.root / name
            if os.path.lexists(place):
                raise StoreError(
                    f"The store {self.root} holds a run {name} again: keep that one, or move its folder out of the "
                    "store and restore once more."
                )
            with writing(place):
                held[name].rename(place)
        return place

    def empty_trash(self) -> int:
        """Delete the contents of the trash, never targets of links, and return the bytes freed."""
        self._refuse_read_only()
        freed = sum(folder_size(path) for path in self.trashed() if not path.is_symlink())
        for path in self.trashed():
            with writing(path):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        return freed

    def annotations(self) -> Annotations:
        """Return the annotations of runs and examples, by name."""
        return annotations_in(self.root)

    def annotate(self, name: str, changes: Mapping[str, Any]) -> tuple[Annotation, str]:
        """Change fields of a run's annotation; see `annotations.annotate`."""
        self._refuse_read_only()
        return annotate(self.root, name, changes)

    def _trash(self) -> Path:
        trash = self.root / paths.TRASH
        if trash.is_symlink():
            raise StoreError(f"{trash} is a symbolic link, and nothing is deleted through links: remove the link.")
        return trash

    def _newest_trashed(self) -> dict[str, Path]:
        """Return the newest folder in the trash of each run, by name."""
        folders = [path for path in self.trashed() if path.is_dir() and not path.is_symlink()]
        numbered = [(match, path) for path in folders if (match := NUMBERED.fullmatch(path.name)) is not None]
        return {match["name"]: path for match, path in sorted(numbered, key=lambda found: int(found[0]["number"]))}

    def _found(self, open_: Callable[[Path, bool], AnyKind], name: str, asking: str = "") -> AnyKind:
        run = open_(*self._place(name, asking))
        run.annotated_in = self.root
        return run

    def _made(self, config: RunConfig | PretrainConfig, kind: str) -> Path:
        """Return the folder of the run with `config`, made if it is new."""
        self._refuse_read_only()
        folder = self.root / run_name(config)
        refuse_link(folder)
        if not (folder / paths.CONFIG).exists():
            with self._writing_config(folder):
                write_config(folder, config, kind)
        return folder

    @contextmanager
    def _writing_config(self, folder: Path) -> Iterator[None]:
        """Lock and write a run's config.json; if that fails, no empty folder stays behind."""
        make_folder(self.root)
        with briefly_locked(self.root / paths.CONFIG_LOCK):
            make_folder(folder)
            clear_unfinished(folder / paths.CONFIG)
            try:
                yield
            except StoreError:
                with suppress(OSError):
                    folder.rmdir()
                raise

    def _place(self, name: str, asking: str = "") -> tuple[Path, bool]:
        """Return the folder of a run and whether it may be written."""
        inside = self.root / name
        if name and Path(name).name == name and not name.startswith(".") and inside.is_dir():
            return inside, self.writable
        bundled = name.removeprefix(EXAMPLES_PREFIX)
        if bundled != name and bundled in example_names():
            example, folder = paths.EXAMPLES / bundled, Path(name)
            if (folder / paths.CONFIG).exists() and folder.resolve() != example.resolve():
                raise StoreError(
                    f"{name} is a bundled example and also a folder here: write ./{name} for the folder, or {example} "
                    "for the example."
                )
            return example, False
        elsewhere = user_path(name)
        if (elsewhere / paths.CONFIG).exists():
            return elsewhere, True
        raise StoreError(self._unknown(name, asking))

    def _unknown(self, name: str, asking: str) -> str:
        """Say that there is no run `name`, and where it is instead, or which names are similar."""
        examples = example_names()
        with suppress(StoreError):
            if name in self.restorable():
                restore = as_typed("delete", "--restore", name, "--store", self.root)
                return f"No run {name!r} in the store {self.root}: it is in the trash; `{restore}` restores it."
        if name in examples:
            bundled = f"{EXAMPLES_PREFIX}{name}"
            return f"No run {name!r} in the store {self.root}: the bundled example of that name is {bundled}."
        if name.startswith(EXAMPLES_PREFIX):
            names, what = [f"{EXAMPLES_PREFIX}{each}" for each in examples], f"bundled example {name!r}"
            instead = f"there are {len(names)} examples"
        else:
            names = [folder.name for folder in self.folders() if folder.name != asking]
            some = f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
            instead = f"the store holds {some}" if names else "the store holds no runs yet"
            what = f"run {name!r} in the store {self.root}"
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"{instead}."
        return f"No {what}, and no run folder at that path: {hint}"

    def _refuse_read_only(self) -> None:
        if not self.writable:
            raise StoreError(f"The store {self.root} is read-only: choose one of your own with --store.")


def example_names() -> list[str]:
    """Return the names of the bundled examples, without their prefix; none where the program came without them."""
    folders = paths.EXAMPLES.iterdir() if paths.EXAMPLES.is_dir() else ()
    return sorted(folder.name for folder in folders if (folder / paths.CONFIG).exists())


def bundled_examples(folder: Path | None = None, annotated_in: Path | None = None) -> list[Run]:
    """Return the example runs in a folder, annotated in the store at `annotated_in`."""
    return [_bundled(run, annotated_in) for run in Store(folder or paths.EXAMPLES, writable=False).runs()]


@lru_cache(maxsize=1000)
def _bundled(run: Run, root: Path | None) -> Run:
    """Return the run as the store `root` knows it; one shared object, because its contents are cached."""
    copied = copy.copy(run)
    copied.is_bundled = True
    copied.annotated_in = root or run.annotated_in
    return copied
