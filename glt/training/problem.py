"""Problem: a config and a graph on a device, shared by all seeds and rounds.

Only `Problem` itself needs torch; shapes, tensor specifications and full masks do not. `StageState` is the saved state
of a training stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.datasets.graph import Graph, Sizes
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS, NetworkShape, TensorSpec, initial_weights
from glt.seeds import stream
from glt.training.tasks import TASKS

Arrays = Mapping[str, NDArray[np.float32]]


def network_shape(config: RunConfig, sizes: Sizes) -> NetworkShape:
    """Return the shape of a config's network on a graph of these sizes."""
    outputs = TASKS.get(config.task).outputs(sizes.outputs, config)
    return NetworkShape(sizes.features, config.hidden, outputs, config.layers, config.options, sizes.edge_features)


def tensor_specs(config: RunConfig, shape: NetworkShape) -> Sequence[TensorSpec]:
    """List all trained tensors in the order they are drawn: the network's, then the task's."""
    return [*MODELS.get(config.model).tensors(shape), *TASKS.get(config.task).tensors(config, shape.outputs)]


def full_masks(config: RunConfig, graph: Graph) -> Masks:
    """Return the masks of round 0 on the message graph: every edge entry and prunable weight."""
    shapes = MODELS.get(config.model).prunable_shapes(network_shape(config, graph.sizes))
    return Masks(EdgeMask.full(config.edge_mask, graph.num_edges), WeightMask.full(shapes))


class Problem:
    """Model, task and features of a run; `whole` is the data set's graph, `graph` its message graph."""

    def __init__(self, config: RunConfig, graph: Graph, device: str = "cpu") -> None:
        from glt.sparse import features_of

        task = TASKS.get(config.task)
        self.config = config
        self.whole = graph
        self.graph = task.message_graph(graph, config)
        self.device = device
        self.model = MODELS.get(config.model)
        self.specs = tensor_specs(config, network_shape(config, graph.sizes))
        self.task = task.bind(graph, config, device)
        self.features = features_of(graph, device, keep_product=self.task.shuffles)

    def under(self, config: RunConfig) -> Problem:
        """Return the problem of another config on the same graph and held-out links."""
        return Problem(config, self.whole, self.device)

    def full_masks(self) -> Masks:
        """Return the masks of round 0."""
        return full_masks(self.config, self.graph)

    def initial_weights(self, seed: int, draw: int = 0) -> Arrays:
        """Draw theta_0; it depends only on seed, network and number of the draw."""
        return initial_weights(self.specs, stream(seed, draw, "init"))


# Saved state of a training stage.

Array = NDArray[Any]


class Mismatch(Exception):
    """A saved state that does not fit; the message says why."""


@dataclass(frozen=True, eq=False)
class StageState:
    """Everything the remaining epochs depend on; arrays may be views, valid until the next epoch."""

    arrays: Mapping[str, Array]
    about: Mapping[str, Any]

    def copied(self) -> StageState:
        """Return a copy with its own arrays."""
        return StageState({name: values.copy() for name, values in self.arrays.items()}, self.about)


def named(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Put arrays under a prefix.

    >>> list(named("best", {"theta/w": np.zeros(1)}))
    ['best/theta/w']
    """
    return {f"{prefix}/{name}": values for name, values in arrays.items()}


def under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays that `named` put under a prefix.

    >>> list(under("best", {"best/theta/w": np.zeros(1), "last/theta/w": np.zeros(1)}))
    ['theta/w']
    """
    start = f"{prefix}/"
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}


def part(name: str, shape: tuple[int, ...], arrays: Mapping[str, Array], dtype: type = np.float32) -> Array:
    """Return an array of this shape and type; raise Mismatch otherwise."""
    found = arrays.get(name)
    if found is None or found.shape != shape or found.dtype != dtype:
        held = "none" if found is None else f"{found.dtype} {found.shape}"
        raise Mismatch(f"{name} is {held} instead of {np.dtype(dtype)} {shape}")
    return found


def generator_words(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of an SFC64 generator for JSON, 64-bit words as strings."""
    state: Mapping[str, Any] = generator.bit_generator.state
    words = [str(int(word)) for word in state["state"]["state"]]
    return {"kind": state["bit_generator"], "words": words, "spare": [state["has_uint32"], state["uinteger"]]}


def restore_generator(generator: np.random.Generator, words: Any) -> None:
    """Set a generator from `generator_words`; raise Mismatch for anything else.

    >>> first, second = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    >>> restore_generator(second, generator_words(first))
    >>> first.random() == second.random()
    True
    """
    try:
        state = np.array([int(word) for word in words["words"]], dtype=np.uint64)
        has_spare, spare = words["spare"]
        known = {"bit_generator": words["kind"], "state": {"state": state}, "has_uint32": has_spare, "uinteger": spare}
        if state.shape != (4,):
            raise ValueError(f"{state.size} words")
        generator.bit_generator.state = known
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Mismatch(f"the state of the random generator is invalid ({error})") from None
