"""Rule: what a training stage does beside minimising its task's loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from glt.training.network import Network
    from glt.training.tasks import TrainingPass


class Rule:
    """Terms of the loss, and changes around steps and epochs; by default none of them.

    A rule belongs to one stage. `reads_all_outputs`: the terms read the outputs of all nodes, so the stage runs on the
    whole graph even if its task needs a small part only. What later epochs depend on, beside the network's tensors,
    is in `state`, so that a stage can resume.
    """

    reads_all_outputs: bool = False

    def terms(self, step: TrainingPass, network: Network) -> Tensor | None:
        """Return what is added to the task's loss; the recorded loss is without it."""
        return None

    def before_step(self, network: Network, epoch: int) -> None:
        """Change or note gradients, before penalties and weight decay are added; epochs count from 0."""
        return

    def after_step(self, network: Network) -> None:
        """Change the tensors after the optimiser's step."""
        return

    def after_epoch(self, network: Network, epoch: int) -> bool:
        """Act on the network between the last step of an epoch and its evaluation; return whether tensors changed."""
        return False

    def on_best(self) -> None:
        """Note that the epoch just evaluated has the best validation score so far."""
        return

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return what later epochs and the result depend on, as arrays."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state`; raise Mismatch if it is of another stage."""
        return
