"""An engine that needs no torch, for processes started with this folder on PYTHONPATH.

It writes real rounds of a small made-up network; an epoch lasts FAKE_EPOCH seconds, times FAKE_SCALE. With FAKE_GATE
no epoch begins before there is a file of that name; with FAKE_PAUSE=N the gate stands after the first epoch of the
round that follows the first N of each worker, and never opens where it has no name. A run of a hundred rounds or more
never ends: once a worker has computed OWN_ROUNDS of them it waits to be stopped.

FAKE_FAULT names what goes wrong in the first epoch of round 1, with FAKE_CHECKPOINT every epoch is written down,
FAKE_CUDA says how many CUDA devices there are, FAKE_CUDA_MEMORY the bytes free on each.
"""

from __future__ import annotations

import os
import sys
import time
import types

import numpy as np

ENDLESS, OWN_ROUNDS = 100, 5
GLANCE = 0.01


class Stopped(Exception):
    """The observer asked to stop."""


def fault(name: str) -> Exception:
    from glt.errors import DataError

    if name == "studio":
        return DataError("The moon is missing: wait for night.")
    return RuntimeError("first line\nsecond line")


def compute_rounds(seed_run, observer, device="cpu"):  # noqa: ANN001, ANN201
    from glt.masks import EdgeMask, Masks, WeightMask

    masks = Masks(EdgeMask.full("directed", 12), WeightMask.full({"w": (6, 5)}))
    weights = {"w": np.random.default_rng(seed_run.seed).normal(size=(6, 5)).astype(np.float32)}
    first = seed_run.drop_unfinished()
    if first == 0:
        seed_run.write_init(weights)
    else:
        masks = seed_run.masks(first - 1)
    for number in range(first, seed_run.config.rounds + 1):
        if seed_run.config.rounds >= ENDLESS and number >= first + OWN_ROUNDS:
            wait_for_stop(observer)
        if number:
            scores = np.random.default_rng(number).random(masks.edges.kept)
            masks = Masks(masks.edges.prune(scores, 0.05), masks.weights.prune(weights, 0.2))
        train(seed_run, observer, number, number - first)
        seed_run.write_round(record(number, masks), masks, weights, None)


def wait_for_stop(observer):  # noqa: ANN001, ANN201
    while not observer.should_stop():
        time.sleep(GLANCE)
    raise Stopped


def pass_gate(observer):  # noqa: ANN001, ANN201
    gate = os.environ.get("FAKE_GATE")
    while gate is None or not os.path.exists(gate):  # noqa: PTH110 - the process has just begun
        if observer.should_stop():
            raise Stopped
        time.sleep(GLANCE)


def pass_epoch() -> None:
    time.sleep(float(os.environ.get("FAKE_EPOCH", "0")) * float(os.environ.get("FAKE_SCALE", "1")))


def stands_gate(own, epoch) -> bool:  # noqa: ANN001
    if "FAKE_PAUSE" in os.environ:
        return own == int(os.environ["FAKE_PAUSE"]) and epoch == 1
    return "FAKE_GATE" in os.environ


def train(seed_run, observer, number, own):  # noqa: ANN001, ANN201
    from glt.store import Checkpoint, Event, Progress

    config, saved = seed_run.config, seed_run.checkpoint()
    for epoch in range(saved.epochs if saved else 0, config.retrain_epochs):
        if stands_gate(own, epoch):
            pass_gate(observer)
        pass_epoch()
        seed_run.append_event(Event(round=number, stage="retrain", epoch=epoch, loss=1.0, val=0.5, test=0.5))
        epochs = config.retrain_epochs
        fraction = (number * epochs + epoch + 1) / ((config.rounds + 1) * epochs)
        place = {"round": number, "rounds": config.rounds, "stage": "retrain", "epoch": epoch + 1, "epochs": epochs}
        observer.on_progress(Progress(**place, fraction=fraction, seconds_left=1.0))
        if "FAKE_CHECKPOINT" in os.environ:
            seed_run.write_checkpoint(Checkpoint(number, epoch + 1, 0.0, {"w": np.ones(3)}, {}))
        if observer.should_stop():
            raise Stopped
        if number == 1 and "FAKE_FAULT" in os.environ:
            raise fault(os.environ["FAKE_FAULT"])


def record(number, masks):  # noqa: ANN001, ANN201
    from glt.store import RoundRecord

    scores = {"val": 0.7, "test": 0.8, "test_last": 0.75, "best_epoch": 1, "seconds": 0.1}
    macs = {"dense_features": 10, "sparse_features": 5, "published": 9}
    return RoundRecord.of(number, masks, **scores, macs=macs)


def pretrain(graph, config, seed, on_epoch, device="cpu"):  # noqa: ANN001, ANN201
    pass_epoch()
    on_epoch(0, 1.0)
    weight = np.zeros((graph.num_features, config.hidden), dtype=np.float32)
    return types.SimpleNamespace(weight=weight, best_epoch=0, epochs=1, loss=1.0)


def install() -> None:
    torch = types.ModuleType("torch")
    torch.set_num_threads = lambda _: None
    devices = int(os.environ.get("FAKE_CUDA", "0"))
    memory = int(os.environ.get("FAKE_CUDA_MEMORY", str(10**12)))
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: devices > 0, device_count=lambda: devices, mem_get_info=lambda _: (memory, memory)
    )
    search = types.ModuleType("glt.lottery.lottery")
    search.compute_rounds, search.Stopped = compute_rounds, Stopped
    pretraining = types.ModuleType("glt.pretraining.graphcl")
    pretraining.pretrain = pretrain
    fakes = {"torch": torch, search.__name__: search, pretraining.__name__: pretraining}
    sys.modules.update(fakes)


# Only at a process's start: importing this file later, as doctest collection does, keeps the real torch.
if __name__ == "sitecustomize":
    install()
