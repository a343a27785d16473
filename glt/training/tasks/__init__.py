"""Tasks: the loss and the metrics of a model's output on a split; one file a task."""

from glt.registry import Registry
from glt.training.tasks.base import BoundTask, Scores, Task

TASKS: Registry[Task] = Registry("task", "glt.training.tasks")

__all__ = ["TASKS", "BoundTask", "Scores", "Task"]
