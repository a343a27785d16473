"""Ticket: a pruned network on its graph, complete without the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt import __version__
from glt.config import RunConfig
from glt.datasets.graph import Graph, LinkSplit, Provenance, Split
from glt.errors import ConfigError
from glt.formats import count, file_size, number_of
from glt.lottery.graph import whole_graph_of
from glt.masks import EdgeMask, Masks, WeightMask
from glt.models import MODELS
from glt.sparse import GraphOperator, features_of
from glt.store import MAC_CONVENTIONS, SeedRun
from glt.ticket_file.schema import About, Array, Source, as_computed
from glt.training.batching import forward
from glt.training.problem import Arrays, network_shape, tensor_specs
from glt.training.tasks import TASKS, metric_of

Floats = NDArray[np.float32]
# Per undirected edge: both entries' node numbers and factors, the edge itself, and which entries are left.
BYTES_AN_EDGE = 2 * (16 + 4) + 8 + 2
MOST_BYTES = 2 << 30

WEIGHT, MASK, THETA_0 = "weight.", "mask.", "theta_0."
DENSE, TARGETS, EDGE_FEATURES = "features.dense", "targets", "edge_features"
SPARSE = ("features.rows", "features.columns", "features.values", "features.shape")
SPLIT = tuple(f"split.{part}" for part in ("train", "val", "test"))
# The training part of a link split is the file's edges.
LINKS = ("val", "test", "val_negatives", "test_negatives")
NEEDED = ("edge_index", "edge_weight", "edges", "edge_mask", "outputs", "labels", *SPLIT)
ONE_DIMENSIONAL = ("edge_weight", "labels", *SPLIT, *SPARSE)


@dataclass(frozen=True, eq=False)
class Ticket:
    """One round of one seed.

    `graph` is the unpruned message graph. `weights` are those of the best-validation epoch, zero where pruned; `theta0`
    the initial ones. `outputs` [N, C] of the pruned network are logits of nodes, or embeddings for links.
    """

    about: About
    graph: Graph
    masks: Masks
    weights: Arrays
    theta0: Arrays
    outputs: Floats


def make_ticket(seed_run: SeedRun, round: int) -> Ticket:
    """Return a round of a seed as a ticket.

    Raises StoreError if the round or its weights are missing, as in examples; DataError if the data set has changed;
    ConfigError for a network that keeps pruned edges or a graph that is too large.
    """
    config = seed_run.config
    why = MODELS.get(config.model).keeps_pruned_edges(config)
    if why is not None:
        raise ConfigError(f"This run has no ticket file: {why}; export its graph as graphml, csv or npz.")
    record = seed_run.record(round)
    masks, weights = seed_run.masks(round), seed_run.weights(round)
    whole = whole_graph_of(seed_run)
    graph = TASKS.get(config.task).message_graph(whole, config)
    if (size := tensor_bytes(graph)) > MOST_BYTES:
        raise ConfigError(
            f"A ticket file on {graph.name} would have {file_size(size)}, more than {file_size(MOST_BYTES)}; export "
            "its graph as graphml, csv or npz."
        )
    about = About(
        run=seed_run.path.parent.name,
        seed=seed_run.seed,
        config=config,
        edge_mask=config.edge_mask,
        record=record,
        metric=metric_of(config.dataset, config.task),
        search_seconds=seed_run.search_seconds(record.round),
        data=Source(name=whole.name, hash=whole.content_hash, **vars(whole.provenance)),
        class_names=whole.class_names,
        node_ids=whole.node_ids,
        environment=dict(seed_run.environment()),
        written_by={"glt-studio": __version__},
    )
    return Ticket(about, graph, masks, weights, seed_run.theta0(), outputs(config, graph, masks, weights))


def outputs(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> Floats:
    """Return the outputs [N, C] of a network on its surviving edges; `weights` are zero where pruned."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in weights.items()}
    features = features_of(graph)
    found: Floats = forward(config, GraphOperator(graph, masks.edges), features, tensors).numpy()
    return found


def messages(config: RunConfig, graph: Graph, mask: EdgeMask) -> tuple[Array, Array]:
    """Return the entries [2, m] (source, target) of a convolution and their factors [m].

    They include self-loops if the model normalises them with its edges, as a GCN does.
    """
    adjacency = MODELS.get(config.model).adjacency(GraphOperator(graph, mask), config)
    source, target = adjacency.structure.col.numpy(), adjacency.structure.row.numpy()
    factors = adjacency.values.numpy()
    wanted = (source != target) | (factors != 0)
    # PyTorch Geometric needs a 64-bit edge_index.
    return np.stack([source[wanted], target[wanted]]).astype(np.int64), factors[wanted]


