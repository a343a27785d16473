"""Where a run and its seeds stand, in the words and numbers the pages show."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glt import formats
from glt.errors import StoreError
from glt.store import AnyRun, RoundRecord, Run, State, Status
from glt.store.liveness import ACTIVE

WAITS = "waits for a free core"
ORDER: tuple[State, ...] = ("running", "queued", "failed", "lost", "stopped", "done")


@dataclass(frozen=True)
class SeedProgress:
    """One seed: state, share done, the last finished round and its test accuracy (fractions)."""

    seed: int
    state: State
    fraction: float
    last_round: int | None
    accuracy: float | None
    doing: str
    error: str | None


@dataclass(frozen=True)
class RunProgress:
    """All seeds of a run together; `damage` is the sentence that says why its rounds cannot be read."""

    run: AnyRun
    seeds: tuple[SeedProgress, ...]
    damage: str = ""

    @property
    def state(self) -> State:
        """The state that wants attention first: work, then trouble, then rest."""
        return foremost(seed.state for seed in self.seeds)

    @property
    def is_active(self) -> bool:
        """Whether any seed is at work or waits for its turn."""
        return any(seed.state in ACTIVE for seed in self.seeds)

    @property
    def fraction(self) -> float:
        """Share of the whole run that is done."""
        return sum(seed.fraction for seed in self.seeds) / len(self.seeds) if self.seeds else 0.0

    @property
    def unfinished(self) -> tuple[int, ...]:
        """Seeds that lack something and have no worker."""
        return tuple(seed.seed for seed in self.seeds if seed.state not in (*ACTIVE, "done"))

    @property
    def is_mixed(self) -> bool:
        """Whether the seeds are in different states."""
        return len({seed.state for seed in self.seeds}) > 1

    @property
    def newest(self) -> str:
        """The last round that all seeds have finished, and its mean test accuracy; empty when there is none."""
        known = [seed for seed in self.seeds if seed.last_round is not None and seed.accuracy is not None]
        if not known or len(known) < len(self.seeds):
            return ""
        rounds = {seed.last_round for seed in known}
        if len(rounds) > 1:
            return f"rounds {min(s.last_round or 0 for s in known)} to {max(s.last_round or 0 for s in known)} finished"
        mean = sum(seed.accuracy or 0.0 for seed in known) / len(known)
        return f"round {known[0].last_round}: {formats.percent(mean)}"


def run_progress(run: Run) -> RunProgress:
    """Read where a run stands; one whose rounds cannot be read still has its seeds and their states."""
    damage, seeds = "", []
    for seed in run.seeds():
        try:
            last = run.seed(seed).last_round()
        except StoreError as error:
            damage, last = str(error), None
        seeds.append(_seed_progress(run, run.seed(seed).status(), seed, last))
    return RunProgress(run, tuple(seeds), damage)


def state_of(run: AnyRun) -> State:
    """Return the state of a run's seeds that wants attention first."""
    return foremost(run.seed(seed).status().state for seed in run.seeds())


def foremost(states: Iterable[State]) -> State:
    """Return the state that wants attention first: work, then trouble, then rest.

    >>> foremost(["done", "failed", "stopped"])
    'failed'
    """
    return min(states, key=ORDER.index, default="stopped")


def any_active(runs: Iterable[AnyRun]) -> bool:
    """Say whether any worker of these runs is at work or waits."""
    return any(run.seed(seed).is_at_work() for run in runs for seed in run.seeds())


def counts(states: Sequence[State]) -> str:
    """Say how many seeds are in which state.

    >>> counts(["done", "done", "running"])
    '1 running, 2 done'
    """
    return ", ".join(f"{states.count(state)} {state}" for state in ORDER if state in states)


def starting(status: Status) -> str:
    """Say that a worker is not at its first epoch yet, and for how long; a busy machine takes minutes for it.

    >>> starting(Status(state="running", seed=0))
    'starts: loads torch and the data'
    """
    words = "starts: loads torch and the data"
    return f"{words}, {formats.duration(_since(status))} so far" if status.running_since else words


def _since(status: Status) -> float:
    return max(1.0, float(round(time.time() - status.running_since)))


def _seed_progress(run: Run, status: Status, seed: int, last: RoundRecord | None) -> SeedProgress:
    done = None if last is None else last.round
    whole = 0.0 if done is None else (done + 1) / (run.config.rounds + 1)
    now = status.progress if status.state == "running" else None
    return SeedProgress(
        seed=seed,
        state=status.state,
        fraction=min(max(whole, now.fraction if now else 0.0), 1.0),
        last_round=done,
        accuracy=None if last is None else last.test,
        doing=_doing(run, status, done),
        error=status.error,
    )


def _doing(run: Run, status: Status, done: int | None) -> str:
    if status.state == "queued":
        return WAITS
    if status.state == "running":
        now = status.progress
        if now is None:
            return starting(status)
        left = f", {formats.duration(now.seconds_left)} left" if now.seconds_left is not None else ""
        return f"round {now.round} of {now.rounds}, {now.stage} {now.epoch} of {now.epochs}{left}"
    if done is None:
        return "no finished round"
    return f"round {done} of {run.config.rounds}"
