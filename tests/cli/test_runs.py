"""`list`, `show`, `cost`, `delete` and `annotate` on a store, with the names scripts rely on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from glt.cli.main import main
from glt.config import RunConfig
from glt.formats import file_size, macs
from glt.masks import EdgeMask, Masks, WeightMask
from glt.store import RoundRecord, Run, SeedRun, Status, Store, bundled_examples, paths

ROUND_KEYS = set(
    "round graph_sparsity weight_sparsity edges_kept_either_way edges_kept_both_ways val test test_last best_epoch "
    "seconds macs cuts_without_gradient causes collapse".split()
)


@pytest.fixture
def run(store: Store) -> Run:
    run = store.create(RunConfig(hidden=16, rounds=1))
    for seed in (0, 2):
        fill(run.seed(seed))
    return run


def fill(seed_run: SeedRun, notes: Mapping[str, Any] | None = None) -> None:
    masks = Masks(
        EdgeMask.full("directed", 5278), WeightMask.full({"layers.0.weight": (1433, 16), "layers.1.weight": (16, 7)})
    )
    record = RoundRecord.of(
        0,
        masks,
        val=0.79,
        test=0.816,
        test_last=0.81,
        best_epoch=7,
        seconds=3.25,
        macs={"dense_features": 62_000_000, "sparse_features": 1_000_000, "published": 62_000_001},
        notes=notes or {},
    )
    with seed_run.lock():
        seed_run.write_status(Status(state="stopped", seed=seed_run.seed))
        seed_run.write_round(record, masks, {name: keep.astype("f4") for name, keep in masks.weights.keep.items()})


def test_show_json_has_the_names_scripts_rely_on(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", run.name, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"run", "results_version", "config", "seeds", "verdicts", "sparsest_ticket"}
    assert document["run"] == run.name
    assert document["config"]["hidden"] == 16
    assert [seed["seed"] for seed in document["seeds"]] == [0, 2]
    (first,) = document["seeds"][0]["rounds"]
    assert set(first) == ROUND_KEYS
    assert set(first["macs"]) == {"dense_features", "sparse_features", "published"}
    assert first["test"] == 0.816
    assert document["seeds"][0]["state"] == "stopped"


def test_show_prints_method_notes(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run = store.create(RunConfig(method="admm", hidden=16, rounds=1))
    notes = {"solver_iterate": 2, "solver_edges_changed": 83, "solver_start_validation": 0.788}
    fill(run.seed(0), notes={**notes, "solver_validations": [0.78, 0.782]})
    assert main(["show", run.name]) == 0
    expected = (
        "round 0: ADMM graph: 83 kept edges differ from the start (iterate 2 of 2; validation 78.2 %, start 78.8 %)"
    )
    assert expected in capsys.readouterr().out.splitlines()
    assert main(["show", run.name, "--json"]) == 0
    (seed,) = json.loads(capsys.readouterr().out)["seeds"]
    assert seed["rounds"][0]["notes"] == {**notes, "solver_validations": [0.78, 0.782]}


def test_list_json_has_the_names_scripts_rely_on(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry == {
        "run": run.name,
        "path": str(run.path),
        "config": run.config.model_dump(mode="json"),
        "seeds": {"0": "stopped", "2": "stopped"},
        "results_version": None,
    }


def test_list_of_an_empty_store_is_an_empty_list(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert not store.root.exists()


def test_tables_of_list_and_show(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run.path)]) == 0
    shown = capsys.readouterr().out
    assert "seed 2: stopped" in shown
    assert " 81.6 " in shown
    assert "in percent" in shown
    spent = macs(run.seed(2).rounds()[0].macs["dense_features"])
    assert spent.startswith("62.")
    assert spent in shown
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert "0 stopped, 2 stopped" in listed
    assert "1 run, " in listed


def test_an_example_is_not_resumed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    example = bundled_examples()[0]
    assert main(["resume", example.reference]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be extended: compute it in a store of your own with `" in line
    assert f"run --config {example.path / 'config.json'} --seeds" in line


def test_a_damaged_run_is_named_beside_the_others(store: Store, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    other = store.create(RunConfig(method="random"))
    (other.path / "config.json").write_text("{")
    assert main(["list", "--json"]) == 1
    captured = capsys.readouterr()
    assert [entry["run"] for entry in json.loads(captured.out)] == [run.name]
    assert "config.json is damaged" in captured.err


def test_a_damaged_line_is_one_sentence(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    (run.path / "seed-0" / "rounds.jsonl").write_text('{"round":0}\n')
    assert main(["show", run.name, "--json"]) == 1
    captured = capsys.readouterr()
    damaged = json.loads(captured.out)["seeds"][0]
    assert damaged["rounds"] == []
    assert damaged["error"] == captured.err.strip()
    assert "rounds.jsonl is damaged in line 1" in captured.err


def test_cost_json_splits_by_convention_and_layer(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", run.name, "--round", "0", "--seed", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) >= {"macs", "layers", "prunable", "excluded"}
    for parts in document["macs"].values():
        assert parts["total"] == parts["transform"] + parts["aggregate"]
    assert document["macs"]["dense_features"]["transform"] == 2708 * (1433 * 16 + 16 * 7)
    assert main(["cost", run.name, "--round", "0"]) == 0
    shown = capsys.readouterr().out
    assert "published" in shown
    assert macs(document["macs"]["dense_features"]["total"]) in shown


def test_delete_restore_and_empty_trash(store: Store, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with run.seed(0).lock():
        assert main(["delete", run.name]) == 1
    assert main(["delete", run.name]) == 0
    assert store.runs() == []
    assert main(["list"]) == 0
    assert "in the trash" in capsys.readouterr().out
    assert main(["delete", "--restore", run.name]) == 0
    assert f"Restored {run.name} from the trash of {store.root}." in capsys.readouterr().out
    assert [one.name for one in store.runs()] == [run.name]
    assert main(["delete", "--restore", run.name]) == 1
    assert "The trash of the store" in capsys.readouterr().err
    assert main(["delete", run.name, "--empty-trash"]) == 0
    assert "freed" in capsys.readouterr().out
    assert (store.runs(), store.trashed()) == ([], [])


def test_delete_names_dependent_runs_and_takes_them_first(
    store: Store, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = store.create(RunConfig(method="reinit", hidden=16, rounds=1, options={"masks_of": run.name, "draw": 0}))
    fill(ticket.seed(0))
    assert main(["delete", run.name]) == 1
    assert f"{ticket.name} (seed 0 not complete) still needs it" in capsys.readouterr().err
    assert main(["delete", run.name, ticket.name]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [ticket.name, run.name]


def test_show_gives_every_pruned_round_a_verdict(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the bundled Cora runs: rounds 1 to 4 of UGS are open over five seeds, and no test is made of one seed."""
    (run,) = [run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-df8e8f72"]
    assert main(["show", str(run.path), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    found = {verdict["round"]: verdict for verdict in expected["verdicts"]}
    assert [number for number, verdict in found.items() if verdict["verdict"] == "open"] == [1, 2, 3, 4]
    assert expected["sparsest_ticket"] is None
    assert all(
        verdict["family"] == 20 and verdict["n"] == 5 and verdict["delta"] == 0.005 for verdict in found.values()
    )
    assert found[3]["mean_difference"] == pytest.approx(-0.0018)
    # 80 % power of a one-sided test of five differences: 3.0398 standard errors at 5 %, 7.0556 at 5 % over 20.
    assert found[3]["detectable_difference_alone"] == pytest.approx(3.0398 * found[3]["sd"] / 5**0.5, rel=1e-4)
    assert found[3]["detectable_difference"] == pytest.approx(7.0556 * found[3]["sd"] / 5**0.5, rel=1e-4)
    assert main(["show", str(run.path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "verdicts over seeds 0, 1, 2, 3, 4, test accuracy, margin 0.5 points" in shown
    assert (
        "No round is shown to lose less than 0.5 points against dense. Open, undecided with these seeds: 1 to 4."
        in shown
    )
    assert "2.9 (1.2)" in shown
    for named in ("--margin", "--tolerance"):
        assert main(["show", str(run.path), named, "5", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["sparsest_ticket"] == 8
    (alone,) = [run for run in bundled_examples() if run.name == "cora-node-gcn-ugs-5840f40e"]
    assert main(["show", str(alone.path)]) == 0
    assert "One seed: no verdicts." in capsys.readouterr().out
    assert main(["show", str(alone.path), "--margin", "-1"]) == 2
    assert "is not a number of percentage points" in capsys.readouterr().err


def test_circular_links_are_not_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for arguments in ([], ["--examples"]):
        main(["list", "--store", str(loop), *arguments])
        assert "Unexpected" not in capsys.readouterr().err


@pytest.fixture
def fresh(store: Store) -> Run:
    return store.create(RunConfig(hidden=16, rounds=1))


def test_a_title_and_a_note_are_listed_and_shown(store: Store, fresh: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", fresh.name, "--title", "x" * 61]) == 2
    assert "at most 60 are allowed" in capsys.readouterr().err
    assert main(["annotate", fresh.name, "--title", "[bold]mine[/]", "--note", "try p = 10 %\nagain"]) == 0
    assert "[bold]mine[/]" in capsys.readouterr().out
    for verb in (["list"], ["show", fresh.name]):
        assert main(verb) == 0
        out = capsys.readouterr().out
        assert fresh.name[:20] in out
        assert "[bold]mine[/]" in out
        assert "again" in out
    (store.root / paths.ANNOTATIONS).write_text("[]")
    assert main(["list"]) == 0
    captured = capsys.readouterr()
    assert "annotations.json is damaged" in captured.err
    assert fresh.name[-8:] in captured.out


def test_json_lists_every_run_and_its_annotation(store: Store, fresh: Run, capsys: pytest.CaptureFixture[str]) -> None:
    other = store.create(RunConfig(hidden=8, rounds=1))
    assert main(["annotate", fresh.name, "--hide", "--color", "sky", "--json"]) == 0
    expected = {"color": "sky", "hidden": True}
    assert json.loads(capsys.readouterr().out) == {"run": fresh.name, "annotation": expected}
    assert main(["list", "--json"]) == 0
    entries = {entry["run"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert entries[fresh.name]["annotation"] == expected
    assert "annotation" not in entries[other.name]
    assert main(["show", fresh.name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["annotation"] == expected


def test_a_hidden_run_is_counted_and_listed_on_request(
    store: Store, fresh: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", fresh.name, "--hide"]) == 0
    capsys.readouterr()
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert fresh.name[-8:] not in out
    assert "1 run (1 hidden: --all lists them)" in out.replace("\n", " ")
    assert main(["list", "--all"]) == 0
    assert fresh.name[-8:] in capsys.readouterr().out
    assert main(["annotate", fresh.name, "--show"]) == 0
    assert main(["list"]) == 0
    assert "(1 hidden" not in capsys.readouterr().out


def test_annotations_are_cleared_together_and_shown_without_options(
    store: Store, fresh: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", fresh.name, "--title", "mine", "--color", "blue"]) == 0
    assert main(["annotate", fresh.name, "--color", "none"]) == 0
    assert store.annotations().of(fresh.name).as_json() == {"title": "mine"}
    capsys.readouterr()
    assert main(["annotate", fresh.name]) == 0
    assert "mine" in capsys.readouterr().out
    assert main(["annotate", fresh.name, "--clear", "--hide"]) == 2
    assert "use it alone" in capsys.readouterr().err
    assert main(["annotate", fresh.name, "--clear"]) == 0
    assert store.annotations().entries == {}
    example = bundled_examples()[0]
    assert main(["annotate", str(example.path), "--title", "of the paper"]) == 0
    assert store.annotations().of(f"examples/{example.name}").title == "of the paper"


@pytest.mark.parametrize("width", [50, 60, 80, 100, 200])
def test_list_numbers_are_not_cut_on_a_narrow_terminal(
    width: int,
    store: Store,
    fresh: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    draw_seed: Callable[..., None],
) -> None:
    for seed in range(1, 6):
        draw_seed(fresh.seed(seed), rounds=1)
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("\N{BOX DRAWINGS LIGHT VERTICAL}")]
    columns = list(
        zip(*([cell.strip() for cell in line.split("\N{BOX DRAWINGS LIGHT VERTICAL}")] for line in table), strict=True)
    )
    _, names, rounds, seeds, sizes, _ = columns
    assert "".join(names) == fresh.name
    assert "".join(rounds) == str(fresh.config.rounds)
    assert "".join(sizes) == file_size(fresh.size_bytes())
    assert [word for word in " ".join(seeds).replace(",", "").split() if word.isdecimal()] == list("12345")
