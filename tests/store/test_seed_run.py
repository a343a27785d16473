"""A seed: what is written is read back, damage is named, and a resume continues after the last whole round."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glt.config import RunConfig, canonical_json
from glt.errors import StoreError
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import Event, RoundRecord, Run, SeedRun, Store
from glt.store.checksums import cut_checksums
from glt.store.tensors import read_edge_scores, write_masks

Fill = Callable[..., SeedRun]
OneRound = Callable[[SeedRun, int], None]


def test_masks_weights_and_records_round_trip(seed_run: SeedRun, one_round: OneRound) -> None:
    first, last, weights = seed_run.masks(0), seed_run.masks(3), seed_run.weights(3)
    assert first.edges.keep.all()
    assert first.weights.kept == first.weights.total == 27
    assert last.edges.kind == "directed"
    assert last.within(seed_run.masks(2))
    assert [seed_run.masks(k).edges.kept for k in range(4)] == [24, 22, 20, 18]
    written = np.random.default_rng(103).normal(size=(7, 3)).astype(np.float32)
    assert np.array_equal(weights["first"], np.where(last.weights.keep["first"], written, 0))
    assert (weights["second"][~last.weights.keep["second"]] == 0).all()
    assert weights["eps"].shape == ()
    assert weights["eps"] == np.float32(0.25)
    assert [record.round for record in seed_run.rounds()] == [0, 1, 2, 3]
    assert seed_run.rounds()[2].test == 0.62
    assert seed_run.is_complete()
    with pytest.raises(StoreError, match=r"There is no round 7 in .*: choose a round from 0 to 3"):
        seed_run.masks(7)
    for number in (2, 5):
        with pytest.raises(ValueError, match="cannot follow"):
            one_round(seed_run, number)


def test_edge_scores_belong_to_the_survivors_of_the_round_before(seed_run: SeedRun) -> None:
    scores = seed_run.edge_scores(2)
    assert scores is not None
    assert scores.size == seed_run.masks(1).edges.kept
    expected = np.random.default_rng(2).random(24).astype(np.float32)[: scores.size]
    assert scores.dtype == np.float32
    assert np.allclose(scores, expected, atol=1e-3)
    assert seed_run.edge_scores(0) is None


def test_theta0_round_trips_and_is_written_once(seed_run: SeedRun) -> None:
    theta0 = seed_run.theta0()
    seed_run.write_init(theta0)
    other = {name: value + 1 for name, value in theta0.items()}
    with pytest.raises(StoreError, match="initialisation"):
        seed_run.write_init(other)


def test_notes_round_trip_within_bounds(seed_run: SeedRun) -> None:
    record = seed_run.rounds()[1]
    # A record without notes has the bytes it had before there were notes.
    line = canonical_json(record.model_dump(mode="json"))
    assert "notes" not in line
    assert RoundRecord.model_validate_json(line).notes == {}
    noted = record.model_copy(update={"notes": {"iterate": 2, "better": True, "scores": [0.5, 0.75]}})
    line = canonical_json(noted.model_dump(mode="json"))
    read = RoundRecord.model_validate_json(line)
    assert (read, canonical_json(read.model_dump(mode="json"))) == (noted, line)
    assert type(read.notes["better"]) is bool
    assert type(read.notes["iterate"]) is int
    assert not record.model_copy(update={"notes": {"scores": [0.5, 1e300]}}).is_bounded


def test_equal_input_gives_equal_bytes(tmp_path: Path, seed_run: SeedRun, filled: Fill, config: RunConfig) -> None:
    again = filled(Store(tmp_path / "again").create(config), 0)
    names = sorted(path.name for path in seed_run.path.iterdir() if path.name != "lock")
    assert "round-03.safetensors" in names
    for name in names:
        assert (again.path / name).read_bytes() == (seed_run.path / name).read_bytes(), name


def test_another_process_writes_the_same_tensor_bytes(tmp_path: Path, seed_run: SeedRun) -> None:
    script = (
        "import sys, pathlib\nfrom glt.store.tensors import read_edge_scores, read_masks, write_masks\n"
        "source, target = map(pathlib.Path, sys.argv[1:])\n"
        "write_masks(target, read_masks(source), read_edge_scores(source))\n"
    )
    source, target = seed_run.path / "round-02.safetensors", tmp_path / "copy.safetensors"
    subprocess.run([sys.executable, "-c", script, str(source), str(target)], check=True)
    assert target.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", ["round-02.safetensors", "weights-02.safetensors", "init.safetensors"])
def test_any_flipped_byte_is_detected(seed_run: SeedRun, name: str) -> None:
    path = seed_run.path / name
    content = path.read_bytes()
    read = {"r": lambda: seed_run.masks(2), "w": lambda: seed_run.weights(2), "i": seed_run.theta0}[name[0]]
    read()
    for position in range(0, len(content), 7):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x11]) + content[position + 1 :])
        with pytest.raises(StoreError, match=name):
            read()


def test_a_truncated_or_missing_file_is_named_with_its_remedy(seed_run: SeedRun) -> None:
    path = seed_run.path / "round-01.safetensors"
    content = path.read_bytes()
    for kept in (0, 7, 100, -1):
        path.write_bytes(content[:kept])
        with pytest.raises(StoreError, match=r"round-01\.safetensors.*glt doctor"):
            seed_run.masks(1)
    assert seed_run.masks(2).edges.kept == 20
    (seed_run.path / "weights-01.safetensors").unlink()
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"weights-01\.safetensors is missing"):
        seed_run.weights(1)


def test_a_damaged_line_is_named_and_a_truncated_last_line_is_left_out(seed_run: SeedRun) -> None:
    path = seed_run.path / "rounds.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    cut_checksums(seed_run.path, 3)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:50])
    assert len(seed_run.rounds()) == 3
    path.write_bytes(lines[0] + lines[1].replace(b'"round":1', b'"rOund":1') + lines[2])
    with pytest.raises(StoreError, match=r"rounds\.jsonl is damaged in line 2"):
        seed_run.rounds()


def test_a_tensor_file_of_a_newer_format_is_refused(seed_run: SeedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glt.store.tensors.SCHEMA", 2)
    seed_run.write_init(seed_run.theta0())
    monkeypatch.setattr("glt.store.tensors.SCHEMA", 1)
    with pytest.raises(StoreError, match="newer GLT Studio"):
        seed_run.theta0()


def test_a_store_open_for_reading_writes_nothing(seed_run: SeedRun, store: Store) -> None:
    reader = Store(store.root, writable=False).find(seed_run.path.parent.name).seed(0)
    with pytest.raises(StoreError, match="read-only"):
        reader.write_environment({})
    with pytest.raises(StoreError, match="read-only"):
        Store(store.root, writable=False).create(seed_run.config)


def test_edge_scores_close_to_one_keep_their_order(run: Run) -> None:
    scores = (1 + 1e-5 * np.random.default_rng(0).normal(size=500)).astype(np.float32)
    path = run.path / "round.safetensors"
    write_masks(path, Masks(EdgeMask.full("directed", 250), WeightMask.full({"w": (2, 2)})), scores)
    read = read_edge_scores(path)
    assert read is not None
    assert np.unique(read).size > 0.9 * np.unique(scores).size
    assert np.abs(read - scores).max() < 2e-7


def large_round(run: Run, entries: int) -> tuple[SeedRun, NDArray[np.float32]]:
    """Write rounds 0 and 1 of a directed mask, UGS's scores close to 1 among them, and return those."""
    scores = np.round(1 + 1e-3 * np.random.default_rng(0).normal(size=entries), 5).astype(np.float32)
    full = Masks(EdgeMask.full("directed", entries // 2), WeightMask.full({"w": (2, 2)}))
    seed_run = run.seed(7)
    seed_run.make()
    macs = {"dense_features": 1, "sparse_features": 1, "published": 1}
    measured = {"val": 0.5, "test": 0.5, "test_last": 0.5, "best_epoch": 1, "seconds": 1.0, "macs": macs}
    for number, masks in enumerate((full, Masks(full.edges.prune(scores, 0.05), full.weights))):
        weights = {"w": np.ones((2, 2), dtype=np.float32)}
        seed_run.write_round(RoundRecord.of(number, masks, **measured), masks, weights, scores if number else None)
    return seed_run, scores


def test_edge_scores_of_a_large_graph_are_byte_ranks(run: Run) -> None:
    entries = 2_315_598  # of ogbn-arxiv
    seed_run, scores = large_round(run, entries)
    ranks, kept = seed_run.edge_scores(1), seed_run.masks(1).edges.keep
    assert seed_run.holds_ranks(1)
    assert ranks is not None
    assert (seed_run.path / "round-01.safetensors").stat().st_size < 3_000_000
    assert int((~kept).sum()) == entries * 5 // 100
    assert ranks.min() == 0
    assert ranks.max() < 1
    order = np.argsort(scores, kind="stable")
    assert (np.diff(ranks[order]) >= 0).all()
    assert (np.diff(ranks[order])[np.diff(scores[order]) == 0] == 0).all()
    # A rank is the share of entries below, rounded down to a step, moved by at most one at the line.
    below = np.searchsorted(scores[order], scores) / entries
    assert np.abs(ranks - below).max() < 2 / 256
    # Only entries whose scores are equal share a rank across the line.
    across = ranks[~kept].max() == ranks[kept].min()
    assert across == (scores[~kept].max() == scores[kept].min())


def test_edge_scores_of_a_million_entries_are_exact(run: Run) -> None:
    seed_run, scores = large_round(run, 1_000_000)
    stored = seed_run.edge_scores(1)
    assert stored is not None
    assert not seed_run.holds_ranks(1)
    assert np.abs(stored - scores).max() < 1e-5


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_unfinished_files_of_a_killed_worker_are_cleared(seed_run: SeedRun) -> None:
    before = content(seed_run.path)
    assert seed_run.drop_unfinished() == 4
    assert content(seed_run.path) == before
    seed_run.append_event(Event(round=4, stage="search", epoch=0, loss=0.1, val=0.1, test=0.1))
    for name in ("events.jsonl", "rounds.jsonl"):
        (seed_run.path / name).write_bytes((seed_run.path / name).read_bytes() + b'{"round":4,"sta')
    (seed_run.path / "weights-04.safetensors").write_bytes(b"half")
    (seed_run.path / ".round-04.safetensors.12-3.writing").write_bytes(b"half")
    assert seed_run.drop_unfinished() == 4
    assert content(seed_run.path) == before
    fresh = SeedRun(seed_run.path.parent, 5, seed_run.config)
    assert fresh.drop_unfinished() == 0
    assert not fresh.path.exists()
