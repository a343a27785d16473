"""The worker process: waits in the queue, then computes what one seed lacks.

`python -m glt.jobs.worker STORE RUN SEED`; torch is imported only once a slot is free. A `Reporter` writes state,
heartbeat and progress beside the computation.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from glt.errors import StoreError, StudioError
from glt.jobs.devices import CPU, Settings, check_device, read_device, slots_on
from glt.jobs.environment import record_environment
from glt.jobs.memory import check_worker
from glt.jobs.queue import join_line, line_of, wait_for_slot, wait_for_sources
from glt.lottery.initial_weights import source_of
from glt.store import Epoch, PretrainingSeed, Progress, SeedFolder, SeedRun, State, Status, Store
from glt.store.locks import named_process, own_inherited

PR_SET_PDEATHSIG = 1
LOOK_AGAIN = 1.0
HEARTBEAT = 5.0
STAGE = "pre-training"
DONE, FAILED, STOPPED = 0, 1, 130
# A worker's niceness: alone on its core it is as fast, but pages and other programs come first.
NICENESS = 5
# From glibc's malloc.h: all blocks come from the heap, which is not trimmed below KEEP_BYTES.
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4
KEEP_BYTES = 1024 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one worker; return 0 done, 1 failed, 130 stopped."""
    options = _parser().parse_args(arguments)
    if options.tied is not None:
        # Linux kills this process when its parent ends; elsewhere the heartbeat looks.
        if sys.platform == "linux":
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != options.tied:
            return FAILED
    try:
        store = Store(options.store)
        seed_run = store.find_any(options.run).seed(options.seed)
        if options.lock is not None:
            own_inherited(seed_run.lock_path, options.lock)
        with seed_run.lock():
            return _work(store, seed_run, Settings(options.threads, options.device), options)
    except StudioError as error:
        say(str(error))
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m glt.jobs.worker", description=__doc__)
    parser.add_argument("store")
    parser.add_argument("run")
    parser.add_argument("seed", type=int)
    parser.add_argument("--ticket", type=Path, help="place in the line, whose lock comes with the process")
    parser.add_argument("--lock", type=int, metavar="FD", help="descriptor of the seed's lock, held by the starter")
    parser.add_argument("--device", type=read_device, default=CPU)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tied", type=int, metavar="PID", help="end when this parent process ends")
    return parser


def _work(store: Store, seed_run: SeedFolder, settings: Settings, options: argparse.Namespace) -> int:
    if options.ticket is not None:
        sys.stdin.read()  # ends when the starter has written "queued"
    reporter = Reporter(seed_run, settings.threads, options.tied)
    signal.signal(signal.SIGTERM, reporter.request_stop)
    signal.signal(signal.SIGINT, reporter.request_stop)
    state, error = _outcome(reporter, store, seed_run, settings, options.ticket)
    if not seed_run.path.is_dir():
        say(seed_run.gone)
        return FAILED
    reporter.finish(state, error)
    return {"done": DONE, "stopped": STOPPED}.get(state, FAILED)


def _outcome(
    reporter: Reporter, store: Store, seed_run: SeedFolder, settings: Settings, ticket: Path | None
) -> tuple[State, str | None]:
    try:
        queue = line_of(store.queue_folder(), settings.device)
        ticket = ticket or join_line(queue, time.time())[0]
        reporter.begin()
        # A run that reads another one waits for it first.
        place: Path | None = ticket
        if isinstance(seed_run, SeedRun):
            place = wait_for_sources(seed_run, queue, ticket, reporter.should_stop)
        slots = slots_on(settings.device, settings.threads)
        # The slot is kept to the process's end.
        if place is None or wait_for_slot(queue, place, slots, reporter.should_stop) is None:
            return "stopped", None
        reporter.enter("running", running_since=round(time.time(), 3))
        return _compute(seed_run, reporter, settings), None
    except Exception as error:
        if not seed_run.path.is_dir():
            return "failed", None
        sentence = str(error)
        if not isinstance(error, StudioError):
            first = (sentence.splitlines() or ["no message"])[0]
            sentence = f"{type(error).__name__} ({first}): see log.txt, then resume the run."
        # A full disk may have room for the sentence only.
        say(f"{sentence}\n{traceback.format_exc()}")
        return "failed", sentence


