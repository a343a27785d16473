"""What all tests share: where the reference data lies, how hypothesis searches, and when a skip is no excuse."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no failure, and a check must say the same twice.
settings.register_profile("studio", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "studio")

_BROWSER_TESTS = Path(__file__).parent / "browser"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with Planetoid's raw files and others: `GLT_TEST_DATA`, by default beside the repository."""
    default = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("GLT_TEST_DATA") or default)
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder} (GLT_TEST_DATA)")
    return folder


@pytest.fixture
def planetoid(test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reference data as data root, with a cache folder of the test's own; returns Planetoid's root."""
    monkeypatch.setenv("GLT_DATA", str(test_data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return test_data / "planetoid"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in tests/browser as a browser test."""
    for item in items:
        if _BROWSER_TESTS in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI set, count a skipped browser test as failed: there, Chromium is no option."""
    report = yield
    if report.skipped and os.environ.get("CI") and item.get_closest_marker("browser"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not accept of a browser test: {report.longrepr}"
    return report
