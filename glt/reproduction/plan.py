"""What an experiment needs in one setting, and which of it the runs there are have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from glt.config import OptionValue, RunConfig
from glt.errors import ConfigError
from glt.jobs.sweeping import value_words
from glt.methods import METHODS
from glt.presets import all_options, resolve
from glt.pretraining.start import PRETRAINING, pretraining_of
from glt.reproduction.experiment import PRESET, Arm, Experiment, Setting
from glt.store import Run, finished_rounds, run_name
from glt.training.tasks import TASKS

# A run that differs in more settings tells nothing about an arm it would stand in for.
MOST_APART = 2
UNSET = "unset"


@dataclass(frozen=True, eq=False)
class Need:
    """One arm: its configuration, or the sentence why this version cannot run it, and the run that has most rounds.

    `own` is the user's run of that configuration, to which missing rounds are added; `run` may be the example instead.
    `rounds` counts the rounds (round 0 included) of every wanted seed that need not be computed. `stand_in` is a run of
    the same data set, network, task and method with other settings; `differs` names them.
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
        """The wanted seeds that are not finished; none for an arm that cannot be run."""
        if self.config is None:
            return ()
        return tuple(seed for seed, rounds in self.rounds.items() if rounds <= self.config.rounds)

    @property
    def has_rounds(self) -> bool:
        """Whether a pruned round of any seed is there to be shown."""
        return self.run is not None and any(self.run.seed(seed).whole_rounds() > 1 for seed in self.run.seeds())

    @property
    def state(self) -> str:
        """Say in a few words what is there."""
        if self.unavailable:
            return "not available"
        if not self.lacking:
            return "complete"
        if not any(self.rounds.values()):
            return self._of_example(self.run) if self.run and self.run.is_example else "not run"
        done = len(self.rounds) - len(self.lacking)
        begun = [
            f"seed {seed} goes on after round {self.rounds[seed] - 1}" for seed in self.lacking if self.rounds[seed]
        ]
        return ", ".join([f"{done} of {len(self.rounds)} seeds complete", *begun])

    def _of_example(self, run: Run) -> str:
        """Say how much of what is wanted a read-only example shows, all of which is to be run in the store."""
        done = sum(run.seed(seed).whole_rounds() > run.config.rounds for seed in self.rounds)
        if done == len(self.rounds):
            return "an example, which holds no weights: to be run in the store"
        return f"{done} of {len(self.rounds)} seeds in an example: to be run in the store"


@dataclass(frozen=True, eq=False)
class Plan:
    """An experiment in one setting, the seeds that are wanted, and what each of its arms needs."""

    experiment: Experiment
    setting: Setting
    seeds: tuple[int, ...]
    needs: tuple[Need, ...]

    @property
    def runs(self) -> list[Run]:
        """The runs with the paper's settings that have something to show."""
        return [need.run for need in self.needs if need.run is not None and need.has_rounds]

    @property
    def stand_ins(self) -> list[Run]:
        """Runs with other settings, for arms that have none with the paper's."""
        return [need.stand_in for need in self.needs if need.stand_in is not None]

    @property
    def lacking(self) -> tuple[Need, ...]:
        """The arms that something must still be computed for."""
        return tuple(need for need in self.needs if need.lacking)

    @property
    def startable(self) -> tuple[Need, ...]:
        """The lacking arms that wait for no other one: those of the earliest stage."""
        first = min((need.arm.stage for need in self.lacking), default=0)
        return tuple(need for need in self.lacking if need.arm.stage == first)

    @property
    def unavailable(self) -> list[str]:
        """The sentences why arms cannot be run, each once."""
        return list(dict.fromkeys(need.unavailable for need in self.needs if need.unavailable))


def make_plan(experiment: Experiment, setting: Setting, seeds: Sequence[int], runs: Iterable[Run]) -> Plan:
    """Hold an experiment against `runs`, the user's before the examples: of two with one name the fuller is shown."""
    known, wanted = list(runs), tuple(dict.fromkeys(seeds))
    needs = [_need(experiment, setting, arm, wanted, known) for arm in experiment.arms(setting)]
    read = {need.arm.reads for need in needs if need.lacking}
    # An arm finds what it reads only in its own store, so there an example is of no use to it.
    needs = [replace(need, rounds=_rounds(need.own, wanted)) if _is_example_of(need, read) else need for need in needs]
    return Plan(experiment, setting, wanted, tuple(needs))


def _is_example_of(need: Need, names: Collection[str]) -> bool:
    return need.run is not None and need.run.is_example and need.run.name in names


