"""The README inside a ticket file: what it is, and a complete program that runs it without GLT Studio."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from glt import formats
from glt.export.ticket import Ticket
from glt.printable import one_line

LOADERS = Path(__file__).with_name("loader.md")
SHARED = "read"

TEXT = """# A graph lottery ticket

{model} on {data}, round {round} of {run}, seed {seed}: {metric} {test} on the test split at the best validation epoch;
{graph} of the graph's entries and {weight} of the prunable weights are removed.

- `ticket.json`: settings, scores, node ids, where the data and the numbers are from, SHA-256 of the other file.
- `tensors.safetensors`: `weight.*` (zeros where pruned), `mask.*`, `theta_0.*`, the graph (`edges`, `edge_mask`),
  what a convolution of PyTorch Geometric takes (`edge_index`, `edge_weight`), features, labels (-1: unknown), split,
  and `outputs`: what the network gives.

GLT Studio wrote this file; `python -m glt import FILE` checks it there.
"""
RUN_IT = """
## Run it without GLT Studio

Install `torch`, `torch_geometric` and `safetensors` ({versions}), save the program below as `load.py`
and run `python load.py ticket.zip`, or give it the folder that this file was unpacked to. It builds the network with
PyTorch Geometric's layers, runs it on the surviving edges, and compares the outputs with those in the file.

```python
import sys
{shared}

{model}

about, t, x = read(sys.argv[1])
with torch.no_grad():
    outputs = {name}(about, t, x)
{comparison}{score}```
"""
COMPARISON = """\
assert torch.allclose(outputs, t["outputs"], rtol=1e-5, atol=1e-5), "other outputs than the file's"
print("the outputs are those of the file:", list(outputs.shape))
"""
IN_CLUSTERS = """\
# This network was evaluated in clusters, between which edges carry nothing; the file's outputs are those.
print("largest difference from the outputs in clusters:", (outputs - t["outputs"]).abs().max().item())
"""
ACCURACY = """\
test = t["split.test"]
print("test accuracy:", (outputs[test].argmax(dim=1) == t["labels"][test]).double().mean().item())
"""
LINKS = """
For links, `outputs` are embeddings before the PReLU whose slope is `weight.link.prelu`; a pair's score is the cosine of
its embeddings.
"""
PACKAGES = ("torch", "torch-geometric", "safetensors")


def readme(ticket: Ticket) -> str:
    """Return the README of a ticket file, with the loader of its model where there is one."""
    about = ticket.about
    told = TEXT.format(
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
    if about.config.model not in loaders():
        return told
    program = RUN_IT.format(
        versions=_versions(ticket),
        shared=loaders()[SHARED].strip(),
        name=about.config.model,
        model=loaders()[about.config.model].strip(),
        comparison=COMPARISON if about.config.options.get("batch_clusters_eval", 1) == 1 else IN_CLUSTERS,
        score=ACCURACY if about.config.task == "node" and about.metric == "accuracy" else "",
    )
    return told + program + (LINKS if about.config.task == "link" else "")


@cache
def loaders() -> dict[str, str]:
    """Return the blocks of the loader by name: what all models share (`SHARED`), and one for each model."""
    text = LOADERS.read_text(encoding="utf-8")
    return dict(re.findall(r"## (\w+)\n\n```python\n(.*?)```", text, flags=re.DOTALL))


def _versions(ticket: Ticket) -> str:
    """Name the versions that the ticket was computed with; they may come from a file that somebody brought."""
    known = ticket.about.environment.get("versions")
    found = [f"{name} {known[name]}" for name in PACKAGES if name in known] if isinstance(known, dict) else []
    return one_line(f"it was computed with {', '.join(found)}") if found else "any recent versions"
