"""What an experiment of the paper is: where it stands, on which data sets and networks, and which runs it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from glt.errors import ConfigError
from glt.pretraining.config import PretrainConfig

# The paper prunes for 20 rounds; its measurements and subgraphs are of round 13 (48.67 % graph sparsity).
ROUNDS = 20
GALLERY_ROUND = 13
PRESET = "official"


class Setting(NamedTuple):
    """One panel of a figure: a data set, a network and a task."""

    dataset: str
    model: str
    task: str = "node"


@dataclass(frozen=True)
class Arm:
    """One curve, row or picture: the settings of its run beyond data set, network and task, flat.

    `words` says what it is among the arms of its experiment. An arm of a later `stage` starts when those before it
    are finished, because it `reads` a run of theirs, by name, in the same store. An arm that starts from a pre-training
    names it in its settings and says in `first` what it is; a run from any other pre-training does as well.
    """

    words: str
    settings: Mapping[str, Any]
    stage: int = 0
    reads: str = ""
    first: PretrainConfig | None = None


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper: `arms` says what must be run in a setting, `place` where it is printed.

    Experiments are listed by `order`, as the paper has them.
    """

    name: str
    label: str
    place: str
    about: str
    settings: tuple[Setting, ...]
    arms: Callable[[Setting], Sequence[Arm]] = field(repr=False)
    order: int
    rounds: int = ROUNDS

    def nearest(self, dataset: str | None = None, model: str | None = None, task: str | None = None) -> Setting:
        """Return the setting that agrees with most of these, the data set counting most and earlier ones first."""

        def agreement(setting: Setting) -> tuple[bool, bool, bool]:
            return setting.dataset == dataset, setting.model == model, setting.task == task

        return max(self.settings, key=agreement)

    def setting(self, dataset: str | None = None, model: str | None = None, task: str | None = None) -> Setting:
        """Return the setting with these names, by default the first; raises ConfigError when the paper has none."""
        found = self.nearest(dataset, model, task)
        asked = zip((dataset, model, task), found, strict=True)
        if any(wanted not in (None, has) for wanted, has in asked):
            names = ", ".join(
                f"{s.dataset} {s.model}" + (f" {s.task}" if s.task != "node" else "") for s in self.settings
            )
            wanted = " ".join(name for name in (dataset, model, task) if name)
            raise ConfigError(f"The paper has no {self.name} for {wanted}: choose one of {names}.")
        return found


def grid(datasets: Sequence[str], models: Sequence[str], tasks: Sequence[str] = ("node",)) -> tuple[Setting, ...]:
    """Return every combination, the data set changing fastest.

    >>> grid(["cora", "citeseer"], ["gcn"])[1]
    Setting(dataset='citeseer', model='gcn', task='node')
    """
    return tuple(Setting(dataset, model, task) for task in tasks for model in models for dataset in datasets)


SMALL_GRAPHS = ("cora", "citeseer", "pubmed")
NETWORKS = ("gcn", "gin", "gat")
UGS = Arm("UGS", {"method": "ugs"})
RANDOM = Arm("Random pruning", {"method": "random"})
ADMM = Arm("ADMM", {"method": "admm"})


def compared_methods(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS and random pruning, and ADMM for the GCN on nodes: the paper has it nowhere else (Section 4.1)."""
    only_gcn = (ADMM,) if (setting.model, setting.task) == ("gcn", "node") else ()
    return (UGS, RANDOM, *only_gcn)
