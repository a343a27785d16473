"""Pre-training runs: a folder whose seeds hold the loss of every epoch and one first layer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glt.config import canonical_json
from glt.errors import ConfigError, StoreError
from glt.formats import as_typed
from glt.pretraining.config import FIRST_LAYER, PretrainConfig, make_pretrain_config
from glt.store import paths
from glt.store.atomic_io import SEE_DOCTOR, append_line, crc, cut_file, flush_file, parse_lines, whole_lines, writing
from glt.store.records import Epoch
from glt.store.recovery import Aside
from glt.store.run import KIND, REMEDY, RunFolder, check_config, read_document, settings_in
from glt.store.seed_run import SeedFolder
from glt.store.tensors import Floats, checksum, read_about, read_tensors, write_tensors

PRETRAINING = "pre-training"
EVENTS_CHECKSUM = "events_crc32"


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """Result of a pre-training: a weight [F, H], its checksum, epoch, loss, number of epochs, graph.

    `graph_hash` is the content hash of the message graph it was trained on.
    """

    weight: Floats
    sha256: str
    best_epoch: int
    epochs: int
    loss: float
    graph_hash: str


class PretrainingSeed(SeedFolder):
    """One seed of a pre-training."""

    config: PretrainConfig

    def __init__(self, run: Path, seed: int, config: PretrainConfig, writable: bool = True) -> None:
        super().__init__(run, seed, config, writable)
        self._result = self.path / paths.PRETRAINED

    def is_complete(self) -> bool:
        """Say whether the first layer is there."""
        return os.path.lexists(self._result)

    def was_complete(self) -> bool:
        """Say whether the first layer was once written, even if it is missing now."""
        written = self.written_status()
        return self.is_complete() or (written is not None and written.state == "done")

    def is_sound(self) -> bool:
        """Say whether the first layer and its epochs can be read."""
        try:
            self.first_layer()
            self.epochs()
        except StoreError:
            return False
        return True

    def epochs(self, offset: int = 0) -> tuple[list[Epoch], int]:
        """Return the epochs from byte `offset` to the last whole line, and the next offset."""
        path = self.path / paths.EVENTS
        written = self._events_checksum() if offset == 0 else ""
        lines, end = whole_lines(path, offset)
        if written and written != crc(b"\n".join([*lines, b""])):
            raise StoreError(f"{path} is damaged (wrong checksum): {SEE_DOCTOR}.")
        return parse_lines(path, lines, Epoch), end

    def first_layer(self) -> FirstLayer:
        """Return the result; raises StoreError when it is missing or damaged."""
        arrays, about = read_tensors(self._result, SEE_DOCTOR)
        if about.get("seed", self.seed) != self.seed:
            raise StoreError(f"{self.path} holds the result of seed {about['seed']}: move it back to where it was.")
        try:
            weight, facts = arrays[FIRST_LAYER], (about["best_epoch"], about["epochs"], about["loss"], about["graph"])
        except KeyError as error:
            raise StoreError(f"{self._result} is damaged (it lacks {error}): {SEE_DOCTOR}.") from None
        return FirstLayer(weight, checksum({FIRST_LAYER: weight}), *facts)

    def _events_checksum(self) -> str:
        """Return the checksum of the epochs of a finished seed, "" if unknown."""
        try:
            return str(read_about(self._result, SEE_DOCTOR).get(EVENTS_CHECKSUM, ""))
        except StoreError:
            return ""

    # Writing, by the worker only

    def append_epoch(self, epoch: Epoch) -> None:
        """Append one epoch."""
        append_line(self.path / paths.EVENTS, canonical_json(epoch.model_dump(mode="json")))

    def write_first_layer(self, weight: Floats, about: Mapping[str, Any]) -> None:
        """Write the result and the values `about` it that FirstLayer names; this completes the seed."""
        self._writing()
        flush_file(self.path / paths.EVENTS)
        events = crc(b"".join(line + b"\n" for line in whole_lines(self.path / paths.EVENTS)[0]))
        write_tensors(self._result, {FIRST_LAYER: weight}, {**about, "seed": self.seed, EVENTS_CHECKSUM: events})

    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear what a killed worker left; return 1 if the first layer is there, else 0."""
        self._writing()
        if not self.path.exists():
            return 0
        was_complete = self.was_complete()
        aside = self._move_unusable(aside)
        if self.is_sound():
            return 1
        if was_complete:
            aside.move(self._result)
            aside.copy(self.path / paths.EVENTS)
        for file in sorted(self.path.iterdir()):
            if paths.is_unfinished_of_seed(file.name):
                with writing(file):
                    file.unlink()
        cut_file(self.path / paths.EVENTS, 0)
        return 0


class Pretraining(RunFolder[PretrainingSeed]):
    """A pre-training under several seeds, each one training."""

    verb = "pretrain"
    config: PretrainConfig

    def __init__(self, path: Path, config: PretrainConfig, writable: bool = True) -> None:
        super().__init__(path, config, writable)

    @classmethod
    def open(cls, path: Path, writable: bool = True) -> Pretraining:
        """Open a folder; raises StoreError when config.json is missing, damaged, newer or changed afterwards."""
        return cls.from_document(path, read_document(path / paths.CONFIG), writable)

    @classmethod
    def from_document(cls, path: Path, document: Mapping[str, Any], writable: bool = True) -> Pretraining:
        """Open a folder whose config.json holds `document`; raises StoreError as `open` does."""
        if document.get(KIND) != PRETRAINING:
            raise StoreError(f"{path.name} is not a {PRETRAINING} run: name one made by `{as_typed('pretrain')}`.")
        try:
            config = make_pretrain_config(settings_in(document))
        except ConfigError as error:
            fault = str(error).rstrip(".")
            raise StoreError(f"{path / paths.CONFIG} is damaged ({fault}): {REMEDY}.") from None
        check_config(path, document, config)
        return cls(path, config, writable)

    def seed(self, seed: int) -> PretrainingSeed:
        """Return one seed; its folder need not exist yet."""
        return PretrainingSeed(self.path, seed, self.config, self._writable)

    def finished(self) -> list[int]:
        """Return the seeds that have a first layer."""
        return [seed for seed in self.seeds() if self.seed(seed).is_complete()]
