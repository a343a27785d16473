"""Packs finished runs as the examples that come with the program."""

from __future__ import annotations

import hashlib
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from glt.config import canonical_json
from glt.errors import StoreError
from glt.store import paths
from glt.store.atomic_io import make_folder, reading, replace_file, writing
from glt.store.compact import CompactMasks
from glt.store.records import Event, RoundRecord, Status
from glt.store.run import Run, write_config
from glt.store.seed_run import SeedRun
from glt.store.tensors import write_predictions

EVERY = 10
ENVIRONMENT_KEYS = (
    *("versions", "threads", "device", "data_hash", "pretraining"),
    *("revision", "modified", "sources", "results_version"),
)
MARK = b"This run is a bundled example: theta_0 and weights are left out, events are thinned.\n"


def pack_run(run: Run, destination: Path, seeds: Sequence[int] | None = None) -> Run:
    """Write a compact copy of finished seeds (default: all) below `destination` and return it.

    Replaces an example of the same name. Equal runs give equal bytes, `seconds` aside. Raises StoreError if a seed is
    unfinished or a run that is not an example is in the way.
    """
    chosen = run.seeds() if seeds is None else seeds
    unfinished = [seed for seed in chosen if not run.seed(seed).is_complete()]
    if unfinished or not chosen:
        raise StoreError(f"The run {run.name} is not finished (seed {unfinished or 'none'}): resume it, then pack it.")
    target = destination / run.name
    if target.exists() and not Run.open(target).is_example:
        raise StoreError(f"{target} is a run, not an example: choose another destination.")
    working = destination / f".{run.name}{paths.UNFINISHED_WRITE}"
    with writing(working):
        shutil.rmtree(working, ignore_errors=True)
        make_folder(working)
        write_config(working, run.config)
        for seed in chosen:
            _pack_seed(run.seed(seed), paths.seed_folder(working, seed))
        replace_file(working / paths.EXAMPLE_MARK, MARK)
        shutil.rmtree(target, ignore_errors=True)
        working.rename(target)
    return Run.open(target)


def _pack_seed(seed_run: SeedRun, folder: Path) -> None:
    make_folder(folder)
    records = seed_run.rounds()
    rounds = range(len(records))
    packed = CompactMasks.pack([seed_run.masks(k) for k in rounds], [seed_run.edge_scores(k) for k in rounds])
    packed.write(folder / paths.COMPACT_MASKS)
    for k in filter(seed_run.has_predictions, rounds):
        write_predictions(paths.predictions_file(folder, k), seed_run.predictions(k), k)
    environment = seed_run.environment()
    status = Status(state="done", seed=seed_run.seed, threads=environment.get("threads", 1))
    kept = {key: environment[key] for key in ENVIRONMENT_KEYS if key in environment}
    replace_file(folder / paths.ENVIRONMENT, canonical_json(kept).encode())
    replace_file(folder / paths.STATUS, canonical_json(status.model_dump(mode="json")).encode())
    replace_file(folder / paths.ROUNDS, _lines(records))
    replace_file(folder / paths.EVENTS, _lines(thinned(seed_run.events()[0])))
    with reading(seed_run.path / paths.INIT, "resume the run"):
        init_hash = hashlib.sha256((seed_run.path / paths.INIT).read_bytes()).hexdigest()
    replace_file(folder / paths.INIT_HASH, f"{init_hash}  {paths.INIT}\n".encode())


def thinned(events: list[Event]) -> list[Event]:
    """Return every tenth epoch, the best and the last of each stage, in order."""
    stages: defaultdict[tuple[int, str], list[Event]] = defaultdict(list)
    for event in events:
        stages[event.round, event.stage].append(event)
    kept: list[Event] = []
    for stage in stages.values():
        best = max(stage, key=lambda event: event.val)
        kept.extend(event for event in stage if event.epoch % EVERY == 0 or event in (best, stage[-1]))
    return kept


def _lines(rows: list[Event] | list[RoundRecord]) -> bytes:
    return "".join(canonical_json(row.model_dump(mode="json")) + "\n" for row in rows).encode()
