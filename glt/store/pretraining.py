"""Pre-training runs: a folder whose seeds hold the loss of every epoch and one first layer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glt.config import canonical_json
from glt.errors import StoreError
from glt.formats import as_typed
from glt.pretraining.config import FIRST_LAYER, PretrainConfig, make_pretrain_config
from glt.store import paths
from glt.store.atomic_io import SEE_DOCTOR, append_line, crc, cut_file, flush_file, parse_lines, whole_lines, writing
from glt.store.records import Epoch
from glt.store.recovery import Aside
from glt.store.run import KIND, REMEDY, RunFolder, settings_in
from glt.store.seed_run import SeedFolder
from glt.store.tensors import Floats, checksum, read_about, read_tensors, write_tensors

PRETRAINING = "pre-training"
EVENTS_CHECKSUM = "events_crc32"


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """Result of a pre-training: a weight [F, H], its checksum, loss and graph."""

    weight: Floats
    sha256: str
    best_epoch: int
    epochs: int
    loss: float
    graph_hash: str


class PretrainingSeed(SeedFolder):
    """One seed of a pre-training."""

    config: PretrainConfig

    @property
    def _result(self) -> Path:
        return self.path / paths.PRETRAINED

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
        written = ""
        if offset == 0:
            # A seed that is not finished has no result yet, and so no checksum.
            with suppress(StoreError):
                written = str(read_about(self._result, SEE_DOCTOR).get(EVENTS_CHECKSUM, ""))
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

    # Writing, by the worker only

    def append_epoch(self, epoch: Epoch) -> None:
        """Append one epoch."""
        append_line(self.path / paths.EVENTS, canonical_json(epoch.model_dump(mode="json")))

    def write_first_layer(self, weight: Floats, about: Mapping[str, Any]) -> None:
        """Write the result and the values `about` it that FirstLayer names; this completes the seed."""
        self._refuse_read_only()
        flush_file(self.path / paths.EVENTS)
        events = crc(b"".join(line + b"\n" for line in whole_lines(self.path / paths.EVENTS)[0]))
        write_tensors(self._result, {FIRST_LAYER: weight}, {**about, "seed": self.seed, EVENTS_CHECKSUM: events})

    def drop_unfinished(self, aside: Aside | None = None) -> int:
        """Clear what a killed worker left; return 1 if the first layer is there, else 0."""
        self._refuse_read_only()
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

    @classmethod
    def read_settings(cls, path: Path, document: Mapping[str, Any], remedy: str = REMEDY) -> PretrainConfig:
        """Return the settings in a pre-training's config.json; raises StoreError if they cannot be used."""
        if document.get(KIND) != PRETRAINING:
            name = path.parent.name
            raise StoreError(f"{name} is not a {PRETRAINING} run: name one made by `{as_typed('pretrain')}`.")
        return settings_in(path, document, make_pretrain_config, remedy)

    def seed(self, seed: int) -> PretrainingSeed:
        """Return one seed; its folder need not exist yet."""
        return PretrainingSeed(self.path, seed, self.config, self._writable)

    def finished(self) -> list[int]:
        """Return the seeds that have a first layer."""
        return [seed for seed in self.seeds() if self.seed(seed).is_complete()]
