"""Tickets of small networks on real Cora: a trained one, and drawn ones in any setting; files with changed content."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from glt.config import canonical_json
from glt.datasets import load_graph
from glt.lottery.lottery import compute_rounds
from glt.masks import Masks
from glt.presets import resolve
from glt.store import SeedRun, Store
from glt.ticket_file.io import checksum, read_ticket, ticket_bytes
from glt.ticket_file.schema import ABOUT, TENSORS
from glt.ticket_file.ticket import Ticket, make_ticket
from glt.ticket_file.verify import TicketReport, check
from glt.training.problem import Problem
from tests.conftest import Watcher, made_up

SMALL = {"hidden": 16, "epochs": 3, "retrain_epochs": 15, "rounds": 1, "p_graph": 0.4, "p_weight": 0.4}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> SeedRun:
    """A GCN that was trained for one round."""
    seed_run = Store(tmp_path_factory.mktemp("trained")).create(resolve(SMALL)).seed(0)
    with seed_run.lock():
        compute_rounds(seed_run, Watcher())
    return seed_run


@pytest.fixture(scope="module")
def ticket(trained: SeedRun) -> Ticket:
    """The last round of the trained GCN."""
    return make_ticket(trained, 1)


@pytest.fixture
def draw(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., SeedRun]:
    """Write two rounds whose masks and weights are drawn so that outputs are of the size of 1; settings by keyword."""

    def draw(preset: str | None = None, **settings: object) -> SeedRun:
        config = resolve({**SMALL, **settings}, preset)
        seed_run = Store(tmp_path_factory.mktemp("drawn")).create(config).seed(0)
        problem, generator = Problem(config, load_graph(config.dataset)), np.random.default_rng(7)
        drawn = {spec.name: weights(spec.name, spec.shape, generator) for spec in problem.specs}
        full = problem.full_masks()
        scores = generator.random(full.edges.keep.size)
        masks = Masks(full.edges.prune(scores, 0.4), full.weights.prune(drawn, 0.4))
        with seed_run.lock():
            seed_run.write_init(drawn)
            for number, each in enumerate((full, masks)):
                kept = {name: values * each.weights.keep.get(name, True) for name, values in drawn.items()}
                seed_run.write_round(made_up(number, each, seed_run), each, kept)
        return seed_run

    return draw


def weights(name: str, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    if name.endswith((".scale", ".temperature")):
        return np.ones(shape, dtype=np.float32)
    size = 1.0 if name == "layers.0.weight" else (2 / shape[0]) ** 0.5
    return generator.normal(0, size, shape).astype(np.float32)


@pytest.fixture
def path(ticket: Ticket, tmp_path: Path) -> Path:
    path = tmp_path / "ticket.zip"
    path.write_bytes(ticket_bytes(ticket))
    return path


Arrays = dict[str, Any]


def checked(path: Path) -> TicketReport:
    return check(read_ticket(path), path)


def changed(path: Path, about: Callable[[Arrays], None] | None = None, **arrays: Any) -> Path:
    """Write the file again with other content, and sums that fit it; a tensor that is None is left out."""
    held = unzipped(path)
    document, tensors = json.loads(held[ABOUT]), {**load(held[TENSORS]), **arrays}
    if about is not None:
        about(document)
    kept = {name: np.ascontiguousarray(values) for name, values in tensors.items() if values is not None}
    return summed(path, document, save(kept))


def summed(path: Path, document: Arrays, tensors: bytes) -> Path:
    """Write a ticket file with this content, and sums that fit it."""
    document.pop("sha256")
    document["sha256"] = {ABOUT: checksum(canonical_json(document).encode()), TENSORS: checksum(tensors)}
    return zipped(path, {ABOUT: json.dumps(document).encode(), TENSORS: tensors})


def unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    path.write_bytes(packed(members, zipfile.ZIP_STORED))
    return path
