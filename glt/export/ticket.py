"""Ticket: a pruned network on its graph, with all it takes to run and to check it far from the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from glt import __version__
from glt.config import RunConfig
from glt.data import Graph, load_graph
from glt.errors import ConfigError
from glt.export.about import About, Source
from glt.masks import Masks
from glt.models import MODELS
from glt.sparse import GraphOperator, features_of
from glt.store import RoundRecord, SeedRun
from glt.training.forward import forward
from glt.training.tasks import TASKS, metric_of

Floats = NDArray[np.float32]
Arrays = Mapping[str, Floats]


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

    Raises StoreError when the round or its weights are not there, as in examples, and ConfigError for a network that
    keeps pruned edges on purpose.
    """
    config = seed_run.config
    refuse_kept_edges(config)
    record = seed_run.record(round_)
    masks, weights = seed_run.masks(round_), seed_run.weights(round_)
    whole = load_graph(config.dataset)
    graph = TASKS.get(config.task).message_graph(whole, config)
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
