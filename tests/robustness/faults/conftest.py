"""What tests of faults share: a repeatable random seed, and output past pytest's capture."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator

import pytest

# Moments at which runs are killed; from fifty on everything else is tried in full too.
KILLS = int(os.environ.get("GLT_FAULT_KILLS", "8"))
THOROUGH = KILLS >= 50


def _drawn_seed() -> int:
    wanted = os.environ.get("GLT_FAULT_SEED")
    if wanted is not None:
        return int(wanted)
    return 0 if os.environ.get("CI") else int.from_bytes(os.urandom(3), "big")


# GLT_FAULT_SEED, which draws the same moments again, else another number each time, but in CI.
SEED = _drawn_seed()


@pytest.fixture(scope="session")
def seed() -> int:
    """The random seed of all tests of a process."""
    return SEED


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print a line that `make faults` shows."""

    def say(line: str) -> None:
        with capsys.disabled():
            print(line, flush=True)

    return say


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print with a failure how to repeat the same moments."""
    report = yield
    if report.failed:
        report.sections.append(("moments", f"drawn with GLT_FAULT_SEED={SEED}"))
    return report
