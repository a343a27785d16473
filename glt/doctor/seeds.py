"""Looking at the folder of one seed: what cannot be opened, what does not fit its checksums, what is left over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from glt.doctor.finding import Finding, Mend, moved, what_it_is
from glt.doctor.rounds import checksums_of, round_findings, rounds_from
from glt.doctor.strays import strays
from glt.errors import StoreError
from glt.store import PretrainingSeed, SeedFolder, SeedRun, State, Status, paths
from glt.store.checksums import foreign_owner
from glt.store.json_files import read_json, whole_lines
from glt.store.liveness import ACTIVE
from glt.store.lock import is_seen_locked
from glt.store.resuming import unusable
from glt.store.safe_files import cut_file
from glt.store.setting_aside import Aside, is_usable
from glt.store.signing import is_signed

AGAIN = {
    paths.STATUS: "how far the seed is, the other files tell",
    paths.ENVIRONMENT: "what a finished seed was computed with cannot be made again",
    paths.LOG: "what the log said is not made again",
    paths.LOCK: "the next worker makes another",
    paths.CHECKPOINT: "the round at work starts again",
    paths.CHECKSUMS: "it is made again from the files as they are",
    paths.INIT: "resuming makes theta_0 again from the seed",
    paths.PRETRAINED: "resuming trains it again",
}
ROUNDS_AGAIN = "resuming computes again what is missing"
TABLES = (paths.ROUNDS, paths.EVENTS, paths.CHECKSUMS)


def is_busy(seed: SeedFolder) -> bool:
    """Say whether a worker has the folder, so that what looks left over may be about to be used."""
    return is_seen_locked(seed.lock_path) or seed.is_at_work()


def seed_findings(seed: SeedFolder) -> list[Finding]:
    """Return everything wrong with a seed that no worker is at."""
    if isinstance(seed, SeedRun) and (owner := _other_owner(seed)):
        return [moved(seed.path, f"holds the rounds of {owner}", "resuming computes the seed itself")]
    bad = unusable(seed.path)
    found = [_unusable(seed, path) for path in bad]
    found += [finding for finding in _of_content(seed) if finding.path not in bad]
    return found


def _other_owner(seed: SeedRun) -> str:
    try:
        return foreign_owner(seed.path)
    except StoreError:
        return ""


def _unusable(seed: SeedFolder, path: Path) -> Finding:
    """Return the finding of a file that cannot be opened; what else has to be put in order is, with it."""
    wrong, then = what_it_is(path), AGAIN.get(path.name, ROUNDS_AGAIN)
    if path.name == paths.STATUS:
        return Finding(path, wrong, f"it is set aside; {then}", _writes_status(seed))
    if path.name == paths.INIT:
        return Finding(path, wrong, f"it is set aside; {then}", _moves_theta0(seed))
    if path.name in AGAIN and path.name not in (paths.CHECKSUMS, paths.PRETRAINED):
        return moved(path, wrong, then)
    mend = _starts_again(seed) if path.name == paths.PRETRAINED else seed.drop_unfinished
    return Finding(path, wrong, f"it is set aside; {then}", mend)


def _of_content(seed: SeedFolder) -> Iterator[Finding]:
    yield from _environment(seed)
    yield from _status(seed)
    if isinstance(seed, SeedRun):
        yield from round_findings(seed)
        yield from _checksums(seed)
        yield from _theta0(seed)
    elif isinstance(seed, PretrainingSeed) and seed.was_complete() and not seed.is_sound():
        then = "it is set aside" if seed.is_complete() else "the seed is called stopped"
        then = f"{then}; {AGAIN[paths.PRETRAINED]}"
        yield Finding(seed.path / paths.PRETRAINED, _wrong_with_result(seed), then, _starts_again(seed))
    yield from _half_lines(seed.path)
    yield from strays(seed.path, paths.is_of_seed)


def _starts_again(seed: SeedFolder) -> Mend:
    def start_again(aside: Aside) -> None:
        seed.drop_unfinished(aside)
        _writes_status(seed)(aside)

    return start_again


def _wrong_with_result(seed: PretrainingSeed) -> str:
    if not seed.is_complete():
        return "is missing"
    try:
        seed.first_layer()
    except StoreError:
        return "is damaged"
    return f"has epochs in {paths.EVENTS} that are not those that were written"


def _environment(seed: SeedFolder) -> Iterator[Finding]:
    path = seed.path / paths.ENVIRONMENT
    try:
        lost = bool(seed.environment()) and _has_checksums(seed) and not _is_signed(path)
    except StoreError:
        lost = True
    if lost:
        yield moved(path, "is damaged", AGAIN[paths.ENVIRONMENT])


def _checksums(seed: SeedRun) -> Iterator[Finding]:
    """Find finished rounds that have lost their checksums; a worker killed at the end of a round leaves one such."""
    path = seed.path / paths.CHECKSUMS
    if not is_usable(path) and os.path.lexists(path):
        return
    known, rounds = len(checksums_of(seed.path)), seed.whole_rounds()
    # Whether rounds are sound takes every tensor, so it is asked last.
    if known < rounds and _has_checksums(seed) and seed.sound_rounds() == rounds:
        wrong = f"lacks {rounds_from(known, rounds)}" if path.exists() else "is missing"
        yield Finding(path, wrong, AGAIN[paths.CHECKSUMS], seed.drop_unfinished)


def _has_checksums(seed: SeedFolder) -> bool:
    """Say whether the run of a seed has checksums of its texts, which those of earlier versions lack."""
    return any(map(_is_signed, (seed.path.parent / paths.CONFIG, seed.path / paths.ENVIRONMENT)))


def _is_signed(path: Path) -> bool:
    try:
        return is_signed(read_json(path, ""))
    except StoreError:
        return False


def _status(seed: SeedFolder) -> Iterator[Finding]:
    """Say of a seed that is called running, or whose state cannot be read, what it is instead."""
    path = seed.path / paths.STATUS
    written, state, write = seed.written_status(), _state(seed), _writes_status(seed)
    if written is None:
        if seed.was_started():
            wrong = "is damaged" if is_usable(path) else "is missing"
            yield Finding(path, wrong, f"the seed is called {state}, which the other files tell", write)
    elif written.state in ACTIVE and seed.status().state not in ACTIVE:
        wrong = f"says {written.state}, but process {written.pid or 'that should do it'} is gone"
        yield Finding(path, wrong, f"the seed is called {state}, and can be resumed", write)
    elif written.state not in (*ACTIVE, "done") and state == "done" and seed.is_sound():
        yield Finding(path, f"says {written.state}, but everything is there", f"the seed is called {state}", write)


def _theta0(seed: SeedRun) -> Iterator[Finding]:
    path = seed.path / paths.INIT
    # A seed that is called stopped makes it again when it is resumed.
    if not seed.has_theta0() and seed.whole_rounds() and (path.exists() or seed.status().state == "done"):
        wrong = "is damaged" if path.exists() else "is missing"
        yield Finding(path, wrong, f"the seed is called stopped, and {AGAIN[paths.INIT]}", _moves_theta0(seed))


def _moves_theta0(seed: SeedFolder) -> Mend:
    def move(aside: Aside) -> None:
        aside.move(seed.path / paths.INIT)
        _writes_status(seed)(aside)

    return move


def _writes_status(seed: SeedFolder) -> Mend:
    """Return what writes the state of a seed as its files tell it, and keeps what was written before."""
    written, path = seed.written_status(), seed.path / paths.STATUS

    def write(aside: Aside) -> None:
        if is_usable(path):
            aside.copy(path)
        elif os.path.lexists(path):
            aside.move(path)
        seed.write_status(Status(state=_state(seed), seed=seed.seed, threads=_threads(seed, written)))

    return write


def _state(seed: SeedFolder) -> State:
    """Return the state of a seed that no worker is at, as its files tell it."""
    has_all = seed.is_complete() and (not isinstance(seed, SeedRun) or seed.has_theta0())
    return "done" if has_all else "stopped"


def _threads(seed: SeedFolder, written: Status | None) -> int:
    try:
        known = seed.environment().get("threads")
    except StoreError:
        known = None
    return known if isinstance(known, int) else written.threads if written else 1


def _half_lines(folder: Path) -> Iterator[Finding]:
    """Find tables whose last line has no end, as a full disk or lost power leave them."""
    for path in (folder / name for name in TABLES):
        if is_usable(path) and (extra := _after_last_line(path)):
            yield Finding(path, "ends in half a line", f"a copy is set aside and the {extra} bytes are cut", _cut(path))


def _after_last_line(path: Path) -> int:
    return path.stat().st_size - whole_lines(path)[1]


def _cut(path: Path) -> Mend:
    def cut(aside: Aside) -> None:
        aside.copy(path)
        cut_file(path, whole_lines(path)[1])

    return cut
