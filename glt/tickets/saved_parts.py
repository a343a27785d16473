"""What of a round outlives the stage that made it, as arrays and JSON: results of stages, and the proposal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.masks import Masks
from glt.methods import Proposal
from glt.store.round_files import packed_masks, unpacked_masks
from glt.training.loop import TrainResult
from glt.training.stage_state import named, under
from glt.training.tasks import Scores

Array = NDArray[Any]
Saved = tuple[dict[str, Array], dict[str, Any]]
EDGE_SCORES = "edge_scores"


def saved_result(result: TrainResult) -> Saved:
    """Put what a stage gave into arrays and JSON."""
    scores = np.array([[each.val, each.test] for each in (result.best, result.last)])
    tensors = {**named("best", result.best_tensors), **named("last", result.last_tensors)}
    return {**tensors, "scores": scores}, {"best_epoch": result.best_epoch}


def stored_result(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> TrainResult:
    """Return what `saved_result` was given; raises KeyError, TypeError or ValueError for anything else."""
    best, last = (Scores(float(val), float(test)) for val, test in arrays["scores"])
    return TrainResult(int(about["best_epoch"]), best, under("best", arrays), last, under("last", arrays))


def saved_proposal(proposal: Proposal) -> Saved:
    """Put masks and edge scores into arrays and JSON, scores in the precision that they have."""
    arrays, about = packed_masks(proposal.masks)
    if proposal.edge_scores is not None:
        arrays = {**arrays, EDGE_SCORES: proposal.edge_scores}
    return arrays, about


def stored_proposal(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> Proposal:
    """Return what `saved_proposal` was given; raises KeyError, TypeError or ValueError for anything else."""
    masks: Masks = unpacked_masks(arrays, about)
    return Proposal(masks, arrays.get(EDGE_SCORES))
