"""Adam over named tensors, with moments as arrays that a stage can resume from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from glt.training.problem import Array, Mismatch, part, under

# Tensors with one learning rate and weight decay.
Group = tuple[Sequence[Tensor], float, float]
MOMENTS = ("exp_avg", "exp_avg_sq")
STEPS = "step"


class Adam:
    """torch's fused Adam over `groups`; `named` are the same tensors by name."""

    def __init__(self, named: Mapping[str, Tensor], groups: Sequence[Group]) -> None:
        settings = [
            {"params": list(tensors), "lr": learning_rate, "weight_decay": weight_decay}
            for tensors, learning_rate, weight_decay in groups
        ]
        self._adam = torch.optim.Adam(settings, fused=True)
        self._named = named

    def clear(self) -> None:
        """Forget the gradients of the last step."""
        self._adam.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Update every tensor that has a gradient."""
        self._adam.step()

    def state(self) -> dict[str, Array]:
        """Return moments and step counts of every tensor ever updated, not copied."""
        arrays: dict[str, Array] = {}
        for name, tensor in self._named.items():
            known = self._adam.state.get(tensor, {})
            arrays.update({f"{kind}/{name}": known[kind].cpu().numpy() for kind in (*MOMENTS, STEPS) if kind in known})
        return arrays

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from a `state`; raise Mismatch if it is of other tensors."""
        for name, count in under(STEPS, arrays).items():
            if name not in self._named:
                raise Mismatch(f"tensor {name} is not part of this network")
            tensor = self._named[name]
            moments = {kind: part(f"{kind}/{name}", tuple(tensor.shape), arrays) for kind in MOMENTS}
            self._adam.state[tensor] = {
                STEPS: torch.tensor(float(np.asarray(count)), dtype=torch.float32, device=tensor.device),
                **{kind: torch.from_numpy(values.copy()).to(tensor) for kind, values in moments.items()},
            }
