"""What is missing of an experiment: what it costs, and starting it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from glt.formats import duration, file_size, listing
from glt.jobs.forecast import Forecast, forecast
from glt.jobs.sweeping import Point, Started, start_all
from glt.reproduction.plan import Need, Plan
from glt.store import Run, Store
from glt.store.paths import EXAMPLES


def bundled_examples(folder: Path = EXAMPLES) -> list[Run]:
    """Return the example runs that come with the program; none where it was installed without them."""
    return Store(folder, writable=False).runs()


def points(needs: Sequence[Need]) -> list[Point]:
    """Return arms as the points of a sweep: what sets each apart, and its configuration."""
    return [Point(dict(need.arm.settings), need.config) for need in needs if need.config is not None]


def estimate(plan: Plan, store: Store, timed: Sequence[Run]) -> Forecast:
    """Forecast the cost of everything that is missing, arms that must wait for others included."""
    configs = [need.config for need in plan.lacking if need.config is not None]
    return forecast(store, configs, plan.seeds, timed)


def start(plan: Plan, store: Store) -> list[Started]:
    """Start what waits for no other arm, as detached workers that resume what is half done."""
    return start_all(store, [point.config for point in points(plan.startable)], plan.seeds)


def cost_words(plan: Plan, cost: Forecast) -> str:
    """Say what is missing and what it takes: "3 runs, seeds 0, 1, 2: about 2 h, adds about 90 MB".

    Nothing missing gives "nothing".
    """
    if not plan.lacking:
        return "nothing"
    number = len(plan.lacking)
    runs = f"{number} run{'s' if number != 1 else ''}, {listing(plan.seeds)}"
    time = "time not known yet" if cost.seconds is None else f"about {duration(cost.seconds)}"
    return f"{runs}: {time}, adds about {file_size(cost.size_bytes)}"


def command(plan: Plan) -> str:
    """Return the command line that runs what is missing."""
    dataset, model, task = plan.setting
    several = len({setting.task for setting in plan.experiment.settings}) > 1
    parts = ["python -m glt reproduce", plan.experiment.name, f"--dataset {dataset} --model {model}"]
    parts += [f"--task {task}"] if several else []
    return " ".join([*parts, f"--seeds {','.join(map(str, plan.seeds))}"])
