"""A plan for one experiment: finished and missing runs, their cost, and their start.

`make_plan` compares an experiment with runs; `estimate` and `start` act on what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from glt.config import OptionValue, RunConfig, pretraining_of
from glt.errors import ConfigError
from glt.formats import as_typed, duration, file_size, listing, number_of
from glt.jobs.devices import Wanted
from glt.jobs.estimate import Forecast, forecast
from glt.jobs.launcher import Started, check_room, start_pretraining, stopping_on_failure
from glt.jobs.queue import awaited
from glt.jobs.sweep import Point, start_all, value_words
from glt.methods import METHODS
from glt.presets import all_options, resolve
from glt.pretraining.config import PRETRAINING, PretrainConfig
from glt.reproduction.experiments import PRESET, Arm, Experiment, Setting
from glt.store import Run, Store, finished_rounds, run_name
from glt.training.tasks import TASKS

# A run that differs in more settings cannot stand in for an arm.
MOST_APART = 2
UNSET = "unset"
Pair = tuple[OptionValue, OptionValue]
THE_PRETRAINING = "the pre-training"
ArmState = Literal["missing", "complete", "running", "waiting"]


@dataclass(frozen=True, eq=False)
class Need:
    """One arm: its config (or why it cannot run), and the run that has most of its rounds.

    `own` is the user's run, to which missing rounds are added; `run` may be the example instead. `rounds` counts each
    wanted seed's rounds (round 0 included) that need not be computed. `stand_in` is a run of the same data set,
    network, task and method with other settings; `differs` names them.
    """

    arm: Arm
    config: RunConfig | None
    unavailable: str
    run: Run | None
    rounds: Mapping[int, int]
    own: Run | None = None
    stand_in: Run | None = None
    differs: str = ""

    @property
    def lacking(self) -> tuple[int, ...]:
        """The unfinished wanted seeds; none for an arm that cannot run."""
        if self.config is None:
            return ()
        return tuple(seed for seed, rounds in self.rounds.items() if rounds <= self.config.rounds)

    @property
    def has_rounds(self) -> bool:
        """Whether any seed has a pruned round to show."""
        return self.run is not None and any(self.run.seed(seed).whole_rounds() > 1 for seed in self.run.seeds())

    @property
    def state(self) -> str:
        """The state in a few words."""
        if self.unavailable:
            return "not available"
        if not self.lacking:
            return "complete"
        if not any(self.rounds.values()):
            if self.run is None or not self.run.is_example:
                return "not run"
            # Of a read-only example, nothing is continued.
            done = sum(self.run.seed(seed).whole_rounds() > self.run.config.rounds for seed in self.rounds)
            if done == len(self.rounds):
                return "example without weights: to be run in the store"
            return f"{done} of {len(self.rounds)} seeds in an example: to be run in the store"
        done = len(self.rounds) - len(self.lacking)
        begun = [
            f"seed {seed} resumes after round {self.rounds[seed] - 1}" for seed in self.lacking if self.rounds[seed]
        ]
        return ", ".join([f"{done} of {len(self.rounds)} seeds complete", *begun])


@dataclass(frozen=True, eq=False)
class Plan:
    """An experiment in one setting, the wanted seeds, and what each arm needs."""

    experiment: Experiment
    setting: Setting
    seeds: tuple[int, ...]
    needs: tuple[Need, ...]

    @property
    def runs(self) -> list[Run]:
        """Runs with the paper's settings that have something to show."""
        return [need.run for need in self.needs if need.run is not None and need.has_rounds]

    @property
    def stand_ins(self) -> list[Run]:
        """Runs with other settings, for arms without one of the paper's."""
        return [need.stand_in for need in self.needs if need.stand_in is not None]

    @property
    def lacking(self) -> tuple[Need, ...]:
        """The arms with missing seeds."""
        return tuple(need for need in self.needs if need.lacking)

    @property
    def startable(self) -> tuple[Need, ...]:
        """The lacking arms of the earliest stage, which wait for no other."""
        first = min((need.arm.stage for need in self.lacking), default=0)
        return tuple(need for need in self.lacking if need.arm.stage == first)

    @property
    def unavailable(self) -> list[str]:
        """Why arms cannot run, each reason once."""
        return list(dict.fromkeys(need.unavailable for need in self.needs if need.unavailable))


