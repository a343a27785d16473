"""Tasks: loss and metrics of a model's output on a split; one file per task."""

from glt.config import RunConfig
from glt.datasets import DATASETS, Graph, load_graph
from glt.registry import Registry
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

TASKS: Registry[Task] = Registry("task", "glt.training.tasks")


def message_graph(config: RunConfig) -> Graph:
    """Load a run's data set; return its message graph, which edge masks cover."""
    return TASKS.get(config.task).message_graph(load_graph(config.dataset), config)


def metric_of(dataset: str, task: str) -> str:
    """Return the metric of a task on a data set; the task's usual one for an unknown data set."""
    known = TASKS.get(task)
    return known.metric_on(DATASETS.get(dataset)) if dataset in DATASETS.names() else known.metric


__all__ = ["TASKS", "BoundTask", "Scores", "Task", "TrainingPass", "message_graph", "metric_of"]
