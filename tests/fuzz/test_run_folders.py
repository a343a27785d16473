"""Run folders that somebody laid in a store: a bad one is told in a sentence, and the others stay usable."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glt.errors import StudioError
from glt.presets import resolve
from glt.store import Run, Store, paths
from tests.fuzz.hostile import DOCUMENTS, hostile, values, written

SETTINGS = {"rounds": 2, "epochs": 2, "retrain_epochs": 2}
DOCUMENTS_OF_A_RUN = (paths.CONFIG, paths.STATUS, paths.ENVIRONMENT, paths.ROUNDS, paths.EVENTS)


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory, draw_seed: Callable[..., None]) -> Store:
    """A store with two runs, of which the second is spoiled again and again."""
    store = Store(tmp_path_factory.mktemp("laid") / "store")
    for method in ("ugs", "random"):
        draw_seed(store.create(resolve({"method": method, **SETTINGS})).seed(0), 2)
    return store


def spoil(store: Store, name: str, content: bytes) -> Run:
    """Put content into a file of the second run as it was at first, and return the run that is whole."""
    whole, spoiled = sorted(path for path in store.root.iterdir() if path.is_dir() and path.name[0] != ".")
    kept = store.root.parent / "kept"
    if not kept.exists():
        shutil.copytree(spoiled, kept)
    shutil.rmtree(spoiled)
    shutil.copytree(kept, spoiled)
    path = spoiled / name if name == paths.CONFIG else spoiled / "seed-0" / name
    path.write_bytes(content)
    return Run.open(whole)


def look(store: Store) -> None:
    """Ask everything of every run that a page asks, and let sentences be the only complaint."""
    contents = store.contents()
    assert all("\n" not in said for _, said in contents.damaged)
    for run in contents.every:
        for seed in (0, *run.seeds()):
            folder = run.seed(seed)
            for ask in asked(folder):
                with suppress(StudioError):
                    ask()


def asked(folder: Any) -> Iterator[Callable[[], Any]]:
    yield from (folder.status, folder.is_at_work, folder.environment, folder.data_hash, folder.is_complete)
    if hasattr(folder, "rounds"):
        yield from (folder.rounds, folder.last_round, folder.events, folder.is_sound, lambda: folder.search_seconds(1))
        for part in (folder.masks, folder.edge_mask, folder.edge_scores, folder.holds_ranks, folder.weights):
            yield lambda part=part: part(1)
        yield folder.theta0


@pytest.mark.parametrize("name", DOCUMENTS_OF_A_RUN)
@pytest.mark.parametrize("content", DOCUMENTS, ids=lambda content: content[:24].decode(errors="replace"))
def test_documents_to_trip_over(laid: Store, name: str, content: bytes) -> None:
    whole = spoil(laid, name, content + b"\n")
    look(laid)
    assert len(whole.seed(0).rounds()) == 3
    assert [run.name for run in laid.runs() if run.name == whole.name]


@hostile()
@given(name=st.sampled_from(DOCUMENTS_OF_A_RUN), content=values())
def test_documents_of_any_kind(laid: Store, name: str, content: Any) -> None:
    spoil(laid, name, written(content).encode() + b"\n")
    look(laid)


@hostile(few=40)
@given(data=st.data())
def test_a_document_with_one_value_changed(laid: Store, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(DOCUMENTS_OF_A_RUN))
    spoil(laid, name, b"")
    kept = laid.root.parent / "kept"
    lines = (
        (kept / name if name == paths.CONFIG else kept / "seed-0" / name).read_text()
        if name != paths.ENVIRONMENT
        else "{}"
    )
    document = json.loads(lines.splitlines()[-1])
    place = document["config"] if name == paths.CONFIG and data.draw(st.booleans()) else document
    keys = sorted(place) or ["data_hash"]
    place[data.draw(st.sampled_from(keys))] = data.draw(values())
    before = lines.splitlines()[:-1]
    spoil(laid, name, "\n".join([*before, written(document), ""]).encode())
    look(laid)
