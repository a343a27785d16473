"""Workers' surroundings, and runs that nothing cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from glt.store import SeedRun
from tests.checkpoints.cutting import Killer, computed


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Compute as workers do: more threads add up in another order each time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLT_CHECKPOINT_SECONDS", "0")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[SeedRun, int]]:
    """Uninterrupted runs, each computed once, with the number of their reports."""
    known: dict[tuple[str, str], tuple[SeedRun, int]] = {}

    def reference(method: str, kind: str) -> tuple[SeedRun, int]:
        if (method, kind) not in known:
            observer = Killer()
            store = tmp_path_factory.mktemp(f"{method}-{kind}")
            known[method, kind] = computed(store, method, kind, observer), len(observer.reports)
        return known[method, kind]

    return reference
