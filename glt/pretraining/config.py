"""PretrainConfig: everything that determines a pre-training, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from glt.config import Count, Epochs, Positive, PruneRate, RunConfig, Width, canonical_json, checked
from glt.data import DATASETS
from glt.errors import ConfigError
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.training.tasks import TASKS

SPLIT_SEED = "split_seed"


class PretrainConfig(BaseModel):
    """The settings of a GraphCL pre-training; field names are those of the command line's `--set`.

    `task` decides which edges carry messages: for links only those of the training split, so that none of the edges
    to be predicted is seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ClassVar[str] = "gcn"
    method: ClassVar[str] = "graphcl"

    dataset: str = Field("cora", description="Data set the encoder is trained on")
    task: str = Field("node", description="Task of the runs that will start from it; decides which edges it sees")
    augmentation: str = Field("edges", description="How the two views differ from the graph")
    share: PruneRate = Field(0.2, description="Share of the edges or nodes that a view changes")
    hidden: Width = Field(512, description="Width of the encoder, which is that of the first layer it is for")
    learning_rate: Positive = Field(1e-3, description="Adam step size")
    epochs: Epochs = Field(10_000, description="Most epochs")
    patience: Count = Field(20, description="Epochs without a lower loss before it stops")
    split_seed: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Links only: decides which edges are held out, as in the runs that start from it"
    )

    def canonical_json(self) -> str:
        """Return the config as JSON with sorted keys and no spaces: equal configs give equal bytes."""
        return canonical_json(self.model_dump(mode="json"))

    def graph_config(self) -> RunConfig:
        """Return a run's config with the same message graph, for `glt.training.tasks.message_graph`."""
        options = {} if self.split_seed is None else {SPLIT_SEED: self.split_seed}
        return RunConfig(dataset=self.dataset, task=self.task, options=options)


PRETRAIN_FIELDS = tuple(PretrainConfig.model_fields)


def make_pretrain_config(values: Mapping[str, Any]) -> PretrainConfig:
    """Build a PretrainConfig from plain values; raises ConfigError that names every bad field."""
    return checked(PretrainConfig, values, PRETRAIN_FIELDS)


def resolve_pretraining(values: Mapping[str, Any]) -> PretrainConfig:
    """Return the complete config for what the user set; raises ConfigError before anything starts.

    >>> resolve_pretraining({"dataset": "citeseer", "hidden": "64"}).hidden
    64
    """
    config = make_pretrain_config(values)
    spec, task = DATASETS.get(config.dataset), TASKS.get(config.task)
    AUGMENTATIONS.get(config.augmentation)
    split = task.Options.model_fields.get(SPLIT_SEED)
    if split is None and config.split_seed is not None:
        raise ConfigError(f"Task {config.task!r} holds no edges out, so it has no split_seed: leave it out.")
    if split is not None and config.split_seed is None:
        config = config.model_copy(update={SPLIT_SEED: split.default})
    if config.task not in spec.tasks:
        raise ConfigError(f"Data set {spec.name!r} cannot be used for task {task.name!r}: {', '.join(spec.tasks)}.")
    return config
