"""PretrainConfig: the settings of a pre-training, and whether a run can use it.

`resolve_pretraining` completes what a user sets; `check_fit` compares a pre-training with a run's first layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from glt.config import Count, Epochs, Positive, RunConfig, Share, Width, canonical_json, checked
from glt.datasets import DATASETS
from glt.errors import ConfigError
from glt.formats import as_typed
from glt.models import MODELS, NetworkShape, weight_name
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.training.problem import network_shape
from glt.training.tasks import TASKS

SPLIT_SEED = "split_seed"
# The tensor taken from a pre-training: the map of a network's first layer.
FIRST_LAYER = weight_name(0)
# The setting of `StartOptions`.
PRETRAINING = "pretraining"


class PretrainConfig(BaseModel):
    """The settings of a GraphCL pre-training; field names are those of the command line's `--set`.

    `task` decides which edges carry messages: for links only training edges, so that held-out edges are not seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ClassVar[str] = "gcn"
    method: ClassVar[str] = "graphcl"

    dataset: str = Field("cora", description="Data set the encoder is trained on")
    task: str = Field("node", description="Task of the runs that will use it; link runs hide held-out edges")
    augmentation: str = Field("edges", description="Augmentation that makes the two views")
    share: Share = Field(0.2, description="Share of the edges or nodes that a view changes")
    hidden: Width = Field(512, description="Width of the encoder; must equal that of the first layer")
    learning_rate: Positive = Field(1e-3, description="Adam step size")
    epochs: Epochs = Field(10_000, description="Maximum number of epochs")
    patience: Count = Field(20, description="Epochs without a lower loss until it stops")
    split_seed: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Links only: seed of the held-out edges, as in the runs that use it"
    )

    def canonical_json(self) -> str:
        """Return the config as JSON with sorted keys and no spaces: equal configs give equal bytes."""
        return canonical_json(self.model_dump(mode="json"))

    def graph_config(self) -> RunConfig:
        """Return a run's config with the same message graph."""
        options = {} if self.split_seed is None else {SPLIT_SEED: self.split_seed}
        return RunConfig(dataset=self.dataset, task=self.task, options=options)


def make_pretrain_config(values: Mapping[str, Any]) -> PretrainConfig:
    """Build a PretrainConfig from plain values; raise ConfigError that names every bad field."""
    return checked(PretrainConfig, values, tuple(PretrainConfig.model_fields))


def resolve_pretraining(values: Mapping[str, Any]) -> PretrainConfig:
    """Return the complete config for what the user set; raise ConfigError for bad values.

    >>> resolve_pretraining({"dataset": "citeseer", "hidden": "64"}).hidden
    64
    """
    config = make_pretrain_config(values)
    spec, task = DATASETS.get(config.dataset), TASKS.get(config.task)
    AUGMENTATIONS.get(config.augmentation)
    split = task.Options.model_fields.get(SPLIT_SEED)
    if split is None and config.split_seed is not None:
        raise ConfigError(f"Task {config.task!r} has no held-out edges: omit split_seed.")
    if split is not None and config.split_seed is None:
        config = config.model_copy(update={SPLIT_SEED: split.default})
    if config.task not in spec.tasks:
        raise ConfigError(
            f"Data set {spec.name!r} cannot be used for task {task.name!r}; its tasks: {', '.join(spec.tasks)}."
        )
    return config


def takes_first_layer(model: str) -> bool:
    """Return whether a network's first layer multiplies the features, as in pre-training.

    >>> takes_first_layer("gcn"), takes_first_layer("resgcn")
    (True, False)
    """
    costs = MODELS.get(model).layer_costs(NetworkShape(1, 1, 1, 2))
    return any(cost.reads_features and cost.weight == FIRST_LAYER for cost in costs)


def first_layer_width(config: RunConfig) -> int:
    """Return the columns of a network's first map: hidden width, times heads for GAT."""
    spec = DATASETS.get(config.dataset)
    tensors = MODELS.get(config.model).tensors(network_shape(config, spec.sizes))
    return next(tensor.shape[1] for tensor in tensors if tensor.name == FIRST_LAYER)


def check_fit(config: RunConfig, name: str, pretraining: PretrainConfig) -> None:
    """Raise ConfigError unless a pre-training has the run's data set, edges and first layer's width."""
    if not takes_first_layer(config.model):
        raise ConfigError(
            f"The first layer of {config.model} does not multiply the features, so it cannot start from {name}: omit "
            "pretraining, or choose another model."
        )
    width = first_layer_width(config)
    command = as_typed("pretrain", "--dataset", config.dataset, "--task", config.task, "--hidden", width)
    if pretraining.dataset != config.dataset:
        raise ConfigError(
            f"{name} was pre-trained on {pretraining.dataset}, this run uses {config.dataset}: run `{command}`."
        )
    if pretraining.task != config.task:
        raise ConfigError(
            f"{name} was pre-trained for task {pretraining.task!r}, which uses other edges than task {config.task!r}: "
            f"run `{command}`."
        )
    split = config.options.get(SPLIT_SEED)
    if pretraining.split_seed != split:
        raise ConfigError(
            f"{name} was trained on edges that this run holds out ({SPLIT_SEED} {pretraining.split_seed} instead of "
            f"{split}): run `{command} --set {SPLIT_SEED}={split}`."
        )
    if pretraining.hidden != width:
        raise ConfigError(
            f"{name} has width {pretraining.hidden}, but the first layer of {config.model} with hidden = "
            f"{config.hidden} has {width}: run `{command}`."
        )
