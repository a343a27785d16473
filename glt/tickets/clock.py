"""How much of a seed's work is done, in epochs, and how long the rest takes."""

from __future__ import annotations

import time

from glt.config import RunConfig
from glt.methods import METHODS


class Clock:
    """Share of a seed's epochs that is done, and the time left at the pace of this process."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._started = time.perf_counter()
        self._first_epoch: int | None = None
        self.epochs_done = 0

    def start_round(self, round_: int, epochs: int = 0) -> None:
        """Count the epochs of whole rounds before this one as done, and those of the round that another process did."""
        self.epochs_done = epochs_before(self._config, round_) + epochs
        if self._first_epoch is None:
            self._first_epoch = self.epochs_done

    def estimate(self) -> tuple[float, float | None]:
        """Return the fraction done and the seconds left, None before anything was timed."""
        total = epochs_before(self._config, self._config.rounds + 1)
        timed = self.epochs_done - (self._first_epoch or 0)
        pace = (time.perf_counter() - self._started) / timed if timed else None
        left = None if pace is None else round(pace * (total - self.epochs_done), 1)
        return min(self.epochs_done / total, 1.0), left


def epochs_before(config: RunConfig, round_: int) -> int:
    """Return how many epochs all rounds before `round_` train, searches included."""
    if round_ == 0:
        return 0
    search = METHODS.get(config.method).search_epochs(config)
    return round_ * config.retrain_epochs + (round_ - 1) * search
