"""What everyone may read of the folder of one seed: its rounds, events, masks and weights."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from glt.commands import command
from glt.config import RunConfig
from glt.errors import StoreError
from glt.masks import EdgeMask, Masks
from glt.store import paths
from glt.store.compact_masks import CompactMasks
from glt.store.event_file import EventFile
from glt.store.json_files import SEE_DOCTOR
from glt.store.records import Event, RoundRecord
from glt.store.resuming import sound_rounds
from glt.store.round_files import Floats, holds_ranks, read_edge_mask, read_edge_scores, read_masks, read_weights
from glt.store.round_lines import count_lines, last_round, read_rounds
from glt.store.safe_files import reading
from glt.store.seed_folder import SeedFolder
from glt.store.tensors import read_tensors


class SeedRecord(SeedFolder):
    """One seed of a run as it was written so far."""

    config: RunConfig

    def __init__(self, run: Path, seed: int, config: RunConfig, writable: bool = True) -> None:
        super().__init__(run, seed, config, writable)

    def was_started(self) -> bool:
        """Say whether a worker was ever asked for this seed."""
        return super().was_started() or (self.path / paths.ROUNDS).exists()

    def rounds(self) -> list[RoundRecord]:
        """Return the records of all whole rounds in order; raises StoreError for a damaged line."""
        return read_rounds(self.path / paths.ROUNDS)

    def record(self, round: int) -> RoundRecord:
        """Return the record of one round; raises StoreError when there is none, or as `rounds` does."""
        records = self.rounds()
        if not 0 <= round < len(records):
            raise StoreError(f"Round {round} is not in {self.path}, which holds rounds 0 to {len(records) - 1}.")
        return records[round]

    def search_seconds(self, round: int) -> float:
        """Return what it took to find a round: the seconds of all rounds up to it."""
        return sum(record.seconds for record in self.rounds()[: round + 1])

    def last_round(self) -> RoundRecord | None:
        """Return the record of the last whole round, None before round 0; raises StoreError as `rounds` does."""
        return last_round(paths.inside(self.path, paths.ROUNDS))

    def whole_rounds(self) -> int:
        """Return how many rounds are written, round 0 included, without looking into them."""
        return count_lines(paths.inside(self.path, paths.ROUNDS))

    def rounds_stamp(self) -> tuple[int, int]:
        """Return size and modification time (ns) of the table of rounds: both change when a round is written."""
        try:
            found = paths.inside(self.path, paths.ROUNDS).stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    def is_complete(self) -> bool:
        """Say whether every round the config asks for is there, without looking into them."""
        return self.whole_rounds() > self.config.rounds

    def sound_rounds(self) -> int:
        """Return how many rounds, from round 0 on, can be read: a resume goes on there. Opens every tensor file."""
        return sound_rounds(self.path)

    def is_sound(self) -> bool:
        """Say whether every round the config asks for can be read, and theta_0."""
        return self.is_complete() and self.sound_rounds() > self.config.rounds and self.has_theta0()

    def events(self, offset: int = 0) -> tuple[list[Event], int]:
        """Return the events from byte `offset` on and the offset to go on from; see `EventFile.events`."""
        return self.event_file.events(offset)

    @property
    def event_file(self) -> EventFile:
        """The file of the events, of which a page reads one round."""
        return EventFile(self.path / paths.EVENTS)

    def masks(self, round: int) -> Masks:
        """Return both masks after `round`; round 0 keeps everything. Raises StoreError when it does not exist."""
        if self.is_example:
            return self._compact.masks(round)
        self._require(round)
        return read_masks(paths.masks_file(self.path, round))

    def edge_mask(self, round: int) -> EdgeMask:
        """Return the edge mask after `round`, as `masks` does, without taking the weights out of the file."""
        if self.is_example:
            return self._compact_edges.edge_mask(round)
        self._require(round)
        return read_edge_mask(paths.masks_file(self.path, round))

    def edge_scores(self, round: int) -> Floats | None:
        """Return the soft scores of the entries that were up for decision in `round`, or None without any.

        They belong to the survivors of the round before, in entry order; `holds_ranks` says whether they are ranks.
        """
        if self.is_example:
            return self._compact_edges.edge_scores(round)
        self._require(round)
        return read_edge_scores(paths.masks_file(self.path, round))

    def holds_ranks(self, round: int) -> bool:
        """Say whether `edge_scores` of a round are ranks in [0, 1) of 256 steps: those of examples and of large graphs.

        Scores themselves, in half precision, are kept of masks with at most a million entries.
        """
        if self.is_example:
            return True
        self._require(round)
        return holds_ranks(paths.masks_file(self.path, round))

    def weights(self, round: int) -> dict[str, Floats]:
        """Return all tensors at the best-validation epoch of `round`, zeros where pruned; StoreError for examples."""
        self._refuse_for_example("weights")
        return read_weights(paths.weights_file(self.path, round), self.masks(round))

    def bytes_on_disk(self, round: int) -> int:
        """Return the size of the files of a round, its masks and its surviving weights; StoreError for examples."""
        self._refuse_for_example("weights")
        self._require(round)
        files = [file(self.path, round) for file in (paths.masks_file, paths.weights_file)]
        with reading(self.path, SEE_DOCTOR):
            return sum(file.stat().st_size for file in files)

    def theta0(self) -> dict[str, Floats]:
        """Return the initial tensors that rewinding returns to (theta_0); StoreError for examples."""
        self._refuse_for_example("theta_0")
        return read_tensors(self.path / paths.INIT, SEE_DOCTOR)[0]

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

    def _require(self, round: int) -> None:
        if not 0 <= round < self.whole_rounds():
            self.rounds()
            raise StoreError(
                f"{self.path} holds no round {round}: its finished rounds are 0 to {self.whole_rounds() - 1}."
                if self.whole_rounds()
                else f"{self.path} holds no finished round yet: wait for round 0, or resume the run."
            )

    def _refuse_for_example(self, what: str) -> None:
        if self.is_example:
            raise StoreError(
                f"{self.path} is an example, which leaves {what} out: make the run again in a store of your own with "
                f"`{command('run', '--config', self.path.parent / paths.CONFIG, '--seeds', self.seed)}`."
            )
