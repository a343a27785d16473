"""A round's proposal as arrays and JSON: what outlives the search that made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from glt.methods import Proposal
from glt.store.round_files import packed_masks, unpacked_masks

EDGE_SCORES = "edge_scores"
NOTES = "notes"


def saved_proposal(proposal: Proposal) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Put masks, edge scores and notes into arrays and JSON, scores in the precision that they have."""
    arrays, about = packed_masks(proposal.masks)
    if proposal.notes:
        about = {**about, NOTES: dict(proposal.notes)}
    if proposal.edge_scores is not None:
        arrays = {**arrays, EDGE_SCORES: proposal.edge_scores}
    return arrays, about


def stored_proposal(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Proposal:
    """Return what `saved_proposal` was given; raises KeyError, TypeError or ValueError for anything else."""
    return Proposal(unpacked_masks(arrays, about), arrays.get(EDGE_SCORES), dict(about.get(NOTES, {})))
