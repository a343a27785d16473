"""The loaders of docs/ticket-file.md: through PyG's own layers a ticket gives the outputs that its file states."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glt.export.archive import ticket_bytes
from glt.export.ticket import make_ticket
from glt.store import SeedRun

DOCUMENT = Path(__file__).parents[2] / "docs" / "ticket-file.md"
LINK = {"task": "link", "link_objective": "bce"}


def blocks_of(section: str) -> list[str]:
    """Return the code blocks of a section of the document."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def loaders(folder: Path) -> dict[str, Any]:
    """Run the loader's code blocks in the document, as they stand there, on the file `ticket.zip` in a folder."""
    blocks = blocks_of("Load it in plain PyTorch Geometric")
    script = folder / "load.py"
    script.write_text("\n".join(blocks).replace('"ticket.zip"', repr(str(folder / "ticket.zip"))), encoding="utf-8")
    return runpy.run_path(str(script))


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gcn", "degree": "target", "layers": 3},
        {"model": "gcn", "degree": "both", "edge_mask": "undirected"},
        {"model": "gcn", "degree": "fixed"},
        {"model": "gcn", **LINK},
        {"model": "gin"},
        {"model": "gin", "preset": "official"},
        {"model": "gin", "gin_aggregation": "mean", "gin_degree": "surviving", "layers": 3},
        {"model": "gin", "preset": "official", **LINK},
        {"model": "resgcn", "layers": 3},
        {"model": "resgcn", "layers": 3, "gen_mlp": 3, "gen_norm": "layer", "gen_self_loops": True, "gen_t": 0.5},
        {"model": "gat", "gat_heads": 2},
        {"model": "gat", "gat_heads": 3, "preset": "official", "layers": 3, "gat_slope": 0.1},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_the_documented_loader_gives_the_same_outputs(
    draw: Callable[..., SeedRun], tmp_path: Path, settings: dict[str, object]
) -> None:
    ticket = make_ticket(draw(**settings), 1)
    (tmp_path / "ticket.zip").write_bytes(ticket_bytes(ticket))
    found = loaders(tmp_path)
    assert ticket.masks.edges.sparsity > 0.39
    assert torch.isfinite(found["outputs"]).all()
    assert found["outputs"].abs().max() > 0.1
    # Sums over neighbours make a GIN's outputs large, and single precision is relative.
    largest = max(1.0, float(np.abs(ticket.outputs).max()))
    assert (found["outputs"] - torch.from_numpy(ticket.outputs)).abs().max() <= 1e-5 * largest


def test_another_normalisation_is_noticed(draw: Callable[..., SeedRun], tmp_path: Path) -> None:
    """PyG's own degrees are those of the receiving side: the test above must not pass by chance."""
    ticket = make_ticket(draw(model="gcn"), 1)
    (tmp_path / "ticket.zip").write_bytes(ticket_bytes(ticket))
    found = loaders(tmp_path)
    tensors = {**found["t"], "edge_weight": torch.ones_like(found["t"]["edge_weight"])}
    with torch.no_grad():
        other = found["gcn"](found["about"], tensors, found["x"])
    assert (other - found["outputs"]).abs().max() > 1e-3
