"""A seed of a run: its folder, read by everyone, written by the one worker that holds its lock."""

from __future__ import annotations

import hashlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from glt.config import RunConfig, canonical_json
from glt.datasets.registry import current_hash
from glt.errors import StoreError, no_round
from glt.formats import as_typed
from glt.masks import EdgeMask, Masks
from glt.pretraining.config import PretrainConfig
from glt.store import atomic_io, paths, recovery, tensors
from glt.store.atomic_io import SEE_DOCTOR, cached, reading, replace_file
from glt.store.checksums import add_checksums, checksums_in, count_lines, last_round, read_rounds
from glt.store.compact import CompactMasks
from glt.store.events import EventFile
from glt.store.locks import ACTIVE, concluded, locked
from glt.store.records import Event, RoundRecord, Status
from glt.store.recovery import Aside, Checkpoint
from glt.store.tensors import Floats, Predictions

Configuration = RunConfig | PretrainConfig


def _read_signed(path: Path) -> dict[str, Any]:
    """Read a JSON object without its checksum, which older files lack; raises StoreError if it is damaged."""
    found = atomic_io.read_json(path, SEE_DOCTOR)
    if not isinstance(found, dict):
        raise StoreError(f"{path} is damaged (no JSON object): {SEE_DOCTOR}.")
    return atomic_io.unsigned(path, found, SEE_DOCTOR)


_written_status = cached(lambda path: Status.model_validate(_read_signed(path)))
_written_environment = cached(_read_signed)


class SeedFolder(ABC):
    """What a seed of a run and one of a pre-training share: status, environment, log and lock."""

    def __init__(self, run: Path, seed: int, config: Configuration, writable: bool = True) -> None:
        self.seed = seed
        self.config = config
        self.path = paths.seed_folder(run, seed)
        self._writable = writable

    @property
    def log_path(self) -> Path:
        """What the worker printed."""
        return self.path / paths.LOG

    @property
    def lock_path(self) -> Path:
        """The lock that the one worker holds."""
        return self.path / paths.LOCK

    @property
    def gone(self) -> str:
        """Message for a folder that disappeared while its worker was computing."""
        run = self.path.parent
        of = f"seed {self.seed} of {run.name}" if run.is_dir() else f"the run {run.name}"
        return f"The folder of {of} was moved or deleted while it was being computed: put it back, then resume the run."

    @abstractmethod
    def is_complete(self) -> bool:
        """Say whether everything the config asks for exists, without opening tensor files."""

    @abstractmethod
    def is_sound(self) -> bool:
        """Say whether everything the config asks for can be read."""

    @abstractmethod
    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear unfinished parts, move damaged files to `aside`, return how many are whole."""

    def _move_unusable(self, aside: Aside | None) -> Aside:
        """Move files that cannot be opened, and a damaged environment.json, aside; return where."""
        aside = aside or Aside(self.path.parent)
        for path in recovery.unusable(self.path):
            aside.move(path)
        try:
            self.environment()
        except StoreError:
            aside.move(self.path / paths.ENVIRONMENT)
        return aside

    @cached_property
    def is_example(self) -> bool:
        """Whether this is a bundled example, which has no theta_0 and no weights."""
        return (self.path.parent / paths.EXAMPLE_MARK).exists()

    def was_started(self) -> bool:
        """Say whether a worker was ever started for this seed."""
        return (self.path / paths.STATUS).exists() or self.is_complete()

    def status(self) -> Status:
        """Return the worker's state: "lost" if its process has ended, "stopped" if the run was extended."""
        path = paths.inside(self.path, paths.STATUS)
        try:
            status = concluded(_written_status(path), self.lock_path)
        except (StoreError, ValidationError):
            if self.is_complete():
                return Status(state="done", seed=self.seed)
            fault = f"{path} is {'damaged' if path.exists() else 'missing'}: {SEE_DOCTOR}."
            return Status(state="lost", seed=self.seed, error=fault)
        extended = status.state == "done" and not self.is_complete()
        return status.model_copy(update={"state": "stopped"}) if extended else status

    def written_status(self) -> Status | None:
        """Return the status in its file, None if it cannot be read."""
        try:
            return _written_status(self.path / paths.STATUS)
        except (StoreError, ValidationError):
            return None

    def is_at_work(self) -> bool:
        """Say whether a worker computes this seed or is queued; cheaper than `status`."""
        try:
            return concluded(_written_status(paths.inside(self.path, paths.STATUS)), self.lock_path).state in ACTIVE
        except (StoreError, ValidationError):
            return False

    def environment(self) -> dict[str, Any]:
        """Return versions, threads, device and data hash of the computation; empty before it begins."""
        path = self.path / paths.ENVIRONMENT
        return _read_signed(path) if os.path.lexists(path) else {}

    def known_environment(self) -> dict[str, Any]:
        """Return `environment()`, cached, or {} if it cannot be read."""
        try:
            return _written_environment(self.path / paths.ENVIRONMENT)
        except StoreError:
            return {}

    def data_hash(self) -> str | None:
        """Return the recorded content hash of the data set, translated to today's hashing; None without one."""
        known = self.known_environment().get("data_hash")
        return current_hash(known) if isinstance(known, str) else None

    def lock(self) -> AbstractContextManager[None]:
        """Own the folder within the context; StoreError names a process that already owns it."""
        self.make()
        return locked(self.lock_path)

    def make(self) -> None:
        """Make the folder; raises StoreError if it cannot be written or belongs to an example."""
        self._refuse_read_only()
        atomic_io.make_folder(self.path)

    def write_status(self, status: Status) -> None:
        """Replace the status; if the new file cannot be written, overwrite the old one in place."""
        self._refuse_read_only()
        path = self.path / paths.STATUS
        content = canonical_json(atomic_io.signed(status.model_dump(mode="json"))).encode()
        try:
            replace_file(path, content, durable=False)
        except StoreError:
            if not path.exists():
                raise
            atomic_io.overwrite_file(path, content)

    def write_environment(self, environment: Mapping[str, Any]) -> None:
        """Write what computes: versions, threads, device, git revision, data hash."""
        self._refuse_read_only()
        replace_file(self.path / paths.ENVIRONMENT, canonical_json(atomic_io.signed(environment)).encode())

    def _refuse_read_only(self) -> None:
        if not self._writable or self.is_example:
            raise StoreError(f"{self.path} is read-only: choose a store of your own with --store.")
        atomic_io.refuse_link(self.path.parent, self.path)


