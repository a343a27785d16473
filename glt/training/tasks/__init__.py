"""Tasks: the loss and the metrics of a model's output on a split; one file a task."""

from glt.config import RunConfig
from glt.data import Graph, load_graph
from glt.registry import Registry
from glt.training.tasks.base import BoundTask, Scores, Task, TrainingPass

TASKS: Registry[Task] = Registry("task", "glt.training.tasks")


def message_graph(config: RunConfig) -> Graph:
    """Load a run's data set and return the graph that carries its messages: the one its edge masks cover."""
    return TASKS.get(config.task).message_graph(load_graph(config.dataset), config)


__all__ = ["TASKS", "BoundTask", "Scores", "Task", "TrainingPass", "message_graph"]
