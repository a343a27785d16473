"""Ticket: a pruned network on its graph, with all it takes to run and to check it far from the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from glt import __version__
from glt.config import RunConfig
from glt.data import Graph
from glt.errors import ConfigError
from glt.export.about import About, Source
from glt.formats import file_size
from glt.masks import Masks
from glt.models import MODELS
from glt.sparse import GraphOperator, features_of
from glt.store import RoundRecord, SeedRun
from glt.tickets.graph import whole_graph_of
from glt.training.forward import forward
from glt.training.tasks import TASKS, metric_of

Floats = NDArray[np.float32]
Arrays = Mapping[str, Floats]
# Numbers and factors of both entries, the edge itself, and which entries are left.
BYTES_AN_EDGE = 2 * (16 + 4) + 8 + 2
MOST_BYTES = 2 << 30


@dataclass(frozen=True, eq=False)
class Ticket:
    """One round of one seed.

    `graph` carries the messages of the unpruned network and `masks` says what is left of it and of the tensors;
    `weights` are those of the best-validation epoch with zeros where pruned, `theta0` the initial ones, `outputs`
    [N, C] what the pruned network gives: logits of nodes, or embeddings for links.
    """

    about: About
    graph: Graph
    masks: Masks
    weights: Arrays
    theta0: Arrays
    outputs: Floats


def make_ticket(seed_run: SeedRun, round_: int) -> Ticket:
    """Return a round of a seed as a ticket.

    Raises StoreError when the round or its weights are not there, as in examples, DataError where the
    data set here is not the one it was computed on, and ConfigError for a network that
    keeps pruned edges on purpose or a graph too large for a file.
    """
    config = seed_run.config
    refuse_kept_edges(config)
    record = seed_run.record(round_)
    masks, weights = seed_run.masks(round_), seed_run.weights(round_)
    whole = whole_graph_of(seed_run)
    graph = TASKS.get(config.task).message_graph(whole, config)
    refuse_too_large(graph)
    return Ticket(
        about=_about(seed_run, record, whole),
        graph=graph,
        masks=masks,
        weights=weights,
        theta0=seed_run.theta0(),
        outputs=outputs(config, graph, masks, weights),
    )


def outputs(config: RunConfig, graph: Graph, masks: Masks, weights: Arrays) -> Floats:
    """Evaluate a network on its surviving edges; `weights` hold zeros where pruned."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in weights.items()}
    features = features_of(graph)
    found: Floats = forward(config, GraphOperator(graph, masks.edges), features, tensors).numpy()
    return found


def refuse_kept_edges(config: RunConfig) -> None:
    """Raise ConfigError for a network whose pruned edges still weigh: the sparse graph is not what it runs on."""
    why = MODELS.get(config.model).keeps_pruned_edges(config)
    if why is not None:
        raise ConfigError(f"This run has no ticket to give away: {why}; export its graph, as graphml, csv or npz.")


def refuse_too_large(graph: Graph) -> None:
    """Raise ConfigError for a graph whose file would not be made in a usual memory, which it takes several times."""
    size = tensor_bytes(graph)
    if size > MOST_BYTES:
        raise ConfigError(
            f"A ticket file on {graph.name} would hold {file_size(size)}, more than {file_size(MOST_BYTES)}; "
            "export its graph, as graphml, csv or npz."
        )


def tensor_bytes(graph: Graph) -> int:
    """Return about how many bytes the tensors of a ticket on a graph take, the network's own left out."""
    features = graph.features.data.nbytes if isinstance(graph.features, csr_array) else graph.features.nbytes
    tables = [table.nbytes for table in (graph.targets, graph.edge_features) if table is not None]
    outputs = 4 * graph.sizes.outputs * graph.num_nodes
    return BYTES_AN_EDGE * graph.num_edges + graph.labels.nbytes + features + outputs + sum(tables)


def _about(seed_run: SeedRun, record: RoundRecord, whole: Graph) -> About:
    config = seed_run.config
    return About(
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
