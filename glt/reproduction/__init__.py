"""The paper's experiments on small graphs, one beyond it, and what a store lacks of each."""

from glt.reproduction.experiments import EXPERIMENTS, Arm, Experiment, Setting, in_order
from glt.reproduction.plan import Need, Plan, make_plan

__all__ = ["EXPERIMENTS", "Arm", "Experiment", "Need", "Plan", "Setting", "in_order", "make_plan"]
