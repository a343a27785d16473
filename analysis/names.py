"""The words for data sets, models, tasks and metrics; what this version does not know keeps the run folder's name."""

from __future__ import annotations

from typing import Any

from glt.config import RunConfig
from glt.data import DATASETS
from glt.models import MODELS
from glt.registry import Registry
from glt.training.tasks import TASKS, metric_of


def dataset(name: str) -> str:
    """Return a data set's label.

    >>> dataset("cora"), dataset("my-own-graph")
    ('Cora', 'my-own-graph')
    """
    return _label(DATASETS, name)


def model(name: str) -> str:
    """Return a model's label.

    >>> model("gcn")
    'GCN'
    """
    return _label(MODELS, name)


def task(name: str, objective: str = "") -> str:
    """Return a task's label as it stands inside a sentence, with its objective where one is given.

    >>> task("node"), task("link", "GIC")
    ('node classification', 'link prediction (GIC)')
    """
    words = _label(TASKS, name) + (f" ({objective})" if objective else "")
    return words[:1].lower() + words[1:]


def metric(dataset: str, task: str) -> str:
    """Return what the scores of a task on a data set are, as it stands inside a sentence.

    >>> metric("cora", "node"), metric("cora", "link"), metric("cora", "some-day")
    ('accuracy', 'ROC-AUC', 'score')
    """
    return metric_of(dataset, task) if task in TASKS.names() else "score"


def objective(config: RunConfig) -> str:
    """Return what a run is trained on, where its task has several objectives.

    >>> objective(RunConfig(task="link")), objective(RunConfig())
    ('GIC', '')
    """
    return TASKS.get(config.task).objective(config) if config.task in TASKS.names() else ""


def _label(registry: Registry[Any], name: str) -> str:
    return str(registry.get(name).label) if name in registry.names() else name
