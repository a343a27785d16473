"""The edges of a seed's compact masks: read without the weights, which are most of the file."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glt import zips
from glt.config import EdgeMaskKind
from glt.masks import EdgeMask
from glt.store.compact_masks import check_size, decode, read_array, read_packed, require_round
from glt.store.edge_ranks import Bytes, as_floats
from glt.store.round_files import EDGE_SCORES, EDGES, Floats


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
        require_round(round, self.last)
        return EdgeMask(self.edge_mask, decode(self.coded, round, (self.entries,)))

    def scores(self, round: int) -> Floats | None:
        """Return the ranks in [0, 1) of the entries that were up for decision in `round`, or None without scores."""
        require_round(round, self.last)
        count, start = self.score_counts[round], sum(self.score_counts[:round])
        return as_floats(self.ranks[start : start + count]) if count else None

    @classmethod
    def read(cls, path: Path) -> CompactEdges:
        """Read the edges of what `CompactMasks.write` wrote; raises StoreError as `CompactMasks.read` does."""
        return read_packed(path, cls._from)

    @classmethod
    def _from(cls, archive: zipfile.ZipFile, about: Mapping[str, Any]) -> CompactEdges:
        coded, ranks = (read_array(zips.read_member(archive, f"{name}.npy")) for name in (EDGES, EDGE_SCORES))
        entries = math.prod(about["shapes"][EDGES])
        check_size(coded, entries, about["last"])
        return cls(about["last"], about["edge_mask"], entries, coded, ranks, about["score_counts"])
