"""What all tests share: where the reference data lies, and how hypothesis searches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no failure.
settings.register_profile("studio", deadline=None)
settings.load_profile("studio")


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with Planetoid's raw files and others: `GLT_TEST_DATA`, by default beside the repository."""
    default = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("GLT_TEST_DATA") or default)
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder} (GLT_TEST_DATA)")
    return folder
