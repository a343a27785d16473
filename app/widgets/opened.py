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
from glt.store import Pretraining, Run, Store, bundled_examples, finished_rounds
from glt.store.paths import EXAMPLES
from glt.user_path import default_store

# A script runs in one thread from its begin to its end.
_page = threading.local()


@dataclass(frozen=True)
class Opened:
    """The store that is open for writing, the examples beside it, and all their runs (the user's first).

    An example that the user makes again is `shadowed` by the user's run. `pretrainings` are the user's own: a run
    finds the one it starts from in its own store. `memory` holds what was found out about this look at the store.
    """

    store: Store
    own: tuple[Run, ...]
    examples: tuple[Run, ...]
    damaged: tuple[tuple[Path, str], ...]
    pretrainings: tuple[Pretraining, ...] = ()
    shadowed: tuple[Run, ...] = ()
    memory: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def runs(self) -> tuple[Run, ...]:
        """One run a name, the user's first."""
        return self.own + self.examples

    @property
    def results(self) -> tuple[Run, ...]:
        """One run a name for pictures and tables: the user's, or the example it shadows while that has more rounds."""
        examples = {run.name: run for run in self.shadowed}
        return tuple(
            max(run, examples[run.name], key=finished_rounds) if run.name in examples else run for run in self.runs
        )

    @property
    def everything(self) -> tuple[Run, ...]:
        """Every run there is, shadowed examples too, the user's first."""
        return self.runs + self.shadowed

    def find(self, name: str) -> Run:
        """Return a run by name; raises StoreError that suggests the nearest one."""
        for run in self.runs:
            if run.name == name:
                return run
        raise StoreError(unknown_name("run", name, [run.name for run in self.runs]))


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
    names = {run.name for run in contents.runs}
    examples = _in_order(bundled_examples(EXAMPLES, store.root))
    return Opened(
        store,
        _in_order(contents.runs),
        tuple(run for run in examples if run.name not in names),
        tuple(contents.damaged),
        tuple(contents.pretrainings),
        tuple(run for run in examples if run.name in names),
    )


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
