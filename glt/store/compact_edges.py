"""The edges of a seed's compact masks: read without the weights, which are most of the file."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glt.config import EdgeMaskKind
from glt.errors import StoreError
from glt.masks import EdgeMask
from glt.store.compact_masks import ABOUT, DAMAGE, RANKS, REMEDY, Bytes, check_size, check_unpacked, decode, read_array
from glt.store.round_files import EDGE_SCORES, EDGES, Floats
from glt.store.safe_files import reading
from glt.store.tensors import check_schema


@dataclass(frozen=True, eq=False)
class CompactEdges:
    """Edge masks of rounds 0 to `last`, and the 8-bit ranks of edge scores (`score_counts` of them a round)."""

    last: int
    edge_mask: EdgeMaskKind
    entries: int
    coded: Bytes
    ranks: Bytes
    score_counts: Sequence[int]

    def mask(self, round: int) -> EdgeMask:
        """Return the edge mask after `round`; raises StoreError when there is no such round."""
        self._require(round)
        return EdgeMask(self.edge_mask, decode(self.coded, round, (self.entries,)))

    def scores(self, round: int) -> Floats | None:
        """Return the ranks in [0, 1) of the entries that were up for decision in `round`, or None without scores."""
        self._require(round)
        count, start = self.score_counts[round], sum(self.score_counts[:round])
        return self.ranks[start : start + count].astype(np.float32) / np.float32(RANKS) if count else None

    @classmethod
    def read(cls, path: Path) -> CompactEdges:
        """Read the edges of what `CompactMasks.write` wrote; raises StoreError as `CompactMasks.read` does."""
        with reading(path, REMEDY):
            try:
                with zipfile.ZipFile(path) as archive:
                    return cls._from(path, archive)
            except DAMAGE:
                raise StoreError(f"{path} is damaged: {REMEDY}.") from None

    @classmethod
    def _from(cls, path: Path, archive: zipfile.ZipFile) -> CompactEdges:
        check_unpacked(path, archive)
        about = json.loads(archive.read(ABOUT))
        check_schema(path, about)
        coded, ranks = (read_array(archive.read(f"{name}.npy")) for name in (EDGES, EDGE_SCORES))
        entries = math.prod(about["shapes"][EDGES])
        check_size(coded, entries, about["last"])
        return cls(about["last"], about["edge_mask"], entries, coded, ranks, about["score_counts"])

    def _require(self, round: int) -> None:
        if not 0 <= round <= self.last:
            raise StoreError(f"This example holds no round {round}: its rounds are 0 to {self.last}.")
