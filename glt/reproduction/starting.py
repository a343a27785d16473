"""What is missing of an experiment: what it costs, and starting it."""

from __future__ import annotations

from collections.abc import Sequence

from glt.formats import duration, file_size, listing, number_of
from glt.jobs.devices import Wanted
from glt.jobs.forecast import Forecast, forecast
from glt.jobs.launching import Started, check_room, launch_pretraining
from glt.jobs.stopping import stopping_on_failure
from glt.jobs.sweeping import Point, start_all
from glt.pretraining.config import PretrainConfig
from glt.pretraining.start import pretraining_of
from glt.reproduction.plan import Need, Plan
from glt.store import Run, Store, run_name


def points(needs: Sequence[Need]) -> list[Point]:
    """Return arms as the points of a sweep: what sets each apart, and its configuration."""
    return [Point(dict(need.arm.settings), need.config) for need in needs if need.config is not None]


def estimate(plan: Plan, store: Store, timed: Sequence[Run], device: Wanted = None) -> Forecast:
    """Forecast the cost of everything that is missing, arms that must wait for others included."""
    configs = [need.config for need in plan.lacking if need.config is not None]
    return forecast(store, configs, plan.seeds, timed, device)


def preparations(plan: Plan, store: Store) -> list[PretrainConfig]:
    """Return the pre-trainings that missing arms start from and that lack one of the seeds."""
    finished = {run.name: set(run.finished()) for run in store.pretrainings()}
    wanted = [first for need in plan.lacking if (first := _first(need)) is not None]
    return [first for first in dict.fromkeys(wanted) if not finished.get(run_name(first), set()).issuperset(plan.seeds)]


def ready(plan: Plan, store: Store) -> list[Need]:
    """Return the missing arms that wait for nothing, neither for another arm nor for a pre-training."""
    unprepared = preparations(plan, store)
    return [need for need in plan.startable if _first(need) not in unprepared]


def start(plan: Plan, store: Store, *, device: Wanted = None, threads: int | None = None) -> list[Started[Run]]:
    """Start everything that is missing, as detached workers that resume what is half done; return the runs with rounds.

    What reads another run, or starts from a pre-training, waits by itself until that is finished. Seeds that are at
    work already are left alone. When one cannot be started, those that this call started before it are stopped and its
    error is raised.
    """
    check_room(store, [need.config for need in plan.lacking if need.config is not None], plan.seeds)
    started: list[Started[Run]] = []
    with stopping_on_failure() as workers:
        for first in preparations(plan, store):
            prepared = launch_pretraining(store, first, plan.seeds, device=device, threads=threads, leave_busy=True)
            workers.extend(prepared.workers)
        for stage in sorted({need.arm.stage for need in plan.lacking}):
            configs = [point.config for point in points([need for need in plan.lacking if need.arm.stage == stage])]
            begun = start_all(store, configs, plan.seeds, device=device, threads=threads)
            workers.extend(worker for each in begun for worker in each.workers)
            started += begun
    return started


def _first(need: Need) -> PretrainConfig | None:
    """Return the pre-training an arm's run starts from, where the plan can make it."""
    first = need.arm.first
    named = pretraining_of(need.config) if need.config is not None else None
    return first if first is not None and named == run_name(first) else None


def cost_words(plan: Plan, cost: Forecast) -> str:
    """Say what is missing and what it takes: "3 runs, seeds 0, 1, 2: about 2 h, adds about 90 MB".

    Nothing missing gives "nothing".
    """
    if not plan.lacking:
        return "nothing"
    runs = f"{number_of(len(plan.lacking), 'run')}, {listing(plan.seeds)}"
    time = "time not known yet" if cost.seconds is None else f"about {duration(cost.seconds)}"
    return f"{runs}: {time}, adds about {file_size(cost.size_bytes)}"


def command(plan: Plan) -> str:
    """Return the command line that runs what is missing."""
    dataset, model, task = plan.setting
    several = len({setting.task for setting in plan.experiment.settings}) > 1
    parts = ["python -m glt reproduce", plan.experiment.name, f"--dataset {dataset} --model {model}"]
    parts += [f"--task {task}"] if several else []
    return " ".join([*parts, f"--seeds {','.join(map(str, plan.seeds))}"])