def make_plan(experiment: Experiment, setting: Setting, seeds: Sequence[int], runs: Iterable[Run]) -> Plan:
    """Compare an experiment with `runs`; of two with one name the more complete is used."""
    known, wanted = list(runs), tuple(dict.fromkeys(seeds))
    needs = [_need(experiment, setting, arm, wanted, known) for arm in experiment.arms(setting)]
    read = {need.arm.reads for need in needs if need.lacking}
    # An arm reads only runs in its own store, so an example is not enough.
    needs = [
        replace(need, rounds=_rounds(need.own, wanted))
        if need.run is not None and need.run.is_example and need.run.name in read
        else need
        for need in needs
    ]
    return Plan(experiment, setting, wanted, tuple(needs))


def _rounds(run: Run | None, seeds: Sequence[int]) -> dict[int, int]:
    return {seed: run.seed(seed).whole_rounds() if run else 0 for seed in seeds}


def _need(experiment: Experiment, setting: Setting, arm: Arm, seeds: Sequence[int], runs: Sequence[Run]) -> Need:
    try:
        config = arm_config(experiment, setting, arm)
    except ConfigError as error:
        return Need(arm, None, _unavailable(setting, arm, error), None, dict.fromkeys(seeds, 0))
    if arm.first is not None and not any(run.name == run_name(config) for run in runs):
        # A run from any other pre-training does as well.
        start = {PRETRAINING: config.options[PRETRAINING]}
        for other in (run.config for run in runs if pretraining_of(run.config) is not None):
            if other.model_copy(update={"options": other.options | start, "rounds": config.rounds}) == config:
                config = other.model_copy(update={"rounds": config.rounds})
                break
    alike = [run for run in runs if run.name == run_name(config)]
    run = max(alike, key=finished_rounds, default=None)
    own = next((run for run in alike if not run.is_example), None)
    rounds = _rounds(run, seeds)
    # Examples are read-only: if one lacks a seed, all seeds are run in the store.
    if min(rounds.values()) <= config.rounds:
        rounds = _rounds(own, seeds)
    need = Need(arm, config, "", run, rounds, own)
    near = {} if need.has_rounds else _stand_ins(config, arm, runs)
    if not near:
        return need
    stand_in = min(near, key=lambda run: (len(near[run]), -finished_rounds(run)))
    differs = [
        f"{name} = {value_words(theirs)} instead of {value_words(ours)}"
        for name, (ours, theirs) in near[stand_in].items()
    ]
    return replace(need, stand_in=stand_in, differs=", ".join(differs))


def arm_config(experiment: Experiment, setting: Setting, arm: Arm) -> RunConfig:
    """Return an arm's config with preset `official`; raise ConfigError if it has none."""
    return resolve({**setting._asdict(), "rounds": experiment.rounds, **arm.settings}, PRESET)


def _unavailable(setting: Setting, arm: Arm, error: ConfigError) -> str:
    method = str(arm.settings.get("method", ""))
    if method not in METHODS.names():
        return f"This version has no method {method!r}."
    return str(error) if setting.task in TASKS.names() else f"This version has no task {setting.task!r}."


def _stand_ins(config: RunConfig, arm: Arm, runs: Iterable[Run]) -> dict[Run, dict[str, Pair]]:
    """Return runs of the same arm that differ in at most two settings, not in start or rates, with those settings."""
    same = {"dataset", "task", "model", "method", "p_graph", "p_weight", PRETRAINING, *arm.settings}
    found = {}
    for run in runs:
        differing = _differing(config, run.config)
        near = len(differing) <= MOST_APART and not same & differing.keys()
        if near and any(run.seed(seed).whole_rounds() > 1 for seed in run.seeds()):
            found[run] = differing
    return found


def _differing(config: RunConfig, other: RunConfig) -> dict[str, Pair]:
    """Return the settings in which two configs differ, with both values."""
    one, two = _flat(config), _flat(other)
    pairs = {name: (one.get(name, UNSET), two.get(name, UNSET)) for name in sorted(one.keys() | two.keys())}
    return {name: (ours, theirs) for name, (ours, theirs) in pairs.items() if ours != theirs}


def _flat(config: RunConfig) -> dict[str, OptionValue]:
    ignored = {"options", "rounds", *METHODS.get(config.method).ignores}
    return {
        **config.model_dump(exclude=ignored),
        **{name: UNSET if value is None else value for name, value in all_options(config).items()},
    }


def points(needs: Sequence[Need]) -> list[Point]:
    """Return arms as the points of a sweep."""
    return [Point(dict(need.arm.settings), need.config) for need in needs if need.config is not None]


def estimate(plan: Plan, store: Store, timed: Sequence[Run], device: Wanted = None) -> Forecast:
    """Estimate the cost of everything missing, waiting arms included."""
    configs = [need.config for need in plan.lacking if need.config is not None]
    return forecast(store, configs, plan.seeds, timed, device)


