"""Which runs the app shows: those of the user's store, and the bundled examples after them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from analysis import palette
from analysis.settings import settings_of, value_order
from glt.config import RunConfig
from glt.data import DATASETS
from glt.errors import StoreError, unknown_name
from glt.methods import METHODS
from glt.pretraining.start import pretraining_of
from glt.reproduction.experiment import NETWORKS
from glt.store import Pretraining, Run, Store, bundled_examples
from glt.store.paths import EXAMPLES, EXAMPLES_PREFIX, is_same_folder
from glt.user_path import default_store

# A script runs in one thread from its begin to its end.
_page = threading.local()


@dataclass(frozen=True)
class Opened:
    """The store that is open for writing, the examples beside it, and all their runs (the user's first).

    A run of the user's own may have the name of an example: each is named by its reference. `pretrainings` are the
    user's own: a run finds the one it starts from in its own store. `memory` holds what was found out about this look
    at the store.
    """

    store: Store
    own: tuple[Run, ...]
    examples: tuple[Run, ...]
    damaged: tuple[tuple[Path, str], ...]
    pretrainings: tuple[Pretraining, ...] = ()
    memory: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run with rounds, the user's first."""
        return self.own + self.examples

    def absence(self, reference: str) -> str:
        """Return the sentence that says why a run or pre-training cannot be shown, "" for one that is here."""
        if any(run.reference == reference for run in (*self.runs, *self.pretrainings)):
            return ""
        damage = next((why for folder, why in self.damaged if folder.name == reference), None)
        if damage is not None:
            return f"The run {reference} cannot be opened: {damage}"
        where = (
            "among the bundled examples" if reference.startswith(EXAMPLES_PREFIX) else f"in the store {self.store.root}"
        )
        in_trash = " It lies in the trash: Restore, on Runs, brings it back." if reference in self._restorable() else ""
        return f"The run {reference} is no longer {where}: it was deleted, renamed or moved.{in_trash}"

    def _restorable(self) -> list[str]:
        try:
            return self.store.restorable()
        except StoreError:
            return []

    def find(self, reference: str) -> Run:
        """Return a run by its reference; raises StoreError that suggests the nearest one."""
        for run in self.runs:
            if run.reference == reference:
                return run
        raise StoreError(unknown_name("run", reference, [run.reference for run in self.runs]))


@contextmanager
def one_look() -> Iterator[None]:
    """Have all parts of a page see the store as it was when the first of them looked; each look opens every run."""
    _page.looks = True
    try:
        yield
    finally:
        _page.looks, _page.found = False, None


def opened() -> Opened:
    """Open the store that GLT_STORE names (default: `runs` in the working folder) and the bundled examples."""
    if not getattr(_page, "looks", False):
        return _look()
    if getattr(_page, "found", None) is None:
        _page.found = _look()
    found: Opened = _page.found
    return found


def store_root() -> Path:
    """Return the folder of the user's store, which need not be there."""
    return default_store()


def _look() -> Opened:
    store = Store(store_root())
    contents = store.contents()
    is_theirs = is_same_folder(store.root, EXAMPLES)
    own = () if is_theirs else _in_order(contents.runs)
    examples = _in_order(bundled_examples(EXAMPLES, store.root))
    return Opened(store, own, examples, tuple(contents.damaged), tuple(contents.pretrainings))


def bundled() -> tuple[Run, ...]:
    """Return the examples alone, without a look at the user's store."""
    return _in_order(bundled_examples(EXAMPLES))


def _in_order(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Sort runs by task, data set and network as the paper has them, then UGS first, then by settings."""
    return tuple(sorted(runs, key=_place))


@lru_cache(maxsize=20_000)
def _place(run: Run) -> tuple[object, ...]:
    dataset, task, model = setting(run.config)
    size = DATASETS.get(dataset).nodes if dataset in DATASETS.names() else math.inf
    network = NETWORKS.index(model) if model in NETWORKS else len(NETWORKS)
    values = tuple(map(value_order, settings_of(run.config).values()))
    order = (task != "node", size, network)
    return (*order, follows_another(run), palette.rank(run.config.method), values, run.name)


def follows_another(run: Run) -> bool:
    """Say whether a run starts from or reads another one, as a study of that one's result."""
    return METHODS.get(run.config.method).reads_runs or pretraining_of(run.config) is not None


def setting(config: RunConfig) -> tuple[str, str, str]:
    """Return what two runs must share to stand in one picture: data set, task and network."""
    return config.dataset, config.task, config.model