def _compute(seed_run: SeedFolder, reporter: Reporter, settings: Settings) -> State:
    """Compute what a seed lacks: rounds by Algorithm 2, or an encoder."""
    import torch

    from glt.datasets import load_graph
    from glt.lottery.lottery import Stopped, compute_rounds
    from glt.models import MODELS

    if not (isinstance(seed_run, SeedRun) and MODELS.get(seed_run.config.model).gives_memory_back):
        keep_freed_memory()
    torch.set_num_threads(settings.threads)
    check_device(settings.device)
    source = None
    if isinstance(seed_run, SeedRun):
        check_worker(seed_run.config, settings.device)
        source = source_of(seed_run)
    record_environment(seed_run, settings, load_graph(seed_run.config.dataset).content_hash, source)
    try:
        if isinstance(seed_run, SeedRun):
            compute_rounds(seed_run, reporter, settings.device)
        elif isinstance(seed_run, PretrainingSeed):
            _pretrain_encoder(seed_run, reporter, settings.device)
    except Stopped:
        return "stopped"
    return "done"


def _pretrain_encoder(seed: PretrainingSeed, reporter: Reporter, device: str) -> None:
    """Train the encoder from the start; a stopped pre-training keeps nothing."""
    from glt.lottery.lottery import Stopped
    from glt.pretraining.graphcl import pretrain
    from glt.training.tasks import message_graph

    if seed.drop_unfinished():
        return
    graph = message_graph(seed.config.graph_config())

    def on_epoch(epoch: int, loss: float) -> None:
        seed.append_epoch(Epoch(epoch=epoch, loss=loss))
        done, epochs = epoch + 1, seed.config.epochs
        progress = Progress(round=0, rounds=0, stage=STAGE, epoch=done, epochs=epochs, fraction=done / epochs)
        reporter.on_progress(progress)
        if reporter.should_stop():
            raise Stopped

    result = pretrain(graph, seed.config, seed.seed, on_epoch, device)
    about = {"best_epoch": result.best_epoch, "epochs": result.epochs, "loss": result.loss}
    seed.write_first_layer(result.weight, {**about, "graph": graph.content_hash})


class Reporter:
    """Observer of a worker; a thread writes its status each second with news, else every five."""

    def __init__(self, seed_run: SeedFolder, threads: int, parent: int | None = None) -> None:
        before = seed_run.status()
        self._seed_run = seed_run
        self._parent = parent
        self._status = Status(
            state="queued",
            seed=seed_run.seed,
            **named_process(),
            queued_at=before.queued_at or time.time(),
            threads=threads,
        )
        self._written: Status | None = None
        self._written_at = time.monotonic()
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def begin(self) -> None:
        """Write the first status and start the heartbeat."""
        self._write()
        self._thread.start()

    def enter(self, state: State, **more: Any) -> None:
        """Change the state and write it at once."""
        with self._changing:
            self._status = Status.model_validate({**self._status.model_dump(), "state": state, **more})
        self._write()

    def finish(self, state: State, error: str | None = None) -> None:
        """End the heartbeat and write the final state."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self.enter(state, error=error)

    def on_progress(self, progress: Progress) -> None:
        """Take note of the progress."""
        with self._changing:
            self._status = self._status.model_copy(update={"progress": progress})

    def request_stop(self, *_: object) -> None:
        """Ask to stop at the next epoch; a signal handler."""
        self._stop.set()

    def should_stop(self) -> bool:
        """Say whether to stop."""
        return self._stop.is_set()

    def _beat(self) -> None:
        while not self._ended.wait(LOOK_AGAIN):
            if self._parent is not None and os.getppid() != self._parent:
                os._exit(1)
            self._write_if_due()

    def _write_if_due(self) -> None:
        silence = time.monotonic() - self._written_at
        if self._written is None or self._written.progress != self._status.progress or silence > HEARTBEAT:
            try:
                self._write()
            except StoreError as error:
                if not self._seed_run.path.is_dir():
                    # The folder is gone; the worker says so once, at its end.
                    self.request_stop()
                    return
                # The computation meets the same error when it next writes, and ends with it.
                say(str(error))

    def _write(self) -> None:
        with self._changing:
            self._status = self._status.model_copy(update={"heartbeat": round(time.time(), 3)})
            self._seed_run.write_status(self._status)
            self._written, self._written_at = self._status, time.monotonic()


def say(words: str) -> None:
    """Print into the log, whose disk may be full: the status holds the error too."""
    with suppress(OSError):
        print(words, file=sys.stderr, flush=True)


def keep_freed_memory() -> bool:
    """Have glibc keep freed blocks, which saves page faults; False elsewhere."""
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return False
    return bool(library.mallopt(M_MMAP_MAX, 0) and library.mallopt(M_TRIM_THRESHOLD, KEEP_BYTES))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    sys.exit(main())
