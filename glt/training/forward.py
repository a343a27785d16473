"""One forward pass without a gradient: what audits, measurements of time and ticket files evaluate."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from glt.config import RunConfig
from glt.models import MODELS
from glt.sparse import Dropout, Features, GraphOperator
from glt.training.clusters import by_parts


@torch.no_grad()
def forward(
    config: RunConfig,
    operator: GraphOperator,
    features: Features,
    weights: Mapping[str, Tensor],
    edge_values: Tensor | None = None,
) -> Tensor:
    """Return the outputs [N, C] of a config's network: logits of nodes, or embeddings for links.

    `features` are row-normalised. Weights may be sparse CSR; `edge_values` (by default ones) has a value for every
    entry of the operator's mask. A network that is evaluated in clusters is so here.
    """
    model = MODELS.get(config.model)

    def output(part: GraphOperator | None) -> Tensor:
        rows = features if part is None else features.of_nodes(torch.from_numpy(part.nodes))
        stem = model.stem(part or operator, edge_values, rows, weights, config)
        return model.head(stem, weights, Dropout(0, None), config)

    return by_parts(config, operator, output)
