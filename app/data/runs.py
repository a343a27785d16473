"""The runs of the app (own runs and examples) and the progress of their seeds."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import streamlit as st

from analysis import palette
from analysis.labels import settings_of, value_order
from glt import formats
from glt.config import RunConfig, pretraining_of
from glt.datasets import DATASETS
from glt.errors import StoreError, unknown_name
from glt.methods import METHODS
from glt.reproduction.experiments import NETWORKS
from glt.store import AnyRun, Pretraining, PretrainingSeed, RoundRecord, Run, State, Status, Store, bundled_examples
from glt.store.locks import ACTIVE
from glt.store.paths import EXAMPLES, EXAMPLES_PREFIX, is_same_folder
from glt.user_path import default_store

# A script run stays in one thread.
_page = threading.local()


@dataclass(frozen=True)
class Catalog:
    """The open store and the examples, with all their runs.

    An own run may have the name of an example, so runs are identified by their reference. `pretrainings` are those of
    the store. `memory` caches values derived from this reading of the store.
    """

    store: Store
    own: tuple[Run, ...]
    examples: tuple[Run, ...]
    damaged: tuple[tuple[Path, str], ...]
    pretrainings: tuple[Pretraining, ...] = ()
    memory: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs, the user's first."""
        return self.own + self.examples

    def absence(self, reference: str) -> str:
        """Return why a run or pre-training cannot be shown, "" if it can."""
        if any(run.reference == reference for run in (*self.runs, *self.pretrainings)):
            return ""
        damage = next((why for folder, why in self.damaged if folder.name == reference), None)
        if damage is not None:
            return f"The run {reference} cannot be opened: {damage}"
        where = (
            "among the bundled examples" if reference.startswith(EXAMPLES_PREFIX) else f"in the store {self.store.root}"
        )
        in_trash = ""
        with suppress(StoreError):
            if reference in self.store.restorable():
                in_trash = " It is in the trash: choose Restore on the page Runs."
        return f"The run {reference} is no longer {where}: it was deleted, renamed or moved.{in_trash}"

    def find(self, reference: str) -> Run:
        """Return a run by its reference; raises StoreError with the closest name."""
        for run in self.runs:
            if run.reference == reference:
                return run
        raise StoreError(unknown_name("run", reference, [run.reference for run in self.runs]))


@contextmanager
def one_look() -> Iterator[None]:
    """Open the store once for a whole page: opening reads every run."""
    _page.looks = True
    try:
        yield
    finally:
        _page.looks, _page.catalog = False, None


def open_catalog() -> Catalog:
    """Open the store of GLT_STORE (default: `runs` in the working folder) and the examples."""
    if not getattr(_page, "looks", False):
        return _look()
    if getattr(_page, "catalog", None) is None:
        _page.catalog = _look()
    catalog: Catalog = _page.catalog
    return catalog


def _look() -> Catalog:
    store = Store(default_store())
    contents = store.contents()
    is_theirs = is_same_folder(store.root, EXAMPLES)
    own = () if is_theirs else _in_order(contents.runs)
    examples = _in_order(bundled_examples(EXAMPLES, store.root))
    return Catalog(store, own, examples, tuple(contents.damaged), tuple(contents.pretrainings))


def bundled() -> tuple[Run, ...]:
    """Return the examples, without opening the user's store."""
    return _in_order(bundled_examples(EXAMPLES))


