"""Store: a folder of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from glt.config import RunConfig
from glt.errors import StoreError
from glt.pretraining.config import PretrainConfig
from glt.store import paths, trash
from glt.store.annotations import Annotation, Annotations, annotate, annotations_in
from glt.store.lock import briefly_locked
from glt.store.naming import run_name
from glt.store.opening import KnownRun, known_folder, open_folder
from glt.store.pretraining import Pretraining, write_pretrain_config
from glt.store.readers import readers_of
from glt.store.run import Run, read_config, write_config
from glt.store.run_folder import folder_size
from glt.store.safe_files import clear_unfinished, make_folder, reading, refuse_link
from glt.store.seed import SeedRun
from glt.store.unknown_run import unknown_run
from glt.user_path import user_path

AnyKind = TypeVar("AnyKind", bound=KnownRun)


class Contents(NamedTuple):
    """All runs of a store, and the folders that cannot be opened, each with the sentence that says why."""

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
    """The runs below one folder, which is made by the first write."""

    def __init__(self, root: Path | str, writable: bool = True) -> None:
        self.root = user_path(root) if isinstance(root, str) else root
        self.writable = writable

    @classmethod
    def around(cls, seed_run: SeedRun) -> Store:
        """Return the store a seed lies in, for reading."""
        return cls(seed_run.path.parents[1], writable=False)

    def contents(self) -> Contents:
        """Return everything that lies in the store, by name."""
        opened = [(folder, self._open(folder)) for folder in self.folders()]
        return Contents(
            [run for _, run in opened if not isinstance(run, StoreError)],
            [(folder, str(error)) for folder, error in opened if isinstance(error, StoreError)],
        )

    def runs(self) -> list[Run]:
        """Return all runs with rounds that can be opened, by name."""
        return self.contents().runs

    def pretrainings(self) -> list[Pretraining]:
        """Return all pre-training runs that can be opened, by name."""
        return self.contents().pretrainings

    def all_runs(self) -> list[KnownRun]:
        """Return all runs of whatever kind that can be opened, by name."""
        return self.contents().every

    def damaged(self) -> list[tuple[Path, str]]:
        """Return the folders that cannot be opened, each with the sentence that says why."""
        return self.contents().damaged

    def find(self, name: str, asking: str = "") -> Run:
        """Return a run by its name in the store, as "examples/NAME" or by its path; raises StoreError with near names.

        Only a run with rounds will do: for a pre-training run StoreError says what it is. A run that looks for another
        one is the one `asking`, and no near name.
        """
        return self._found(Run.open, name, asking)

    def find_pretraining(self, name: str, asking: str = "") -> Pretraining:
        """Return a pre-training run by name or path; raises StoreError as `find` does, or for a run with rounds."""
        return self._found(Pretraining.open, name, asking)

    def find_any(self, name: str) -> KnownRun:
        """Return a run of whatever kind by name or path; raises StoreError with near names."""
        return self._found(open_folder, name)

    def create(self, config: RunConfig) -> Run:
        """Return the run with `config`, made on disk when it is new; more rounds than before extend it.

        Raises StoreError when the store cannot be written or holds a run of that name with other settings.
        """
        self._writing()
        folder = self.root / run_name(config)
        refuse_link(folder)
        if not (folder / paths.CONFIG).exists():
            with self._writing_config(folder):
                write_config(folder, config)
            return Run(folder, config)
        run = Run.open(folder)
        return run if run.is_example or config.rounds <= run.config.rounds else self._extend(run, config.rounds)

    def create_pretraining(self, config: PretrainConfig) -> Pretraining:
        """Return the pre-training run with `config`, made when it is new; raises StoreError as `create` does."""
        self._writing()
        folder = self.root / run_name(config)
        refuse_link(folder)
        if not (folder / paths.CONFIG).exists():
            with self._writing_config(folder):
                write_pretrain_config(folder, config)
        return Pretraining.open(folder)

    def size_bytes(self) -> int:
        """Return the bytes in all files of the store, its trash included."""
        return folder_size(self.root)

    @property
    def queue_path(self) -> Path:
        """The folder in which waiting workers line up, which need not be there yet."""
        return self.root / paths.QUEUE

    def queue_folder(self) -> Path:
        """Return the folder in which waiting workers line up, made when missing."""
        self._writing()
        refuse_link(self.queue_path)
        make_folder(self.queue_path)
        return self.queue_path

    def folder(self, name: str) -> Path:
        """Return the folder of a run, readable or damaged, by name or path; raises StoreError with near names."""
        return self._place(name)[0]

    def folders(self) -> list[Path]:
        """Return the folders in the store, by name, whatever is in them."""
        if not self.root.exists():
            return []
        with reading(self.root, "choose another store with --store or GLT_STORE"), os.scandir(self.root) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
        return [paths.inside(self.root, name) for name in names]

    def move_to_trash(self, folder: Path) -> None:
        """Move a run's folder to the store's trash.

        Raises StoreError when it is at work, not of this store, or read by a run that is not complete.
        """
        self._writing()
        trash.move_to_trash(self.root, folder, self.readers(folder.name))

    def readers(self, name: str) -> list[Run]:
        """Return the runs of the store that need the one of this name: its masks, or the start it gives."""
        return readers_of(name, self.runs())

    def set_aside(self) -> list[Path]:
        """Return the folders that mending moves things to, which need not be there."""
        return [self.root / f".{paths.ASIDE}", *(folder / paths.ASIDE for folder in self.folders())]

    def trashed(self) -> list[Path]:
        """Return what lies in the trash."""
        return trash.trashed(self.root)

    def restorable(self) -> list[str]:
        """Return the names of the runs that can come back from the trash."""
        return sorted(trash.restorable(self.root))

    def restore(self, name: str) -> Path:
        """Bring the newest run of that name back from the trash; raises StoreError when none is there or one here."""
        self._writing()
        return trash.restore(self.root, name)

    def empty_trash(self) -> int:
        """Delete what lies in the trash and return the bytes freed."""
        self._writing()
        return trash.empty_trash(self.root)

    def annotations(self) -> Annotations:
        """Return what a person says about runs, these and examples, by their names."""
        return annotations_in(self.root)

    def annotate(self, name: str, changes: Mapping[str, Any]) -> tuple[Annotation, str]:
        """Change what is said about the run of this reference, by the fields of Annotation: `annotations.annotate`."""
        self._writing()
        return annotate(self.root, name, changes)

    def _found(self, open_: Callable[[Path, bool], AnyKind], name: str, asking: str = "") -> AnyKind:
        run = open_(*self._place(name, asking))
        run.annotated_in = self.root
        return run

    def _extend(self, run: Run, rounds: int) -> Run:
        with self._writing_config(run.path):
            # Somebody may have extended it further in the meantime.
            config = run.config.model_copy(update={"rounds": max(rounds, read_config(run.path).rounds)})
            write_config(run.path, config)
        return Run(run.path, config)

    @contextmanager
    def _writing_config(self, folder: Path) -> Iterator[None]:
        """Write a run's config.json alone; where it cannot be written, no empty folder stays behind."""
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
        elsewhere = user_path(name)
        if (example := _example(name)) is not None:
            _refuse_two_meanings(name, example)
            return example, False
        if (elsewhere / paths.CONFIG).exists():
            return elsewhere, True
        raise StoreError(self._unknown(name, asking))

    def _open(self, folder: Path) -> KnownRun | StoreError:
        try:
            return known_folder(folder, self.writable)
        except StoreError as error:
            return error

    def _unknown(self, name: str, asking: str) -> str:
        trashed: list[str] = []
        with suppress(StoreError):
            trashed = self.restorable()
        names = [folder.name for folder in self.folders() if folder.name != asking]
        return unknown_run(self.root, name, names, trashed, example_names())

    def _writing(self) -> None:
        if not self.writable:
            raise StoreError(f"The store {self.root} is open for reading only: choose one of your own with --store.")


def example_names() -> list[str]:
    """Return the names of the bundled examples, without their prefix; none where the program came without them."""
    folders = paths.EXAMPLES.iterdir() if paths.EXAMPLES.is_dir() else ()
    return sorted(folder.name for folder in folders if (folder / paths.CONFIG).exists())


def _example(reference: str) -> Path | None:
    """Return the folder of the bundled example that a reference "examples/NAME" means, None for any other text."""
    name = reference.removeprefix(paths.EXAMPLES_PREFIX)
    return paths.EXAMPLES / name if name != reference and name in example_names() else None


def _refuse_two_meanings(reference: str, example: Path) -> None:
    """Raise StoreError where a reference is also the path of another run's folder, seen from the working folder."""
    folder = Path(reference)
    if (folder / paths.CONFIG).exists() and folder.resolve() != example.resolve():
        raise StoreError(
            f"{reference} is a bundled example and also a folder here: write ./{reference} for the folder, or "
            f"{example} for the example."
        )