def tensor_bytes(graph: Graph) -> int:
    """Estimate the bytes of a ticket's tensors without those of the network."""
    features = graph.features.data.nbytes if isinstance(graph.features, csr_array) else graph.features.nbytes
    tables = [table.nbytes for table in (graph.targets, graph.edge_features) if table is not None]
    given = 4 * graph.sizes.outputs * graph.num_nodes
    return BYTES_AN_EDGE * graph.num_edges + graph.labels.nbytes + features + given + sum(tables)


def arrays_of(ticket: Ticket) -> dict[str, Array]:
    """Return the tensors of a ticket by the names in docs/ticket-file.md."""
    graph, features = ticket.graph, ticket.graph.features
    index, factors = messages(ticket.about.config, graph, ticket.masks.edges)
    arrays: dict[str, Array] = {
        "edge_index": index,
        "edge_weight": factors,
        "edges": graph.edges.astype(np.int32),
        "edge_mask": ticket.masks.edges.keep,
        "outputs": ticket.outputs,
        "labels": graph.labels,
        **dict(zip(SPLIT, (graph.split.train, graph.split.val, graph.split.test), strict=True)),
        **{WEIGHT + name: values for name, values in ticket.weights.items()},
        **{MASK + name: keep for name, keep in ticket.masks.weights.keep.items()},
        **{THETA_0 + name: values for name, values in ticket.theta0.items()},
    }
    if isinstance(features, csr_array):
        shape = np.asarray(features.shape, dtype=np.int64)
        rows, columns = features.indptr.astype(np.int64), features.indices.astype(np.int32)
        arrays |= dict(zip(SPARSE, (rows, columns, features.data.astype(np.float32), shape), strict=True))
    else:
        arrays[DENSE] = features
    if graph.targets is not None:
        arrays[TARGETS] = graph.targets
    if graph.edge_features is not None:
        arrays[EDGE_FEATURES] = graph.edge_features
    if graph.links is not None:
        arrays |= {f"links.{part}": getattr(graph.links, part) for part in LINKS}
    return arrays


def ticket_of(about: About, arrays: Mapping[str, Array]) -> Ticket:
    """Return the ticket of a document and its tensors; raise ValueError if inconsistent."""
    _check_members(about, arrays)
    arrays = {name: as_computed(name, array) for name, array in arrays.items()}
    graph = _graph(about, arrays)
    _check_classes(about, graph, arrays["outputs"])
    _check_names(graph)
    weights = _with_prefix(WEIGHT, arrays)
    masks = Masks(EdgeMask(about.edge_mask, arrays["edge_mask"]), WeightMask(_with_prefix(MASK, arrays)))
    _check_shapes(about.config, graph, masks, weights)
    index, factors = messages(about.config, graph, masks.edges)
    if not np.array_equal(index, arrays["edge_index"]) or not np.allclose(factors, arrays["edge_weight"], atol=1e-6):
        raise ValueError("edge_index and edge_weight do not match its edges and their mask")
    return Ticket(about, graph, masks, weights, _with_prefix(THETA_0, arrays), arrays["outputs"])


