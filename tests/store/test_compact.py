"""The compact form of examples: equal masks, reproducible bytes, and nothing about the machine."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glt.errors import StoreError
from glt.masks import BoolArray, EdgeMask, Masks, WeightMask
from glt.store import Event, Run, SeedRun, Store
from glt.store.compact import CompactMasks, decode, encode
from glt.store.examples import pack_run, thinned
from glt.store.tensors import quantised_ranks

Fill = Callable[..., SeedRun]


@pytest.fixture
def example(run: Run, filled: Fill, tmp_path: Path) -> Run:
    filled(run, 0)
    filled(run, 3)
    return pack_run(run, tmp_path / "examples")


def planes(seed: int, rounds: int, count: int, nested: bool) -> BoolArray:
    drawn = np.random.default_rng(seed).random((rounds + 1, count)) < 0.7
    drawn[0] = True
    return np.logical_and.accumulate(drawn) if nested else drawn


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(1, 40), st.booleans())
def test_masks_round_trip(seed: int, rounds: int, count: int, nested: bool) -> None:
    masks = planes(seed, rounds, count, nested)
    coded = encode(masks)
    for number in range(rounds + 1):
        assert np.array_equal(decode(coded, number, (count,)), masks[number])
    if nested:
        assert coded.shape == (count,)
    with pytest.raises(ValueError, match="round 0 keeps everything"):
        encode(~masks)


def test_masks_that_are_not_nested_round_trip(tmp_path: Path) -> None:
    masks = [
        Masks(EdgeMask("undirected", edges), WeightMask({"w": weights.reshape(5, 4)}))
        for edges, weights in zip(planes(1, 3, 11, False), planes(2, 3, 20, False), strict=True)
    ]
    CompactMasks.pack(masks, [None] * 4).write(tmp_path / "masks.npz")
    found = CompactMasks.read(tmp_path / "masks.npz")
    for number, each in enumerate(masks):
        assert np.array_equal(found.masks(number).edges.keep, each.edges.keep)
        assert np.array_equal(found.masks(number).weights.keep["w"], each.weights.keep["w"])
        assert found.masks(number).edges.kind == "undirected"


def test_an_example_reads_like_the_run(example: Run, run: Run) -> None:
    assert example.is_example
    assert example.name == run.name
    assert example.seeds() == [0, 3]
    for seed in example.seeds():
        packed, original = example.seed(seed), run.seed(seed)
        assert packed.rounds() == original.rounds()
        assert packed.status().state == "done"
        for number in range(4):
            assert packed.masks(number).within(original.masks(number))
            assert original.masks(number).within(packed.masks(number))
    with np.load(example.path / "seed-0" / "masks.npz", allow_pickle=False) as archive:
        assert archive["edges"].shape == (24,)
        assert archive["weights/first"].dtype == np.uint8


def test_scores_are_kept_as_ranks(example: Run, run: Run) -> None:
    ranks, scores = example.seed(0).edge_scores(1), run.seed(0).edge_scores(1)
    assert ranks is not None
    assert scores is not None
    assert np.array_equal(np.argsort(ranks, kind="stable"), np.argsort(scores, kind="stable"))
    assert 0 <= ranks.min() <= ranks.max() < 1
    assert example.seed(0).edge_scores(0) is None


def test_an_example_has_no_weights_and_cannot_be_written(example: Run) -> None:
    seed_run = example.seed(0)
    for read in (lambda: seed_run.weights(1), seed_run.theta0):
        with pytest.raises(StoreError, match=r"without .*glt run --config .*config\.json --seeds 0"):
            read()
    with pytest.raises(StoreError, match="no round 9"):
        seed_run.masks(9)
    with pytest.raises(StoreError, match="read-only"):
        seed_run.drop_unfinished()


def test_packing_twice_gives_the_same_bytes(example: Run, run: Run, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in example.path.rglob("*") if path.is_file()}
    again = pack_run(run, tmp_path / "examples")
    assert {path: path.read_bytes() for path in again.path.rglob("*") if path.is_file()} == before
    assert [path.name for path in again.path.parent.iterdir()] == [run.name]
    assert pack_run(run, tmp_path / "examples", [3]).seeds() == [3]


def test_an_example_does_not_describe_the_machine(example: Run) -> None:
    everything = b"".join(path.read_bytes() for path in example.path.rglob("*.json*"))
    assert b"somebody" not in everything
    assert sorted(path.name for path in (example.path / "seed-0").iterdir()) == [
        "environment.json",
        "events.jsonl",
        "init.sha256",
        "masks.npz",
        "rounds.jsonl",
        "status.json",
    ]


def test_events_keep_every_tenth_best_and_last_epoch() -> None:
    vals = [0.1] * 25
    vals[13] = 0.9
    events = [Event(round=1, stage="search", epoch=k, loss=None, val=vals[k], test=0.0) for k in range(25)]
    assert [event.epoch for event in thinned(events)] == [0, 10, 13, 20, 24]


def test_unfinished_runs_are_not_packed(run: Run, filled: Fill, store: Store, tmp_path: Path) -> None:
    filled(run, 0, rounds=1)
    with pytest.raises(StoreError, match="not finished"):
        pack_run(run, tmp_path / "examples")
    filled(run, 1)
    with pytest.raises(StoreError, match="not an example"):
        pack_run(run, store.root, [1])
    assert run.seed(1).masks(1).edges.kept == 22


def test_any_flipped_byte_gives_an_error_or_the_same_masks(example: Run) -> None:
    path = example.path / "seed-0" / "masks.npz"
    content = path.read_bytes()
    original = example.seed(0).masks(3)
    errors: list[str] = []
    for position in range(0, len(content), 5):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x24]) + content[position + 1 :])
        try:
            assert np.array_equal(example.seed(0).masks(3).edges.keep, original.edges.keep)
        except StoreError as error:
            errors.append(str(error))
    assert len(errors) > 50
    assert all("masks.npz" in error for error in errors)
    assert example.seed(3).masks(3).edges.kept == 18


def test_a_file_that_exhausts_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "masks.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("about.json", b" " * 3_000_000)
    size = path.read_bytes().replace((3_000_000).to_bytes(4, "little"), (2**31).to_bytes(4, "little"))
    path.write_bytes(size)
    with pytest.raises(StoreError, match="would unpack to 2048 MiB"):
        CompactMasks.read(path)


def test_removed_and_kept_entries_share_no_rank() -> None:
    scores = np.random.default_rng(0).integers(0, 40, 10_000).astype(np.float32)
    for cut in (0, 1, 37, 9_999, 10_000):
        kept = np.ones(scores.size, dtype=np.bool_)
        kept[np.argsort(scores, kind="stable")[:cut]] = False
        steps = quantised_ranks(scores, kept).astype(int)
        assert steps[~kept].max(initial=-1) < steps[kept].min(initial=256)
        assert np.abs(steps[np.lexsort((kept, scores))] - np.arange(10_000) * 256 // 10_000).max() <= 1


def test_edges_are_read_without_the_weights(example: Run, run: Run) -> None:
    packed, whole = example.seed(3), run.seed(3)
    for number in range(whole.whole_rounds()):
        for one in (packed, whole):
            mask = one.edge_mask(number)
            assert mask.kind == whole.masks(number).edges.kind
            assert np.array_equal(mask.keep, whole.masks(number).edges.keep)
    assert "_compact" not in vars(packed)
    for one in (packed, whole):
        with pytest.raises(StoreError, match="no round 99"):
            one.edge_mask(99)


def test_edges_are_readable_when_weights_are_damaged(example: Run) -> None:
    path = example.seed(0).path / "masks.npz"
    edges = example.seed(0).edge_mask(1).keep
    with zipfile.ZipFile(path) as archive:
        member = next(each for each in archive.infolist() if each.filename.startswith("weights"))
        content = bytearray(path.read_bytes())
    content[member.header_offset + 60 + len(member.filename)] ^= 255
    path.write_bytes(bytes(content))
    with pytest.raises(StoreError, match="is damaged"):
        Run.open(example.path).seed(0).masks(1)
    assert np.array_equal(Run.open(example.path).seed(0).edge_mask(1).keep, edges)
