"""The paper's experiments on small graphs: which runs each needs, what of them a store has, and what is missing."""

from glt.registry import Registry
from glt.reproduction.experiment import Arm, Experiment, Setting
from glt.reproduction.plan import Need, Plan, make_plan

EXPERIMENTS: Registry[Experiment] = Registry("experiment", "glt.reproduction.experiments")


def in_order() -> list[Experiment]:
    """Return the experiments in the order of the paper."""
    return sorted(EXPERIMENTS, key=lambda experiment: experiment.order)


__all__ = ["EXPERIMENTS", "Arm", "Experiment", "Need", "Plan", "Setting", "in_order", "make_plan"]
