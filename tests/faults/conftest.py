"""What tests of faults share: chance that can be drawn again, and a way to report past pytest's capture."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.faults.effort import SEED

ENGINE = Path(__file__).parents[1] / "fake_engine"


@pytest.fixture(scope="session")
def seed() -> int:
    """What moments are drawn from: one number for all tests of a process."""
    return SEED


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print a line that `make faults` shows."""

    def say(line: str) -> None:
        with capsys.disabled():
            print(line, flush=True)

    return say


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have workers compute with the fake engine; `setenv` on the result slows it down or breaks it."""
    monkeypatch.setenv("PYTHONPATH", str(ENGINE))
    monkeypatch.setenv("FAKE_EPOCH", "0")
    return monkeypatch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say with a failure how to draw the same moments again."""
    report = yield
    if report.failed:
        report.sections.append(("moments", f"drawn with GLT_FAULT_SEED={SEED}"))
    return report
