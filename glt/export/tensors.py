"""The tensors of a ticket file, by name: what a plain PyTorch Geometric network reads, and what checks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glt.config import RunConfig
from glt.data import Graph
from glt.data.graph import Provenance, Split
from glt.export.about import About
from glt.export.fitting import check_classes, check_members, check_names, check_same
from glt.export.node_tensors import known_nodes, node_arrays, node_parts
from glt.export.tensor_types import as_computed
from glt.export.ticket import Arrays, Ticket
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS
from glt.sparse import GraphOperator
from glt.training.shapes import network_shape, tensor_specs

Array = NDArray[Any]
WEIGHT, MASK, THETA_0 = "weight.", "mask.", "theta_0."
SPLIT = ("train", "val", "test")


def arrays_of(ticket: Ticket) -> dict[str, Array]:
    """Return the tensors of a ticket under the names that docs/ticket-file.md lists."""
    graph = ticket.graph
    index, factors = messages(ticket.about.config, graph, ticket.masks.edges)
    return {
        "edge_index": index,
        "edge_weight": factors,
        "edges": graph.edges.astype(np.int32),
        "edge_mask": ticket.masks.edges.keep,
        "outputs": ticket.outputs,
        "labels": graph.labels,
        **{f"split.{part}": getattr(graph.split, part) for part in SPLIT},
        **node_arrays(graph),
        **{WEIGHT + name: values for name, values in ticket.weights.items()},
        **{MASK + name: keep for name, keep in ticket.masks.weights.keep.items()},
        **{THETA_0 + name: values for name, values in ticket.theta0.items()},
    }


def messages(config: RunConfig, graph: Graph, mask: EdgeMask) -> tuple[Array, Array]:
    """Return the entries [2, m] (source, target) that a convolution adds up, and the factor [m] of each.

    Self-loops are among them where the model weighs them with its edges, as a GCN does.
    """
    operator = GraphOperator(graph, mask)
    adjacency = MODELS.get(config.model).adjacency(operator, config)
    source, target = adjacency.structure.col.numpy(), adjacency.structure.row.numpy()
    factors = adjacency.values.numpy()
    wanted = (source != target) | (factors != 0)
    # What PyTorch Geometric takes for an edge_index is 64 bits wide.
    return np.stack([source[wanted], target[wanted]]).astype(np.int64), factors[wanted]


def ticket_of(about: About, arrays: Mapping[str, Array]) -> Ticket:
    """Put a ticket together again; raises ValueError when its tensors do not fit each other."""
    check_members(about.record, arrays)
    arrays = {name: as_computed(name, array) for name, array in arrays.items()}
    graph = _graph(about, arrays)
    check_classes(about, graph, arrays["outputs"])
    check_names(graph)
    weights = _named(WEIGHT, arrays)
    masks = Masks(EdgeMask(about.edge_mask, arrays["edge_mask"]), WeightMask(_named(MASK, arrays)))
    _check_shapes(about.config, graph, masks, weights)
    index, factors = messages(about.config, graph, masks.edges)
    if not np.array_equal(index, arrays["edge_index"]) or not np.allclose(factors, arrays["edge_weight"], atol=1e-6):
        raise ValueError("edge_index and edge_weight are not those of its edges and their mask")
    return Ticket(about, graph, masks, weights, _named(THETA_0, arrays), np.asarray(arrays["outputs"], np.float32))


def _named(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _graph(about: About, arrays: Mapping[str, Array]) -> Graph:
    data = about.data.model_dump(exclude={"name", "hash"})
    return Graph(
        name=about.data.name,
        edges=arrays["edges"].astype(np.int64),
        **node_parts(arrays),
        labels=arrays["labels"].astype(np.int64),
        split=Split(*(known_nodes(arrays[f"split.{part}"], arrays["labels"].size) for part in SPLIT)),
        provenance=Provenance(**data),
        class_names=about.class_names,
        node_ids=about.node_ids,
    )


def _check_shapes(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> None:
    shape = network_shape(config, graph.sizes)
    specs = {spec.name: spec for spec in tensor_specs(config, shape)}
    check_same(WEIGHT, {name: spec.shape for name, spec in specs.items()}, weights)
    check_same(MASK, {name: spec.shape for name, spec in specs.items() if spec.prunable}, masks.weights.keep)
    if masks.edges.num_edges != graph.num_edges:
        raise ValueError("its edge mask is not as long as its list of edges")
    if any(weights[name][~keep].any() for name, keep in masks.weights.keep.items()):
        raise ValueError("a weight that its mask removes is not zero")