def preparations(plan: Plan, store: Store) -> list[PretrainConfig]:
    """Return the pre-trainings of missing arms that lack one of the seeds."""
    finished = {run.name: set(run.finished()) for run in store.pretrainings()}
    wanted = [first for need in plan.lacking if (first := _first(need)) is not None]
    return [first for first in dict.fromkeys(wanted) if not finished.get(run_name(first), set()).issuperset(plan.seeds)]


def ready(plan: Plan, store: Store) -> list[Need]:
    """Return the missing arms that wait for no other arm or pre-training."""
    unprepared = preparations(plan, store)
    return [need for need in plan.startable if _first(need) not in unprepared]


def start(plan: Plan, store: Store, *, device: Wanted = None, threads: int | None = None) -> list[Started[Run]]:
    """Start everything missing as detached workers; return the started runs.

    Workers that need another run wait until it is finished. Busy seeds are left alone. If one cannot be started, those
    started before it are stopped and its error is raised.
    """
    check_room(store, [need.config for need in plan.lacking if need.config is not None], plan.seeds)
    started: list[Started[Run]] = []
    with stopping_on_failure() as workers:
        for first in preparations(plan, store):
            prepared = start_pretraining(store, first, plan.seeds, device=device, threads=threads, leave_busy=True)
            workers.extend(prepared.workers)
        for stage in sorted({need.arm.stage for need in plan.lacking}):
            configs = [point.config for point in points([need for need in plan.lacking if need.arm.stage == stage])]
            begun = start_all(store, configs, plan.seeds, device=device, threads=threads)
            workers.extend(worker for each in begun for worker in each.workers)
            started += begun
    return started


def _first(need: Need) -> PretrainConfig | None:
    """Return the pre-training of an arm's run, if the plan can make it."""
    first = need.arm.first
    named = pretraining_of(need.config) if need.config is not None else None
    return first if first is not None and named == run_name(first) else None


def cost_words(plan: Plan, cost: Forecast) -> str:
    """Return "3 runs, seeds 0, 1, 2: about 2 h, adds about 90 MB", or "nothing"."""
    if not plan.lacking:
        return "nothing"
    runs = f"{number_of(len(plan.lacking), 'run')}, {listing(plan.seeds)}"
    time = "time unknown" if cost.seconds is None else f"about {duration(cost.seconds)}"
    return f"{runs}: {time}, adds about {file_size(cost.size_bytes)}"


def command(plan: Plan) -> str:
    """Return the command that runs what is missing."""
    dataset, model, task = plan.setting
    several = len({setting.task for setting in plan.experiment.settings}) > 1
    of_task = ["--task", task] if several else []
    seeds = ",".join(map(str, plan.seeds))
    return as_typed(
        "reproduce", plan.experiment.name, "--dataset", dataset, "--model", model, *of_task, "--seeds", seeds
    )


def order_words(plan: Plan, firsts: Sequence[PretrainConfig]) -> list[str]:
    """Return which missing arms start after other runs, in sentences; `firsts` are the missing pre-trainings."""
    words = _arm_words(plan)
    behind: dict[str, list[str]] = {}
    for need in plan.lacking:
        if need.arm.first in firsts and need.arm.first is not None:
            behind.setdefault(THE_PRETRAINING, []).append(need.arm.words)
        elif any(other.config is not None and run_name(other.config) == need.arm.reads for other in plan.lacking):
            behind.setdefault(words[need.arm.reads], []).append(need.arm.words)
    return [
        f"{'; '.join(waiting)}: {'starts' if len(waiting) == 1 else 'start'} automatically after {first}."
        for first, waiting in behind.items()
    ]


def arm_state(need: Need, plan: Plan, store: Store) -> tuple[str, ArmState]:
    """Return the state of an arm in words, and its kind."""
    run = need.own
    active = [seed for seed in need.lacking if run is not None and run.seed(seed).is_at_work()]
    if run is None or not active:
        return need.state, "complete" if need.state == "complete" else "missing"
    sources = [awaited(store, run.config, seed) for seed in active]
    if None in sources:
        return "running", "running"
    words = _arm_words(plan)
    names = dict.fromkeys(words.get(source or "", THE_PRETRAINING) for source in sources)
    return f"waits for {' and '.join(names)}", "waiting"


def _arm_words(plan: Plan) -> dict[str, str]:
    """Return the words of each arm by the name of its run."""
    return {run_name(need.config): need.arm.words for need in plan.needs if need.config is not None}