def _rounds(run: Run | None, seeds: Sequence[int]) -> dict[int, int]:
    return {seed: run.seed(seed).whole_rounds() if run else 0 for seed in seeds}


def _need(experiment: Experiment, setting: Setting, arm: Arm, seeds: Sequence[int], runs: Sequence[Run]) -> Need:
    try:
        config = arm_config(experiment, setting, arm)
    except ConfigError as error:
        return Need(arm, None, _unavailable(setting, arm, error), None, dict.fromkeys(seeds, 0))
    alike = _called(run_name(config), runs)
    if arm.first is not None and not alike:
        other = next((run for run in runs if _starts_elsewhere(run.config, config)), None)
        config = config if other is None else other.config.model_copy(update={"rounds": config.rounds})
        alike = _called(run_name(config), runs)
    run = max(alike, key=finished_rounds, default=None)
    own = next((run for run in alike if not run.is_example), None)
    rounds = _rounds(run, seeds)
    # Nothing can be added to an example, so one that lacks a seed saves no work: all seeds are run in the store.
    if min(rounds.values()) <= config.rounds:
        rounds = _rounds(own, seeds)
    need = Need(arm, config, "", run, rounds, own)
    if need.has_rounds:
        return need
    stand_in = min(_stand_ins(config, arm, runs), key=partial(_distance, config), default=None)
    return replace(need, stand_in=stand_in, differs=_differences(config, stand_in.config) if stand_in else "")


def _called(name: str, runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if run.name == name]


def arm_config(experiment: Experiment, setting: Setting, arm: Arm) -> RunConfig:
    """Return the configuration of an arm, the preset `official` filled in; raises ConfigError when it has none."""
    return resolve({**setting._asdict(), "rounds": experiment.rounds, **arm.settings}, PRESET)


def _unavailable(setting: Setting, arm: Arm, error: ConfigError) -> str:
    method = str(arm.settings.get("method", ""))
    if method not in METHODS.names():
        return f"The method {method!r} is not part of this version."
    if setting.task not in TASKS.names():
        return f"The task {setting.task!r} is not part of this version."
    return str(error)


def _starts_elsewhere(config: RunConfig, wanted: RunConfig) -> bool:
    """Say whether a config is the wanted one but for which pre-training it starts from."""
    if pretraining_of(config) is None:
        return False
    start = {PRETRAINING: wanted.options[PRETRAINING]}
    return config.model_copy(update={"options": config.options | start, "rounds": wanted.rounds}) == wanted


def _stand_ins(config: RunConfig, arm: Arm, runs: Iterable[Run]) -> Iterator[Run]:
    """Yield runs of the same arm that differ in a setting or two: never those that start or prune in another way."""
    same = {"dataset", "task", "model", "method", "p_graph", "p_weight", PRETRAINING, *arm.settings}
    wanted = _flat(config)
    for run in runs:
        found = _flat(run.config)
        alike = all(found.get(name) == wanted.get(name) for name in same)
        near = alike and len(_differing(config, run.config)) <= MOST_APART
        if near and any(run.seed(seed).whole_rounds() > 1 for seed in run.seeds()):
            yield run


def _distance(config: RunConfig, run: Run) -> tuple[int, int]:
    """Order runs by how many settings are not those of `config`, then by how few rounds they have."""
    return len(_differing(config, run.config)), -finished_rounds(run)


def _differences(config: RunConfig, other: RunConfig) -> str:
    """Say which settings of `other` are not those of `config`: "hidden = 64 instead of 512"."""
    return ", ".join(
        f"{name} = {value_words(found)} instead of {value_words(wanted)}"
        for name, (wanted, found) in _differing(config, other).items()
    )


def _differing(config: RunConfig, other: RunConfig) -> dict[str, tuple[OptionValue, OptionValue]]:
    """Return the settings in which two configs differ, by name, each with the value of either."""
    one, two = _flat(config), _flat(other)
    pairs = {name: (one.get(name, UNSET), two.get(name, UNSET)) for name in sorted(one.keys() | two.keys())}
    return {name: (ours, theirs) for name, (ours, theirs) in pairs.items() if ours != theirs}


def _flat(config: RunConfig) -> dict[str, OptionValue]:
    ignored = {"options", "rounds", *METHODS.get(config.method).ignores}
    return {
        **config.model_dump(exclude=ignored),
        **{name: UNSET if value is None else value for name, value in all_options(config).items()},
    }
