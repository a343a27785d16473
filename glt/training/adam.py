"""Adam over a network's tensors, and its moments as arrays that a stage can go on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glt.training.network import Network
from glt.training.stage_state import Mismatch, part, under

if TYPE_CHECKING:
    from glt.training.loop import Schedule

Array = NDArray[Any]
MOMENTS = ("exp_avg", "exp_avg_sq")
STEPS = "step"


class Adam:
    """The optimiser of a stage: weights in one group, soft masks in another where there are any."""

    def __init__(self, network: Network, schedule: Schedule) -> None:
        groups = [_group(list(network.theta.values()), schedule.learning_rate, schedule.weight_decay)]
        if network.soft:
            rates = schedule.mask_learning_rate, schedule.mask_weight_decay
            groups.append(_group(network.soft.parameters(), *rates))
        self._adam = torch.optim.Adam(groups, fused=True)
        self._named = network.trainable()

    def clear(self) -> None:
        """Forget the gradients of the last step."""
        self._adam.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Move every tensor that has a gradient."""
        self._adam.step()

    def state(self) -> dict[str, Array]:
        """Return both moments and the number of steps of every tensor that was ever moved, not copied."""
        arrays: dict[str, Array] = {}
        for name, tensor in self._named.items():
            known = self._adam.state.get(tensor, {})
            arrays.update({f"{kind}/{name}": known[kind].cpu().numpy() for kind in (*MOMENTS, STEPS) if kind in known})
        return arrays

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take up what `state` gave; raises Mismatch when it belongs to other tensors."""
        steps = under(STEPS, arrays)
        for name, count in steps.items():
            if name not in self._named:
                raise Mismatch(f"a tensor {name} that this network lacks")
            tensor = self._named[name]
            moments = {kind: part(f"{kind}/{name}", tuple(tensor.shape), arrays) for kind in MOMENTS}
            self._adam.state[tensor] = {
                STEPS: torch.tensor(float(np.asarray(count)), dtype=torch.float32, device=tensor.device),
                **{kind: torch.from_numpy(values.copy()).to(tensor) for kind, values in moments.items()},
            }


def _group(tensors: list[Tensor], learning_rate: float, weight_decay: float) -> dict[str, object]:
    return {"params": tensors, "lr": learning_rate, "weight_decay": weight_decay}
