"""SeedRun: the folder of one seed, read by everyone and written by the one worker that holds its lock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import canonical_json
from glt.errors import StoreError
from glt.masks import Masks
from glt.store import paths
from glt.store.checkpoint import Checkpoint, drop_checkpoint, read_checkpoint, usable_checkpoint, write_checkpoint
from glt.store.checksums import add_checksums, checksums_in
from glt.store.naming import fingerprint
from glt.store.records import Event, RoundRecord
from glt.store.resuming import drop_after_last_whole_round, drop_events
from glt.store.round_files import Floats, write_masks, write_weights
from glt.store.safe_files import append_line, flush_file
from glt.store.seed_record import SeedRecord
from glt.store.setting_aside import Aside
from glt.store.tensors import checksum, content_hash, write_tensors


class SeedRun(SeedRecord):
    """One seed of a run: what there is to read of it, and what its worker writes."""

    def write_init(self, theta0: Mapping[str, NDArray[Any]]) -> None:
        """Write theta_0 once; raises StoreError when the folder holds another one already."""
        self._writing()
        arrays = {name: np.asarray(values, dtype=np.float32) for name, values in theta0.items()}
        if not self._is_theta0(arrays):
            raise StoreError(
                f"{self.path / paths.INIT} is not the initialisation this version makes from seed {self.seed}: "
                "resume with the versions in environment.json, or start the run in another store."
            )
        write_tensors(self.path / paths.INIT, arrays, {"seed": self.seed})

    def append_event(self, event: Event) -> None:
        """Append one epoch; a loss that is not finite is written as null."""
        if event.loss is not None and not math.isfinite(event.loss):
            event = event.model_copy(update={"loss": None})
        append_line(self.path / paths.EVENTS, canonical_json(event.model_dump(mode="json")))

    def write_round(
        self,
        record: RoundRecord,
        masks: Masks,
        weights: Mapping[str, NDArray[Any]],
        edge_scores: NDArray[Any] | None = None,
    ) -> None:
        """Write a finished round; its line comes last, so a round exists whole or not at all."""
        self._writing()
        if record.round != self.whole_rounds():
            raise ValueError(f"round {record.round} cannot follow {self.whole_rounds()} whole rounds")
        write_weights(paths.weights_file(self.path, record.round), weights, masks)
        write_masks(paths.masks_file(self.path, record.round), masks, edge_scores)
        flush_file(self.path / paths.EVENTS)
        append_line(self.path / paths.ROUNDS, canonical_json(record.model_dump(mode="json")), durable=True)
        add_checksums(self.path, record.round + 1)
        drop_checkpoint(self.path)

    def log(self, line: str) -> None:
        """Append a line to the log."""
        self._writing()
        append_line(self.path / paths.LOG, line)

    def checkpoint_fault(self) -> str:
        """Say why the round at work cannot go on from the checkpoint there is; "" when it can, or there is none."""
        try:
            read_checkpoint(self.path, self._owner, self.whole_rounds())
        except StoreError as error:
            return str(error).removeprefix(f"{self.path / paths.CHECKPOINT} ").rstrip(".").split(": ")[0]
        return ""

    def write_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write down how far the round at work is, in place of what was written before."""
        self._writing()
        write_checkpoint(self.path, self._owner, checkpoint)

    def checkpoint(self) -> Checkpoint | None:
        """Return what the round at work can go on from after `drop_unfinished`, None when it starts anew."""
        self._writing()
        return usable_checkpoint(self.path, self._owner, self.whole_rounds())

    def drop_checkpoint(self, why: str) -> None:
        """Have the round at work start anew, and say in the log why."""
        self._writing()
        drop_checkpoint(self.path, why)
        drop_events(self.path, self.whole_rounds())

    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear away what no resume can go on from and return the number of the next round.

        What is left are whole rounds and, of the next one, a checkpoint with the events up to it. What is damaged, and
        finished rounds after it, are moved to `aside`, by default a folder of the run.
        """
        self._writing()
        if not self.path.exists():
            return 0
        return drop_after_last_whole_round(self.path, self._owner, self._move_unusable(aside))

    @property
    def _owner(self) -> str:
        """What a checkpoint belongs to: the settings that shape a round, and the seed."""
        return f"{fingerprint(self.config)} seed {self.seed}"

    def _is_theta0(self, arrays: Mapping[str, Floats]) -> bool:
        """Say whether these are the tensors the seed began with, as far as that is known."""
        if self.has_theta0():
            return checksum(self.theta0()) == checksum(arrays)
        known = checksums_in(self.path)
        return not known or known[0].init in ("", content_hash(arrays, {"seed": self.seed}))
