"""How sparse each layer of the network is, round by round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.tables.curve import mean_and_interval
from analysis.tables.labels import run_labels
from glt.masks import WeightMask
from glt.store import Run

KEYS = ["run", "label", "method", "layer", "round"]


def layer_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return a row a run, layer and round with the share of the layer's prunable weights that is removed.

    Columns: run, label, method, `layer` ("Layer 1", or the name of a tensor outside the layers), round, `weights` (how
    many are prunable), `mean`, `low` and `high` (95% t interval over seeds, NaN for one), `seeds`.
    """
    labels = run_labels(runs)
    rows = [
        (run.reference, labels[run.reference], run.config.method, layer, number, weights, removed)
        for run in runs
        for seed in map(run.seed, run.seeds())
        for number in range(seed.whole_rounds())
        for layer, weights, removed in _layers(seed.masks(number).weights)
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "weights", "removed"])
    groups = table.groupby([*KEYS, "weights"], sort=False)
    return mean_and_interval(groups["removed"]).rename(columns={"count": "seeds"}).reset_index()


def _layers(mask: WeightMask) -> Iterator[tuple[str, int, float]]:
    """Yield the name, the prunable weights and the share removed of every layer, from the input on."""
    tensors = defaultdict(list)
    for name, keep in mask.keep.items():
        tensors[layer_of(name)].append(keep)
    for layer, parts in tensors.items():
        size = sum(part.size for part in parts)
        yield layer, size, 1 - sum(int(part.sum()) for part in parts) / size


def layer_of(tensor: str) -> str:
    """Return what to call the layer of a tensor.

    >>> layer_of("layers.0.attention_source"), layer_of("encoder.weight")
    ('Layer 1', 'encoder')
    """
    start, _, rest = tensor.partition(".")
    number = rest.partition(".")[0]
    return f"Layer {int(number) + 1}" if start == "layers" and number.isdigit() else tensor.rpartition(".")[0] or tensor
