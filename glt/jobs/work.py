"""What a worker computes, by the kind of folder it was given."""

from __future__ import annotations

from functools import singledispatch

from glt.jobs.reporting import Reporter
from glt.store import Epoch, PretrainingSeed, Progress, SeedFolder, SeedRun, State

STAGE = "pre-training"


@singledispatch
def compute(seed: SeedFolder, reporter: Reporter, device: str) -> State:
    """Compute everything that is missing in a seed's folder; return "done", or "stopped" when asked to stop."""
    raise TypeError(f"nothing computes a {type(seed).__name__}")


@compute.register(SeedRun)
def find_rounds(seed: SeedRun, reporter: Reporter, device: str) -> State:
    """Compute rounds by Algorithm 2."""
    from glt.lottery.lottery import Stopped, find_tickets

    try:
        find_tickets(seed, reporter, device)
    except Stopped:
        return "stopped"
    return "done"


@compute.register(PretrainingSeed)
def pretrain_encoder(seed: PretrainingSeed, reporter: Reporter, device: str) -> State:
    """Train the encoder from the start, for a pre-training that was stopped keeps nothing."""
    from glt.pretraining.graphcl import pretrain
    from glt.training.tasks import message_graph

    if seed.drop_unfinished():
        return "done"
    graph = message_graph(seed.config.graph_config())

    def on_epoch(epoch: int, loss: float) -> None:
        seed.append_epoch(Epoch(epoch=epoch, loss=loss))
        reporter.on_progress(_progress(epoch + 1, seed.config.epochs))
        if reporter.should_stop():
            raise _Stopped

    try:
        result = pretrain(graph, seed.config, seed.seed, on_epoch, device)
    except _Stopped:
        return "stopped"
    about = {"best_epoch": result.best_epoch, "epochs": result.epochs, "loss": result.loss}
    seed.write_first_layer(result.weight, {**about, "graph": graph.content_hash})
    return "done"


class _Stopped(Exception):
    """Somebody asked to stop."""


def _progress(epoch: int, epochs: int) -> Progress:
    return Progress(round=0, rounds=0, stage=STAGE, epoch=epoch, epochs=epochs, fraction=epoch / epochs)
