"""The worker process: waits in line, then computes what one seed lacks.

`python -m glt.jobs.worker STORE RUN SEED`; torch is imported only once a slot is free.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from glt.errors import StudioError
from glt.jobs.devices import CPU, check_device, read_device, slots_on
from glt.jobs.environment import record_environment
from glt.jobs.memory import check_worker
from glt.jobs.parent import die_with_parent
from glt.jobs.queueing import join_line, line_of, wait_for_slot
from glt.jobs.reporting import Reporter, say
from glt.jobs.settings import Settings
from glt.jobs.waiting import wait_for_sources
from glt.jobs.work import compute
from glt.lottery.initial_weights import source_of
from glt.store import SeedFolder, SeedRun, State, Store
from glt.store.lock import own_inherited

DONE, FAILED, STOPPED = 0, 1, 130
# Added to a worker's niceness: alone on its core it is as fast, but pages and other programs are served first.
NICENESS = 5
# From glibc's malloc.h: no block is mapped on its own, all come from the heap, which is not trimmed below KEEP_BYTES.
M_TRIM_THRESHOLD = -1
M_MMAP_MAX = -4
KEEP_BYTES = 1024 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one worker; return 0 done, 1 failed, 130 stopped."""
    options = _parser().parse_args(arguments)
    if options.tied is not None:
        die_with_parent(options.tied)
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


def give_way() -> None:
    """Have the pages, which need a moment now and then, go before the hours that a worker computes."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)


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
        if not _has_slot(seed_run, queue, ticket, reporter, settings):
            return "stopped", None
        reporter.enter("running", running_since=round(time.time(), 3))
        return _compute(seed_run, reporter, settings), None
    except Exception as error:
        if not seed_run.path.is_dir():
            return "failed", None
        return "failed", _said(str(error) if isinstance(error, StudioError) else unexpected(error))


def _said(sentence: str) -> str:
    """Print a sentence and, after it, the traceback of the error at hand: a full disk may have room for the first."""
    say(f"{sentence}\n{traceback.format_exc()}")
    return sentence


def _has_slot(seed_run: SeedFolder, queue: Path, ticket: Path, reporter: Reporter, settings: Settings) -> bool:
    """Wait for a slot, which the process then has to its end; say whether it came before somebody asked to stop."""
    place = _place(seed_run, queue, ticket, reporter)
    slots = slots_on(settings.device, settings.threads)
    return place is not None and wait_for_slot(queue, place, slots, reporter.should_stop) is not None


def _place(seed_run: SeedFolder, queue: Path, ticket: Path, reporter: Reporter) -> Path | None:
    """Return the place in the line, a later one when another run had to be waited for; None when asked to stop."""
    if not isinstance(seed_run, SeedRun):
        return ticket
    return wait_for_sources(seed_run, queue, ticket, reporter.should_stop)


def unexpected(error: Exception) -> str:
    """Put an error nobody foresaw into one sentence for the status; its traceback is in the log.

    >>> unexpected(ValueError("too bad" + chr(10) + "more"))
    'ValueError (too bad): see log.txt, then resume the run.'
    """
    lines = str(error).splitlines() or ["no message"]
    return f"{type(error).__name__} ({lines[0]}): see log.txt, then resume the run."


def _compute(seed_run: SeedFolder, reporter: Reporter, settings: Settings) -> State:
    import torch

    from glt.data import load_graph

    if not _gives_memory_back(seed_run):
        keep_freed_memory()
    torch.set_num_threads(settings.threads)
    check_device(settings.device)
    if isinstance(seed_run, SeedRun):
        check_worker(seed_run.config, settings.device)
    source = source_of(seed_run) if isinstance(seed_run, SeedRun) else None
    record_environment(seed_run, settings, load_graph(seed_run.config.dataset).content_hash, source)
    return compute(seed_run, reporter, settings.device)


def keep_freed_memory() -> bool:
    """Tell glibc to keep freed blocks, which saves thousands of page faults per epoch.

    Training frees and asks for the same few megabytes at every step. Returns False, and changes nothing, where the C
    library has no such setting (macOS, Windows, musl).
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return False
    return bool(library.mallopt(M_MMAP_MAX, 0) and library.mallopt(M_TRIM_THRESHOLD, KEEP_BYTES))


def _gives_memory_back(seed_run: SeedFolder) -> bool:
    from glt.models import MODELS

    return isinstance(seed_run, SeedRun) and MODELS.get(seed_run.config.model).gives_memory_back


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


if __name__ == "__main__":
    give_way()
    sys.exit(main())