class SeedRun(SeedFolder):
    """One seed of a run: reading, and writing by its worker."""

    config: RunConfig

    def was_started(self) -> bool:
        """Say whether a worker was ever started for this seed."""
        return super().was_started() or (self.path / paths.ROUNDS).exists()

    def rounds(self) -> list[RoundRecord]:
        """Return the records of all whole rounds in order; raises StoreError for a damaged line."""
        return read_rounds(self.path / paths.ROUNDS)

    def record(self, round: int) -> RoundRecord:
        """Return the record of one round; raises StoreError without it, or as `rounds`."""
        records = self.rounds()
        if not 0 <= round < len(records):
            if not records:
                raise self._no_round_yet()
            raise StoreError(no_round(round, self.path, len(records) - 1))
        return records[round]

    def search_seconds(self, round: int) -> float:
        """Return the seconds it took to find a round: the sum of all rounds up to it."""
        return sum(record.seconds for record in self.rounds()[: round + 1])

    def last_round(self) -> RoundRecord | None:
        """Return the record of the last whole round, None before round 0; raises StoreError as `rounds` does."""
        return last_round(paths.inside(self.path, paths.ROUNDS))

    def whole_rounds(self) -> int:
        """Return how many rounds are written, round 0 included, without checking them."""
        return count_lines(paths.inside(self.path, paths.ROUNDS))

    def rounds_stamp(self) -> tuple[int, int]:
        """Return size and modification time (ns) of rounds.jsonl; both change with every round."""
        try:
            found = paths.inside(self.path, paths.ROUNDS).stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    def is_complete(self) -> bool:
        """Say whether every round the config asks for exists, without opening tensor files."""
        return self.whole_rounds() > self.config.rounds

    def sound_rounds(self) -> int:
        """Return how many rounds, from 0 on, can be read; opens every tensor file. A resume continues there."""
        return recovery.sound_rounds(self.path)

    def is_sound(self) -> bool:
        """Say whether every round the config asks for can be read, and theta_0."""
        return self.is_complete() and self.sound_rounds() > self.config.rounds and self.has_theta0()

    def events(self, offset: int = 0) -> tuple[list[Event], int]:
        """Return the events from byte `offset` on and the next offset; see `EventFile.events`."""
        return self.event_file.events(offset)

    @property
    def event_file(self) -> EventFile:
        """The file of events, of which pages read one round."""
        return EventFile(self.path / paths.EVENTS)

    def masks(self, round: int) -> Masks:
        """Return both masks after `round`; round 0 keeps everything. Raises StoreError without it."""
        return self._compact.masks(round) if self.is_example else tensors.read_masks(self._masks_file(round))

    def edge_mask(self, round: int) -> EdgeMask:
        """Return the edge mask after `round`, as `masks`, without the weight masks."""
        if self.is_example:
            return self._compact_edges.edge_mask(round)
        return tensors.read_edge_mask(self._masks_file(round))

    def edge_scores(self, round: int) -> Floats | None:
        """Return the scores of the edge entries that `round` could prune; None without any.

        They belong to the survivors of the round before, in entry order; `holds_ranks` says whether they are ranks.
        """
        if self.is_example:
            return self._compact_edges.edge_scores(round)
        return tensors.read_edge_scores(self._masks_file(round))

    def holds_ranks(self, round: int) -> bool:
        """Say whether edge scores are ranks in [0, 1), as in examples and large masks."""
        return self.is_example or tensors.holds_ranks(self._masks_file(round))

    def weights(self, round: int) -> dict[str, Floats]:
        """Return all tensors at the best-validation epoch of `round`, zeros where pruned."""
        self._refuse_for_example("weights")
        return tensors.read_weights(paths.weights_file(self.path, round), self.masks(round))

    def has_predictions(self, round: int) -> bool:
        """Say whether the logits of `round` are stored."""
        return paths.predictions_file(self.path, round).exists()

    def predictions(self, round: int) -> Predictions:
        """Return the stored logits of `round`; raises StoreError without them."""
        return tensors.read_predictions(paths.predictions_file(self.path, round))

    def bytes_on_disk(self, round: int) -> int:
        """Return the size of a round's masks and surviving weights; StoreError for examples."""
        self._refuse_for_example("weights")
        files = (self._masks_file(round), paths.weights_file(self.path, round))
        with reading(self.path, SEE_DOCTOR):
            return sum(file.stat().st_size for file in files)

    def theta0(self) -> dict[str, Floats]:
        """Return the initial tensors, to which rewinding returns (theta_0); StoreError for examples."""
        self._refuse_for_example("theta_0")
        return tensors.read_tensors(self.path / paths.INIT, SEE_DOCTOR)[0]

    def has_theta0(self) -> bool:
        """Say whether theta_0 can be read."""
        try:
            return bool(self.theta0())
        except StoreError:
            return False

    @cached_property
    def _compact(self) -> CompactMasks:
        return CompactMasks.read(self.path / paths.COMPACT_MASKS)

    @cached_property
    def _compact_edges(self) -> CompactMasks:
        return CompactMasks.read(self.path / paths.COMPACT_MASKS, weights=False)

    def _masks_file(self, round: int) -> Path:
        """Return the file with the masks of a round; raises StoreError without it."""
        if not 0 <= round < self.whole_rounds():
            if not self.rounds():
                raise self._no_round_yet()
            last = self.whole_rounds() - 1
            raise StoreError(no_round(round, self.path, last))
        return paths.masks_file(self.path, round)

    def _no_round_yet(self) -> StoreError:
        return StoreError(f"{self.path} holds no finished round yet: wait for round 0, or resume the run.")

    def _refuse_for_example(self, what: str) -> None:
        if self.is_example:
            raise StoreError(
                f"{self.path} is an example without {what}: compute the run in a store of your own with "
                f"`{as_typed('run', '--config', self.path.parent / paths.CONFIG, '--seeds', self.seed)}`."
            )

    def checkpoint_fault(self) -> str:
        """Say why the checkpoint cannot be used; "" if it can, or there is none."""
        try:
            recovery.read_checkpoint(self.path, self._owner, self.whole_rounds())
        except StoreError as error:
            return str(error).removeprefix(f"{self.path / paths.CHECKPOINT} ").rstrip(".").split(": ")[0]
        return ""

    # Writing, by the worker only

    def write_init(self, theta0: Mapping[str, NDArray[Any]]) -> None:
        """Write theta_0 once; raises StoreError if the seed began with a different one."""
        self._refuse_read_only()
        arrays = {name: np.asarray(values, dtype=np.float32) for name, values in theta0.items()}
        if self.has_theta0():
            is_same = tensors.checksum(self.theta0()) == tensors.checksum(arrays)
        else:
            known = checksums_in(self.path)
            is_same = not known or known[0].init in ("", tensors.content_hash(arrays, {"seed": self.seed}))
        if not is_same:
            raise StoreError(
                f"{self.path / paths.INIT} is not the initialisation this version makes from seed {self.seed}: "
                "resume with the versions in environment.json, or start the run in another store."
            )
        tensors.write_tensors(self.path / paths.INIT, arrays, {"seed": self.seed})

    def append_event(self, event: Event) -> None:
        """Append one epoch; a loss that is not finite is written as null."""
        if event.loss is not None and not math.isfinite(event.loss):
            event = event.model_copy(update={"loss": None})
        atomic_io.append_line(self.path / paths.EVENTS, canonical_json(event.model_dump(mode="json")))

    def write_round(
        self,
        record: RoundRecord,
        masks: Masks,
        weights: Mapping[str, NDArray[Any]],
        edge_scores: NDArray[Any] | None = None,
    ) -> None:
        """Write a finished round: tensors, then its line, with which the round exists, then its checksum."""
        self._refuse_read_only()
        if record.round != self.whole_rounds():
            raise ValueError(f"round {record.round} cannot follow {self.whole_rounds()} whole rounds")
        tensors.write_weights(paths.weights_file(self.path, record.round), weights, masks)
        tensors.write_masks(paths.masks_file(self.path, record.round), masks, edge_scores)
        atomic_io.flush_file(self.path / paths.EVENTS)
        atomic_io.append_line(self.path / paths.ROUNDS, canonical_json(record.model_dump(mode="json")), durable=True)
        add_checksums(self.path, record.round + 1)
        recovery.drop_checkpoint(self.path)

    def write_predictions(self, round: int, predictions: Predictions) -> None:
        """Write the logits of a finished round; whoever writes holds the seed's lock."""
        self._refuse_read_only()
        self.record(round)
        tensors.write_predictions(paths.predictions_file(self.path, round), predictions, round)

    def log(self, line: str) -> None:
        """Append a line to the log."""
        self._refuse_read_only()
        atomic_io.append_line(self.path / paths.LOG, line)

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint of the unfinished round."""
        self._refuse_read_only()
        recovery.write_checkpoint(self.path, self._owner, checkpoint)

    def checkpoint(self) -> Checkpoint | None:
        """Return the checkpoint of the unfinished round after `drop_unfinished`, None to start it anew."""
        self._refuse_read_only()
        return recovery.usable_checkpoint(self.path, self._owner, self.whole_rounds())

    def drop_checkpoint(self, why: str) -> None:
        """Let the unfinished round start anew; write the reason into the log."""
        self._refuse_read_only()
        recovery.drop_checkpoint(self.path, why)
        recovery.drop_events(self.path, self.whole_rounds())

    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear what a resume cannot use and return the number of the next round.

        Of that round a checkpoint with its events stays. Damaged files and finished rounds after them move to `aside`.
        """
        self._refuse_read_only()
        if not self.path.exists():
            return 0
        return recovery.drop_after_last_whole_round(self.path, self._owner, self._move_unusable(aside))

    @property
    def _owner(self) -> str:
        """Owner of a checkpoint: the settings that shape a round, and the seed."""
        return f"{fingerprint(self.config)} seed {self.seed}"


def fingerprint(config: Configuration) -> str:
    """Return SHA-256 (hex) of the settings that shape a round, and the schema version.

    `rounds` is left out, because more rounds extend a run, and so are settings that the method ignores.
    """
    from glt.methods import METHODS

    ignored = {"rounds", *METHODS.get(config.method).ignores} if isinstance(config, RunConfig) else set()
    shaping = config.model_dump(mode="json", exclude=ignored)
    return hashlib.sha256(canonical_json({**shaping, "schema": paths.SCHEMA}).encode()).hexdigest()