def _in_order(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Sort runs by task, data set and network in the paper's order, method (UGS first), settings."""
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
    """Return whether a run starts from another one or reads its masks."""
    return METHODS.get(run.config.method).reads_runs or pretraining_of(run.config) is not None


def setting(config: RunConfig) -> tuple[str, str, str]:
    """Return data set, task and network: what the runs of a figure share."""
    return config.dataset, config.task, config.model


WAITS = "waits for a free core"
ORDER: tuple[State, ...] = ("running", "queued", "failed", "lost", "stopped", "done")


@dataclass(frozen=True)
class SeedProgress:
    """One seed: state, share done, last finished round and its `test` score (accuracy; ROC-AUC or Hits@K for links)."""

    seed: int
    state: State
    fraction: float
    last_round: int | None
    test: float | None
    doing: str
    error: str | None


@dataclass(frozen=True)
class RunProgress:
    """All seeds of a run; `damage` says why its rounds cannot be read."""

    run: AnyRun
    seeds: tuple[SeedProgress, ...]
    damage: str = ""

    @property
    def state(self) -> State:
        """The most urgent state: active, then failed, then finished."""
        return foremost(seed.state for seed in self.seeds)

    @property
    def is_active(self) -> bool:
        """Whether any seed runs or is queued."""
        return any(seed.state in ACTIVE for seed in self.seeds)

    @property
    def fraction(self) -> float:
        """Share of the run that is done."""
        return sum(seed.fraction for seed in self.seeds) / len(self.seeds) if self.seeds else 0.0

    @property
    def unfinished(self) -> tuple[int, ...]:
        """Unfinished seeds without a worker."""
        return tuple(seed.seed for seed in self.seeds if seed.state not in (*ACTIVE, "done"))

    @property
    def is_mixed(self) -> bool:
        """Whether the seeds are in different states."""
        return len({seed.state for seed in self.seeds}) > 1

    @property
    def newest(self) -> str:
        """The last round of all seeds and its mean test score, "" if there is none."""
        known = [seed for seed in self.seeds if seed.last_round is not None and seed.test is not None]
        if not known or len(known) < len(self.seeds):
            return ""
        rounds = {seed.last_round for seed in known}
        if len(rounds) > 1:
            return f"rounds {min(s.last_round or 0 for s in known)} to {max(s.last_round or 0 for s in known)} finished"
        mean = sum(seed.test or 0.0 for seed in known) / len(known)
        return f"round {known[0].last_round}: {formats.percent(mean)}"


def run_progress(run: AnyRun) -> RunProgress:
    """Return the progress of a run or pre-training; of a damaged one, only the states."""
    if isinstance(run, Pretraining):
        return RunProgress(run, tuple(map(_pretraining_progress, map(run.seed, run.seeds()))))
    assert isinstance(run, Run)
    damage, seeds = "", []
    for seed in run.seeds():
        try:
            last = run.seed(seed).last_round()
        except StoreError as error:
            damage, last = str(error), None
        seeds.append(_seed_progress(run, run.seed(seed).status(), seed, last))
    return RunProgress(run, tuple(seeds), damage)


def state_of(run: AnyRun) -> State:
    """Return the most urgent state of a run's seeds."""
    return foremost(run.seed(seed).status().state for seed in run.seeds())


def foremost(states: Iterable[State]) -> State:
    """Return the most urgent state: active, then failed, then finished.

    >>> foremost(["done", "failed", "stopped"])
    'failed'
    """
    return min(states, key=ORDER.index, default="stopped")


def any_active(runs: Iterable[AnyRun]) -> bool:
    """Return whether any seed of these runs is running or queued."""
    return any(run.seed(seed).is_at_work() for run in runs for seed in run.seeds())


def counts(states: Sequence[State]) -> str:
    """Count seeds by state.

    >>> counts(["done", "done", "running"])
    '1 running, 2 done'
    """
    return ", ".join(f"{states.count(state)} {state}" for state in ORDER if state in states)


def starting(status: Status) -> str:
    """Return how long a worker has been starting; a busy machine takes minutes.

    >>> starting(Status(state="running", seed=0))
    'starting: loading torch and the data'
    """
    words = "starting: loading torch and the data"
    if not status.running_since:
        return words
    return f"{words}, {formats.duration(max(1.0, float(round(time.time() - status.running_since))))} so far"


def _seed_progress(run: Run, status: Status, seed: int, last: RoundRecord | None) -> SeedProgress:
    done = 0.0 if last is None else (last.round + 1) / (run.config.rounds + 1)
    now = status.progress if status.state == "running" else None
    if status.state == "queued":
        doing = WAITS
    elif now is not None:
        left = f", {formats.duration(now.seconds_left)} left" if now.seconds_left is not None else ""
        doing = f"round {now.round} of {now.rounds}, {now.stage} {now.epoch} of {now.epochs}{left}"
    elif status.state == "running":
        doing = starting(status)
    else:
        doing = "no finished round" if last is None else f"round {last.round} of {run.config.rounds}"
    return SeedProgress(
        seed=seed,
        state=status.state,
        fraction=min(max(done, now.fraction if now else 0.0), 1.0),
        last_round=None if last is None else last.round,
        test=None if last is None else last.test,
        doing=doing,
        error=status.error,
    )


def _pretraining_progress(seed: PretrainingSeed) -> SeedProgress:
    status = seed.status()
    now = status.progress if status.state == "running" else None
    fraction = 1.0 if status.state == "done" else now.fraction if now else 0.0
    doing = _pretraining_doing(seed, status)
    return SeedProgress(seed.seed, status.state, fraction, None, None, doing, status.error)


def _pretraining_doing(seed: PretrainingSeed, status: Status) -> str:
    if status.state == "done":
        try:
            layer = seed.first_layer()
        except StoreError as error:
            return str(error)
        return f"lowest loss {formats.fixed(layer.loss, 3)} in epoch {formats.count(layer.best_epoch)}"
    if status.state not in ACTIVE:
        return "restarts when resumed"
    if status.state == "queued":
        return WAITS
    if status.progress is None:
        return starting(status)
    epoch, most = status.progress.epoch, status.progress.epochs
    return f"epoch {formats.count(epoch)} of at most {formats.count(most)}"


# Seconds a page waits for the store's size, and after which the size is old.
PATIENCE = 0.2
OLD = 30.0


@dataclass
class _Count:
    size: int | None = None
    made: float = -OLD
    lock: threading.Lock = field(default_factory=threading.Lock)


def store_size(store: Store) -> int | None:
    """Return the store's size in bytes, at most 30 s old; None during the first count."""
    count = _count(store.root.absolute())
    if time.monotonic() - count.made > OLD:
        thread = threading.Thread(target=_refresh, args=(count, store), daemon=True)
        thread.start()
        thread.join(PATIENCE)
    return count.size


def forget_store_size() -> None:
    """Count again at the next call, after a deletion."""
    _count.clear()


@st.cache_resource(max_entries=16, show_spinner=False)
def _count(root: Path) -> _Count:
    return _Count()


def _refresh(count: _Count, store: Store) -> None:
    if not count.lock.acquire(blocking=False):
        return
    try:
        if time.monotonic() - count.made > OLD:
            count.size, count.made = store.size_bytes(), time.monotonic()
    finally:
        count.lock.release()
