"""The JSON documents that scripts rely on, as plain values."""

from __future__ import annotations

from typing import Any

from glt.store import Run


def run_document(run: Run) -> dict[str, Any]:
    """Return what `show --json` prints: the config and every round of every seed."""
    return {
        "run": run.name,
        "config": run.config.model_dump(mode="json"),
        "seeds": [_seed(run, n) for n in run.seeds()],
    }


def list_entry(run: Run) -> dict[str, Any]:
    """Return one entry of what `list --json` prints: the config and the state of every seed."""
    states = {str(seed): run.seed(seed).status().state for seed in run.seeds()}
    path = str(run.path.resolve())
    return {"run": run.name, "path": path, "config": run.config.model_dump(mode="json"), "seeds": states}


def _seed(run: Run, seed: int) -> dict[str, Any]:
    seed_run = run.seed(seed)
    rounds = [record.model_dump(mode="json") for record in seed_run.rounds()]
    return {"seed": seed, "state": seed_run.status().state, "rounds": rounds}
