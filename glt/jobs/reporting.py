"""What a worker says of itself: its state, a heartbeat and how far it is, written aside from the computation."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from glt.errors import StoreError
from glt.jobs.parent import is_orphan
from glt.store import Progress, SeedFolder, State, Status
from glt.store.liveness import named_process

LOOK_AGAIN = 1.0
HEARTBEAT = 5.0


def say(words: str) -> None:
    """Print into the log, which may lie on a disk that is full: the status tells the fault as well."""
    with suppress(OSError):
        print(words, file=sys.stderr, flush=True)


class Reporter:
    """Observer of a worker; a thread writes its status every second that brings news, and every five without."""

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
        """Take note of where the computation is."""
        with self._changing:
            self._status = self._status.model_copy(update={"progress": progress})

    def request_stop(self, *_: object) -> None:
        """Ask for an end at the next epoch; fit to be a signal handler."""
        self._stop.set()

    def should_stop(self) -> bool:
        """Say whether an end was asked for."""
        return self._stop.is_set()

    def _beat(self) -> None:
        while not self._ended.wait(LOOK_AGAIN):
            if self._parent is not None and is_orphan(self._parent):
                os._exit(1)
            self._write_if_due()

    def _write_if_due(self) -> None:
        silence = time.monotonic() - self._written_at
        if self._written is None or self._written.progress != self._status.progress or silence > HEARTBEAT:
            try:
                self._write()
            except StoreError as error:
                if not self._seed_run.path.is_dir():
                    # Nothing of this can be kept; the worker says so, once.
                    self.request_stop()
                    return
                # The computation meets the same fault when it next writes, and ends with it.
                say(str(error))

    def _write(self) -> None:
        with self._changing:
            self._status = self._status.model_copy(update={"heartbeat": round(time.time(), 3)})
            self._seed_run.write_status(self._status)
            self._written, self._written_at = self._status, time.monotonic()
