"""The paper's experiments on small graphs: figure or table, settings, and runs.

`EXPERIMENTS` has all experiments by name, `in_order` those of the paper in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from glt.errors import ConfigError
from glt.presets import resolve
from glt.pretraining.config import PretrainConfig, first_layer_width, resolve_pretraining
from glt.registry import Registry
from glt.store import run_name

# The paper prunes for 20 rounds; its measurements and subgraphs are of round 13 (48.67 % graph sparsity).
ROUNDS = 20
GALLERY_ROUND = 13
RANDOM_TICKETS_ROUND = 16
PRESET = "official"


class Setting(NamedTuple):
    """One panel of a figure: a data set, a network and a task."""

    dataset: str
    model: str
    task: str = "node"


@dataclass(frozen=True)
class Arm:
    """One curve, row or picture: the settings of its run beyond data set, network and task.

    `words` names it among the arms of its experiment. An arm of a later `stage` starts after those before it, because
    it `reads` a run of theirs, by name, in the same store. `first` is the pre-training that an arm starts from; a run
    from any other pre-training does as well.
    """

    words: str
    settings: Mapping[str, Any]
    stage: int = 0
    reads: str = ""
    first: PretrainConfig | None = None


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper, or beyond it: its `place`, its settings, and the arms of a setting."""

    name: str
    label: str
    place: str
    about: str
    settings: tuple[Setting, ...]
    arms: Callable[[Setting], Sequence[Arm]] = field(repr=False)
    rounds: int = ROUNDS

    def nearest(self, dataset: str | None = None, model: str | None = None, task: str | None = None) -> Setting:
        """Return the setting closest to these names; the data set counts most."""

        def agreement(setting: Setting) -> tuple[bool, bool, bool]:
            return setting.dataset == dataset, setting.model == model, setting.task == task

        return max(self.settings, key=agreement)

    def setting(self, dataset: str | None = None, model: str | None = None, task: str | None = None) -> Setting:
        """Return the setting with these names, by default the first; raise ConfigError if there is none."""
        found = self.nearest(dataset, model, task)
        if any(name not in (None, value) for name, value in zip((dataset, model, task), found, strict=True)):
            names = ", ".join(
                f"{s.dataset} {s.model}" + (f" {s.task}" if s.task != "node" else "") for s in self.settings
            )
            wanted = " ".join(name for name in (dataset, model, task) if name)
            raise ConfigError(f"There is no {self.name} for {wanted}: choose one of {names}.")
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
# Figure 7 changes one of the two usual rates at a time.
USUAL_RATES = {"p_graph": 0.05, "p_weight": 0.20}
VARIED_RATES = {"p_graph": (0.05, 0.10, 0.20), "p_weight": (0.10, 0.20, 0.40)}
# Fresh initialisations of the random tickets.
DRAWS = 3


def compared_methods(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS, random pruning and, for the GCN on nodes, ADMM (paper, section 4.1)."""
    only_gcn = (ADMM,) if (setting.model, setting.task) == ("gcn", "node") else ()
    return (UGS, RANDOM, *only_gcn)


def pretrained_starts(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS from a random start, and from a pre-training as wide as the first layer."""
    width = first_layer_width(resolve({**setting._asdict(), **UGS.settings}, PRESET))
    first = resolve_pretraining({"dataset": setting.dataset, "task": setting.task, "hidden": width})
    return UGS, Arm("UGS, pre-trained start", {**UGS.settings, "pretraining": run_name(first)}, first=first)


def pruning_rates(setting: Setting) -> tuple[Arm, ...]:
    """Return one arm per distinct pair of rates."""
    pairs = [{**USUAL_RATES, name: rate} for name, rates in VARIED_RATES.items() for rate in rates]
    words = "{:g} % of edges, {:g} % of weights per round"
    arms = {words.format(100 * pair["p_graph"], 100 * pair["p_weight"]): pair for pair in pairs}
    return tuple(Arm(name, {"method": "ugs", **pair}) for name, pair in arms.items())


def random_tickets(setting: Setting) -> tuple[Arm, ...]:
    """Return UGS, several draws of fresh weights under its masks, and random pruning."""
    source = run_name(resolve({**setting._asdict(), **UGS.settings}, PRESET))
    settings = [{"method": "reinit", "masks_of": source, "draw": number} for number in range(DRAWS)]
    draws = [Arm(f"Random ticket, draw {each['draw']}", each, stage=1, reads=source) for each in settings]
    return UGS, *draws, RANDOM


PAPER = (
    Experiment(
        "teaser", "The summary", "Figure 1",
        "Accuracy at growing sparsity of graph and network: UGS, random pruning and ADMM with the GCN.",
        grid(("cora", "citeseer"), ("gcn",)), compared_methods,
    ),
    Experiment(
        "node-classification", "Node classification", "Figures 3 and A9",
        "Accuracy of every round over graph sparsity, inference MACs and weight sparsity.",
        grid(SMALL_GRAPHS, NETWORKS), compared_methods,
    ),
    Experiment(
        "link-prediction", "Link prediction", "Figures 4 and A10",
        "ROC-AUC of every round over inference MACs, graph sparsity and weight sparsity.",
        grid(SMALL_GRAPHS, NETWORKS, ("link",)), compared_methods,
    ),
    Experiment(
        "graphcl", "Tickets from pre-training", "Figures 6 and A12",
        "UGS from a random start and from a GraphCL pre-training, for nodes and for links.",
        grid(("cora", "citeseer"), ("gcn",), ("node", "link")), pretrained_starts,
    ),
    Experiment(
        "ablation", "Pruning rates", "Figure 7",
        "UGS on Cora with the GCN at higher pruning rates of edges or weights, twenty rounds each.",
        grid(("cora",), ("gcn",)), pruning_rates,
    ),
    Experiment(
        "random-tickets", "Random tickets", "Table 2",
        "UGS tickets, their masks with fresh weights, and random masks.",
        grid(("cora",), ("gcn",)), random_tickets, RANDOM_TICKETS_ROUND,
    ),
    Experiment(
        "subgraph-gallery", "Subgraphs", "Figure 8",
        "A part of the graph before and after UGS, at 48.67 % graph sparsity.",
        grid(SMALL_GRAPHS, ("gcn",)), lambda setting: (UGS,), GALLERY_ROUND,
    ),
    Experiment(
        "measurements", "Graph measurements", "Table A5",
        "Clustering and betweenness of the original and of the pruned graphs.",
        grid(SMALL_GRAPHS, ("gcn",)), compared_methods, GALLERY_ROUND,
    ),
)  # fmt: skip

EXPERIMENTS: Registry[Experiment] = Registry("experiment", "glt.reproduction")
for _experiment in PAPER:
    EXPERIMENTS.register(_experiment)


def in_order() -> list[Experiment]:
    """Return the paper's experiments in its order."""
    return list(PAPER)
