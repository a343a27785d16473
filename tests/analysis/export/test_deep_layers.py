"""Weight sparsity of more layers than lines can tell apart: a field a run, its rows in the order of the network."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.drawing.page import draw
from analysis.figures.base import FigureChoices
from glt.config import RunConfig
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import MAC_CONVENTIONS, RoundRecord, Status, Store


def test_a_deep_network_is_a_field_of_layers_by_rounds(tmp_path: Path) -> None:
    run = Store(tmp_path).create(RunConfig(rounds=1))
    seed, shapes = run.seed(0), {f"layers.{place}.weight": (4, 5) for place in range(28)}
    seed.make()
    seed.write_status(Status(state="done", seed=0))
    keep = {name: np.arange(20).reshape(4, 5) >= int(name.split(".")[1]) % 20 for name in shapes}
    tensors = {name: np.ones(shape, dtype=np.float32) for name, shape in shapes.items()}
    for number, weights in enumerate((WeightMask.full(shapes), WeightMask(keep))):
        masks = Masks(EdgeMask.full("directed", 3), weights)
        scores = dict.fromkeys(("val", "test", "test_last"), 0.5)
        macs = dict.fromkeys(MAC_CONVENTIONS, 1)
        seed.write_round(RoundRecord.of(number, masks, best_epoch=0, seconds=1.0, macs=macs, **scores), masks, tensors)
    area = draw("layers", [run], FigureChoices()).axes[0]
    (picture,) = area.images
    expected = [0, *(5.0 * (place % 20) for place in range(1, 28))]
    np.testing.assert_allclose(np.asarray(picture.get_array()), np.stack([np.zeros(28), expected], axis=1))
    named = [label.get_text() for label in area.get_yticklabels()]
    assert named[:3] == ["Layer 1", "Layer 5", "Layer 9"]
