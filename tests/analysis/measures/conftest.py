from __future__ import annotations

from pathlib import Path

import pytest

from analysis.measures.cache import shared_cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GLT_CACHE", str(folder))
    shared_cache.cache_clear()
    return folder
