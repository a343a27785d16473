"""The JSON documents that scripts rely on, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glt.errors import StoreError
from glt.lottery.diagnosis import CUTS, cause_shares, diagnoses
from glt.results_version import run_version, seed_version
from glt.store import KnownRun, PretrainingSeed, Run
from glt.store.pretraining import PRETRAINING
from glt.verdicts import DELTA, Verdict, judge, paired_differences, sparsest_ticket


def document(run: KnownRun, margin: float = DELTA) -> dict[str, Any]:
    """Return what `show --json` prints of a run of any kind, with its annotation if there is one.

    All pruned rounds of a run are one family of tests; `margin` is a fraction, stated before looking.
    """
    config = run.config.model_dump(mode="json")
    if not isinstance(run, Run):
        pretrained = [_pretrained(run.seed(seed)) for seed in run.seeds()]
        return {"run": run.name, "kind": PRETRAINING, "config": config, "seeds": pretrained} | _about(run)
    seeds = [_seed(run, number) for number in run.seeds()]
    judged = judged_rounds(seeds, margin)
    sparsities = [_sparsities(seeds, number) for number in judged]
    sparsest = sparsest_ticket(list(judged.values()), sparsities)
    return {
        "run": run.reference,
        "results_version": run_version(run),
        "config": config,
        "seeds": seeds,
        "verdicts": [{"round": number, **verdict.as_json()} for number, verdict in judged.items()],
        "sparsest_ticket": None if sparsest is None else list(judged)[sparsest],
    } | _about(run)


def judged_rounds(seeds: Sequence[Mapping[str, Any]], margin: float = DELTA) -> dict[int, Verdict]:
    """Return, by round, the verdict of every pruned round that a seed has finished."""
    scores = {seed["seed"]: {record["round"]: record["test"] for record in seed["rounds"]} for seed in seeds}
    dense = {seed: of_seed[0] for seed, of_seed in scores.items() if 0 in of_seed}
    numbers = sorted({number for of_seed in scores.values() for number in of_seed if number})
    paired = [
        paired_differences({seed: rounds[number] for seed, rounds in scores.items() if number in rounds}, dense)
        for number in numbers
    ]
    left_out = [len(each.left_out) for each in paired]
    return dict(zip(numbers, judge([each.differences for each in paired], margin, left_out=left_out), strict=True))


def _sparsities(seeds: Sequence[Mapping[str, Any]], number: int) -> tuple[float, float]:
    records = [record for seed in seeds for record in seed["rounds"] if record["round"] == number]
    graph, weight = ([record[name] for record in records] for name in ("graph_sparsity", "weight_sparsity"))
    return sum(graph) / len(records), sum(weight) / len(records)


def list_entry(run: KnownRun) -> dict[str, Any]:
    """Return one entry of what `list --json` prints: the config and the state of every seed; pre-trainings say so."""
    return {
        "run": run.reference,
        "path": str(run.path.resolve()),
        "config": run.config.model_dump(mode="json"),
        "seeds": {str(seed): run.seed(seed).status().state for seed in run.seeds()},
        "results_version": run_version(run),
        **_about(run),
        **({} if isinstance(run, Run) else {"kind": PRETRAINING}),
    }


def _about(run: KnownRun) -> dict[str, Any]:
    annotation = run.annotation.as_json()
    return ({"example": True} if run.is_example else {}) | ({"annotation": annotation} if annotation else {})


def _seed(run: Run, seed: int) -> dict[str, Any]:
    """Return one seed; if its rounds cannot be read, without rounds and with the error."""
    seed_run = run.seed(seed)
    about = {"seed": seed, "state": seed_run.status().state, "results_version": seed_version(seed_run)}
    try:
        records = seed_run.rounds()
        found = diagnoses(seed_run, records)
        rounds = [
            {
                **record.model_dump(mode="json"),
                CUTS: diagnosis.cuts_without_gradient,
                "causes": shares,
                "collapse": diagnosis.collapse(),
            }
            for record, diagnosis, shares in zip(records, found, cause_shares(seed_run, records, found), strict=True)
        ]
        return {**about, "rounds": rounds}
    except StoreError as error:
        return {**about, "rounds": [], "error": str(error)}


def _pretrained(seed: PretrainingSeed) -> dict[str, Any]:
    """Return one seed of a pre-training; unreadable parts are empty, with the error."""
    losses: list[float] = []
    found: dict[str, Any] = {"best_epoch": None, "loss": None, "sha256": None}
    damage: dict[str, Any] = {}
    try:
        losses = [epoch.loss for epoch in seed.epochs()[0]]
        if seed.was_complete():
            layer = seed.first_layer()
            found = {"best_epoch": layer.best_epoch, "loss": layer.loss, "sha256": layer.sha256}
    except StoreError as error:
        damage = {"error": str(error)}
    state = seed.status().state
    return {"seed": seed.seed, "state": state, "epochs": len(losses), **found, "losses": losses, **damage}
