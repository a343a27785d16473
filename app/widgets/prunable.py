"""Launch's list of what masks cover: the graph's edges and every tensor of the network, prunable or not."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from glt import formats
from glt.config import RunConfig
from glt.data import DATASETS
from glt.jobs.forecast import weight_count
from glt.models import TensorSpec
from glt.training.shapes import network_shape, tensor_specs


def listing(config: RunConfig) -> None:
    """Show it folded, with the number of prunable weights outside."""
    spec = DATASETS.get(config.dataset)
    tensors = tensor_specs(config, network_shape(config, spec.sizes))
    title = f"Masks cover {formats.count(weight_count(config))} weights"
    with st.expander(title, icon=":material/grid_on:", key="prunable"):
        st.table(_rows(tensors), border="horizontal")
        st.caption("and every edge of the graph that carries messages; a node's own message always stays.")


def _rows(tensors: Sequence[TensorSpec]) -> list[dict[str, str]]:
    return [
        {
            "Tensor": tensor.name,
            "Shape": " by ".join(formats.count(size) for size in tensor.shape),
            "Pruned": "yes" if tensor.prunable else "no",
        }
        for tensor in tensors
    ]
