"""What a floor times is an epoch: its kernels compute what the engine and the dense formulation compute."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from benchmarks.bare_epoch import SPARSE_PRODUCTS, BareEpoch
from benchmarks.floors import arrays_of, schedule
from benchmarks.seen_epoch import SeenEpoch
from benchmarks.sparse_products import IMPLEMENTATIONS, pattern_of
from glt.datasets import load_graph
from glt.presets import resolve
from glt.seeds import stream
from glt.training.network import Network, SoftMasks
from glt.training.problem import Problem
from glt.training.trainer import EpochResult, Stage

EPOCHS = 4
# Each kernel by another implementation, so that all of them stand in an epoch once.
CHOSEN = dict(zip(SPARSE_PRODUCTS, itertools.cycle(IMPLEMENTATIONS), strict=False))


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("width", [3, 160])
def test_every_sparse_product_is_the_dense_one(name: str, width: int) -> None:
    generator = np.random.default_rng(0)
    numbers = random_array((40, 1100), density=0.02, rng=generator, dtype=np.float32).toarray()
    numbers[7] = 0
    matrix = csr_array(numbers)
    dense = torch.from_numpy(generator.random((1100, width), dtype=np.float32))
    found = IMPLEMENTATIONS[name](pattern_of(matrix))(dense)
    torch.testing.assert_close(found, torch.from_numpy(numbers) @ dense, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", [BareEpoch, SeenEpoch])
@pytest.mark.parametrize("soft", [True, False], ids=["search", "retrain"])
def test_bare_epochs_train_as_the_engine_does(soft: bool, kind: type[BareEpoch]) -> None:
    problem = Problem(resolve({"dataset": "cora", "hidden": 16}, "official"), load_graph("cora"))
    theta, masks = problem.initial_weights(0), problem.full_masks()
    start = SoftMasks.around_one(masks, 1e-5, stream(0, 1, "mask start"), "cpu") if soft else None
    bare = kind(problem, theta, arrays_of(start), stream(0, 1, "search"), CHOSEN)
    losses, scores = [], []
    for _ in range(EPOCHS):
        for kernel in bare.kernels():
            kernel.run()
        losses.append(float(bare.loss))
        scores.append(bare.scores)
    network, results = Network(problem, masks, theta, start), list[EpochResult]()
    trained = Stage(network, schedule(problem, EPOCHS), stream(0, 1, "search")).run(results.append)
    assert losses == pytest.approx([result.loss for result in results], abs=1e-5)
    assert np.allclose(scores, [(result.scores.val, result.scores.test) for result in results], atol=0.003)
    found = [*bare.weights, *([bare.edge_mask, *bare.masks] if soft else [])]
    for tensor, expected in zip(found, trained.last_tensors.values(), strict=True):
        np.testing.assert_allclose(tensor.numpy(), expected, atol=2e-4)
