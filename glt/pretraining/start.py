"""Runs that start from a pre-training: the setting that names it, and whether it fits their first layer."""

from __future__ import annotations

from pydantic import BaseModel, Field

from glt.config import RunConfig, options_of
from glt.data import DATASETS
from glt.errors import ConfigError
from glt.models import MODELS, NetworkShape, weight_name
from glt.pretraining.config import SPLIT_SEED, PretrainConfig
from glt.training.shapes import network_shape

# The tensor that is taken from a pre-training: the map of a network's first layer.
FIRST_LAYER = weight_name(0)
# The setting of `StartOptions` below.
PRETRAINING = "pretraining"


class StartOptions(BaseModel):
    """Where theta_0 comes from; a setting of every run, and absent from its config where it is random."""

    pretraining: str | None = Field(
        None, min_length=1, description="Pre-training run in this store whose first layer theta_0 takes; empty = random"
    )


def pretraining_of(config: RunConfig) -> str | None:
    """Return the name of the pre-training run that a run starts from, or None for a random start."""
    return options_of(config.options, StartOptions).pretraining


def takes_first_layer(model: str) -> bool:
    """Say whether a network's first map multiplies the features, as that of a pre-training does.

    >>> takes_first_layer("gcn"), takes_first_layer("resgcn")
    (True, False)
    """
    costs = MODELS.get(model).layer_costs(NetworkShape(1, 1, 1, 2))
    return any(cost.reads_features and cost.weight == FIRST_LAYER for cost in costs)


def first_layer_width(config: RunConfig) -> int:
    """Return the number of columns of a network's first map: its hidden width, for GAT that of all heads together."""
    spec = DATASETS.get(config.dataset)
    tensors = MODELS.get(config.model).tensors(network_shape(config, spec.sizes))
    return next(tensor.shape[1] for tensor in tensors if tensor.name == FIRST_LAYER)


def check_fit(config: RunConfig, name: str, pretraining: PretrainConfig) -> None:
    """Raise ConfigError unless a pre-training is of the run's data set, its edges and its first layer's width."""
    if not takes_first_layer(config.model):
        raise ConfigError(
            f"{config.model} has a map of its own before its first layer, so it cannot start from {name}: leave "
            "pretraining out, or choose another model."
        )
    width = first_layer_width(config)
    wanted = f"python -m glt pretrain --dataset {config.dataset} --task {config.task} --hidden {width}"
    theirs, ours = pretraining.dataset, config.dataset
    if theirs != ours:
        raise ConfigError(f"{name} was pre-trained on {theirs}, the run is on {ours}: make one with `{wanted}`.")
    if pretraining.task != config.task:
        raise ConfigError(
            f"{name} was pre-trained for task {pretraining.task!r}, whose edges are not those of task {config.task!r}: "
            f"make one with `{wanted}`."
        )
    split = config.options.get(SPLIT_SEED)
    if pretraining.split_seed != split:
        raise ConfigError(
            f"{name} has seen edges that the run holds out ({SPLIT_SEED} {pretraining.split_seed}, here {split}): "
            f"make one with `{wanted} --set {SPLIT_SEED}={split}`."
        )
    if pretraining.hidden != width:
        raise ConfigError(
            f"{name} is {pretraining.hidden} wide, the first layer of {config.model} with hidden = {config.hidden} is "
            f"{width}: make one with `{wanted}`."
        )