def _with_prefix(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _check_members(about: About, arrays: Mapping[str, Array]) -> None:
    """Raise ValueError for missing tensors or MACs, wrong dimensions and excessive counts."""
    needed = NEEDED if DENSE in arrays else (*NEEDED, *SPARSE)
    if missing := [name for name in needed if name not in arrays]:
        raise ValueError(f"it lacks the tensors {', '.join(missing)}")
    for name in ONE_DIMENSIONAL:
        if name in arrays and arrays[name].ndim != 1:
            raise ValueError(f"its tensor {name} has shape {list(arrays[name].shape)}; it must have one dimension")
    if uncounted := [name for name in MAC_CONVENTIONS if name not in about.record.macs]:
        raise ValueError(f"its record lacks the MACs {', '.join(uncounted)}")
    if not about.record.is_bounded:
        raise ValueError("its record contains numbers that are too large")


def _graph(about: About, arrays: Mapping[str, Array]) -> Graph:
    """Return the graph; raise ValueError for tensors of wrong sizes."""
    labels, edges = arrays["labels"].astype(np.int64), arrays["edges"].astype(np.int64)
    nodes, targets = labels.size, arrays.get(TARGETS)
    features: Array | csr_array
    if DENSE in arrays:
        features = _table(DENSE, arrays, nodes)
    else:
        rows, columns, values, shape = (arrays[name] for name in SPARSE)
        if shape.shape != (2,) or not 0 <= shape.min() <= shape.max() <= np.iinfo(np.int64).max:
            raise ValueError(f"{SPARSE[-1]} is not a pair of row and column counts")
        features = csr_array((values, columns, rows), shape=tuple(shape.tolist()))
        # Compiled products do not check these numbers.
        features.check_format(full_check=True)
    if targets is not None:
        if targets.ndim != 2 or targets.shape[0] != nodes or not np.isin(targets, (0, 1)).all():
            raise ValueError(f"{TARGETS} has shape {list(targets.shape)}; it must have {nodes} rows of 0 and 1")
        targets = targets.astype(np.uint8)
    return Graph(
        name=about.data.name,
        edges=edges,
        features=features,
        labels=labels,
        split=Split(*(_known_nodes(arrays[part], nodes) for part in SPLIT)),
        provenance=Provenance(**about.data.model_dump(exclude={"name", "hash"})),
        class_names=about.class_names,
        node_ids=about.node_ids,
        targets=targets,
        edge_features=_table(EDGE_FEATURES, arrays, edges.shape[1]) if EDGE_FEATURES in arrays else None,
        links=_links(edges, arrays, nodes),
    )


def _table(name: str, arrays: Mapping[str, Array], rows: int) -> Array:
    values = arrays[name]
    if values.ndim != 2 or values.shape[0] != rows:
        raise ValueError(f"{name} has shape {list(values.shape)}; it must have {rows} rows")
    return values


def _links(edges: Array, arrays: Mapping[str, Array], nodes: int) -> LinkSplit | None:
    held = [arrays[f"links.{part}"] for part in LINKS if f"links.{part}" in arrays]
    if not held:
        return None
    if len(held) != len(LINKS) or any(pairs.ndim != 2 or pairs.shape[0] != 2 for pairs in held):
        raise ValueError("its link split must be four lists of pairs")
    return LinkSplit(edges, *(_known_nodes(pairs, nodes) for pairs in held))


def _known_nodes(numbers: Array, nodes: int) -> Array:
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < nodes):
        raise ValueError("its split contains nodes that are not in the graph")
    return numbers.astype(np.int64)


def _check_classes(about: About, graph: Graph, given: Array) -> None:
    """Raise ValueError if labels or targets do not match the outputs [N, C]."""
    if about.config.task != "node" or given.ndim != 2:
        return
    classes = given.shape[1]
    if graph.targets is not None:
        if classes != graph.targets.shape[1]:
            raise ValueError(f"{count(graph.targets.shape[1])} targets for {count(classes)} outputs")
    elif classes != graph.num_classes or graph.labels.min(initial=0) < -1:
        low, high = int(graph.labels.min()), int(graph.labels.max())
        raise ValueError(f"labels from {low} to {high} for outputs of {count(classes)} classes")


def _check_names(graph: Graph) -> None:
    """Raise ValueError for too few class names, or missing or repeated node ids."""
    if graph.class_names and len(graph.class_names) < graph.num_classes:
        raise ValueError(f"{number_of(len(graph.class_names), 'class name')} for {count(graph.num_classes)} classes")
    ids = graph.node_ids
    if ids is not None and len(ids) != graph.num_nodes:
        raise ValueError(f"{number_of(len(ids), 'node id')} for {count(graph.num_nodes)} nodes")
    if ids is not None and (repeats := len(ids) - len(set(ids))):
        raise ValueError(f"{number_of(repeats, 'repeated node id')}")


def _check_shapes(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> None:
    """Raise ValueError for wrong names or shapes, and for pruned weights that are not zero."""
    specs = tensor_specs(config, network_shape(config, graph.sizes))
    needed = {WEIGHT + spec.name: spec.shape for spec in specs}
    needed |= {MASK + spec.name: spec.shape for spec in specs if spec.prunable}
    held = {WEIGHT + name: values.shape for name, values in weights.items()}
    held |= {MASK + name: keep.shape for name, keep in masks.weights.keep.items()}
    for name in sorted({*needed, *held}, key=lambda name: (name.startswith(MASK), name)):
        found, expected = (str(list(shapes[name])) if name in shapes else "absent" for shapes in (held, needed))
        if expected != found:
            raise ValueError(f"{name} is {found}, but settings, features and labels need {expected}")
    if masks.edges.num_edges != graph.num_edges:
        raise ValueError("its edge mask and its list of edges have different lengths")
    if any(weights[name][~keep].any() for name, keep in masks.weights.keep.items()):
        raise ValueError("a pruned weight is not zero")
