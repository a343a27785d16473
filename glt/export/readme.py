"""The README inside a ticket file: what it is, and how to run it without GLT Studio."""

from __future__ import annotations

from glt import formats
from glt.export.ticket import Ticket

TEXT = """# A graph lottery ticket

{model} on {data}, round {round} of {run}, seed {seed}: {metric} {test} on the test split at the best validation epoch;
{graph} of the graph's entries and {weight} of the prunable weights are removed.

- `ticket.json`: settings, scores, node ids, where the data and the numbers are from, SHA-256 of the other file.
- `tensors.safetensors`: `weight.*` (zeros where pruned), `mask.*`, `theta_0.*`, the graph (`edges`, `edge_mask`),
  what a convolution of PyTorch Geometric takes (`edge_index`, `edge_weight`), features, labels, split, and `outputs`:
  what the network gives.

The loader for PyTorch Geometric is in docs/ticket-file.md of GLT Studio; `python -m glt import FILE` checks the file.
"""


def readme(ticket: Ticket) -> str:
    """Return the README of a ticket file."""
    about = ticket.about
    return TEXT.format(
        model=about.config.model.upper(),
        data=about.data.name,
        round=about.record.round,
        run=about.run,
        seed=about.seed,
        metric=about.metric,
        test=formats.percent(about.record.test),
        graph=formats.percent(about.record.graph_sparsity),
        weight=formats.percent(about.record.weight_sparsity),
    )
