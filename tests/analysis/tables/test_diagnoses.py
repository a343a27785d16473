"""What rounds say of their training, beside the curve: means over seeds, and the words where masks were read late."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.curves.hover import round_text
from analysis.tables import curve_table, diagnosis_table, late_words, rounds_table, with_diagnoses
from glt.config import RunConfig
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import Run, SeedRun, Store, bundled_examples
from tests.analysis.conftest import record
from tests.conftest import SHAPES


@pytest.fixture(scope="module")
def examples() -> dict[str, Run]:
    return {run.name: run for run in bundled_examples()}


def test_shares_are_means_over_seeds(examples: dict[str, Run]) -> None:
    runs = [examples["cora-node-gcn-ugs-df8e8f72"], examples["cora-node-gcn-random-113e68a9"]]
    found = diagnosis_table(runs)
    assert len(found) == 2 * 5 * 21
    curve = with_diagnoses(curve_table(rounds_table(runs)), found).set_index(["run", "round"])
    ugs, random = curve.loc[runs[0].reference], curve.loc[runs[1].reference]
    seeds = found[(found["run"] == runs[0].reference) & (found["round"] == 13)]
    assert seeds["cuts_without_gradient"].round(4).tolist() == [0.4, 0.3053, 0.5263, 0.0, 0.1298]
    assert ugs.loc[13, "cuts_without_gradient"] == pytest.approx(seeds["cuts_without_gradient"].mean())
    assert ugs.loc[13, ["seeds_at_chance", "search_at_chance"]].tolist() == [5, 171]
    assert ugs["cuts_without_gradient"].isna().tolist() == [True] + [False] * 20
    assert random["cuts_without_gradient"].isna().all()
    assert not curve["seeds_read_late"].any()
    assert late_words(curve.reset_index()) == []


def test_without_deriving_only_records_are_read(examples: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(self: SeedRun, round: int) -> None:
        raise AssertionError("a mask was read")

    monkeypatch.setattr(SeedRun, "edge_mask", unread)
    found = diagnosis_table([examples["cora-node-gcn-ugs-df8e8f72"]], derived=False)
    assert found["cuts_without_gradient"].isna().all()


def test_notes_reach_the_curve_its_hover_and_its_warning(store: Store) -> None:
    seed_run = store.create(RunConfig(rounds=1)).seed(0)
    masks = Masks(EdgeMask.full("directed", 5278), WeightMask.full(SHAPES))
    late = {"cuts_without_gradient": 0.25, "validation_chance": 0.35, "at_chance_from_search": 125, "masks_read": 199}
    seed_run.make()
    for number, notes in enumerate(({"validation_chance": 0.35}, {**late, "edge_masks_at_zero": 0.56})):
        noted = record(number, masks).model_copy(update={"notes": notes})
        seed_run.write_round(noted, masks, {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()})
    runs = store.runs()
    curve = with_diagnoses(curve_table(rounds_table(runs)), diagnosis_table(runs))
    assert curve["cuts_without_gradient"].tolist()[1] == 0.25
    assert curve["masks_at_zero"].tolist()[1] == 0.56
    dense, row = curve.to_dict("records")
    assert "gradient" not in round_text(dense)
    assert "Edge entries removed without a gradient: 25.0 %" in round_text(row)
    assert "Search at chance by epoch 126 (1 seed); masks read after that in 1" in round_text(row)
    (sentence,) = late_words(curve)
    assert sentence.startswith("UGS, round 1: masks were read while the search's validation score was at chance")
