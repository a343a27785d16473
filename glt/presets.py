"""The paper's hyper-parameters as data, and the way from what a user says to a complete RunConfig."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from glt.config import CORE_FIELDS, OptionValue, RunConfig, all_faults, make_config
from glt.data import DATASETS
from glt.errors import ConfigError, Faults, unknown_name
from glt.methods import METHODS
from glt.models import MODELS
from glt.pretraining.start import StartOptions
from glt.training.tasks import TASKS

Values = Mapping[str, Any]
NAMES = ("dataset", "task", "model", "method")


@dataclass(frozen=True)
class Preset:
    """A named set of choices; `options` count where the method has them."""

    name: str
    label: str
    description: str
    options: Values


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "official",
            "As the authors' code runs",
            "Masks are read at the best-validation epoch of the search, and weight decay acts on them.",
            {
                "masks_from": "best_validation",
                "mask_weight_decay": True,
                "gin_aggregation": "mean",
                "gin_degree": "original",
                "gin_mlp": "one",
                "gin_read_out": "jumping",
            },
        ),
        Preset(
            "paper",
            "As the paper is printed",
            "Masks are read after the last epoch of the search, and weight decay leaves them alone.",
            {"masks_from": "last", "mask_weight_decay": False},
        ),
    )
}

# Paper, appendix (implementation details) and the authors' scripts: node classification, by data set.
OPTIMISER: dict[str, dict[str, float]] = {
    "cora": {"learning_rate": 8e-3, "weight_decay": 8e-5},
    "citeseer": {"learning_rate": 1e-2, "weight_decay": 5e-4},
    "pubmed": {"learning_rate": 1e-2, "weight_decay": 5e-4},
}
PENALTIES: dict[tuple[str, str], dict[str, float]] = {
    ("gcn", "cora"): {"gamma_graph": 1e-2, "gamma_weight": 1e-2},
    ("gcn", "citeseer"): {"gamma_graph": 1e-2, "gamma_weight": 1e-2},
    ("gcn", "pubmed"): {"gamma_graph": 1e-6, "gamma_weight": 1e-3},
    ("gin", "cora"): {"gamma_graph": 1e-3, "gamma_weight": 1e-3},
    ("gin", "citeseer"): {"gamma_graph": 1e-5, "gamma_weight": 1e-5},
    ("gin", "pubmed"): {"gamma_graph": 1e-5, "gamma_weight": 1e-5},
    ("gat", "cora"): {"gamma_graph": 1e-3, "gamma_weight": 1e-3},
    ("gat", "citeseer"): {"gamma_graph": 1e-7, "gamma_weight": 1e-3},
    ("gat", "pubmed"): {"gamma_graph": 1e-2, "gamma_weight": 1e-2},
}
# The authors' settings for link prediction, the same for every network and data set.
LINK_VALUES: dict[str, float] = {
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "gamma_graph": 1e-4,
    "gamma_weight": 1e-4,
    "dropout": 0.0,
}
# The step size of the GAE (Kipf and Welling 2016); at the authors' it is far from trained after 200 epochs.
GAE_VALUES: dict[str, float] = {**LINK_VALUES, "learning_rate": 1e-2}
TASK_OPTIONS: dict[str, Values] = {"link": {"gat_heads": 1}}


def resolve(values: Values, preset: str | None = None) -> RunConfig:
    """Return the complete config for what the user set, flat: core fields and options by name.

    Hyper-parameters nobody set are the paper's for that model and data set. Raises ConfigError that names every
    unknown setting (with the nearest known one) and every value out of range.
    """
    core = {name: value for name, value in values.items() if name in CORE_FIELDS}
    options = {name: value for name, value in values.items() if name not in CORE_FIELDS}
    faults = Faults()
    with faults.noted():
        make_config(core)
    # What the options mean depends on these alone, so that they are looked at beside bad values of other settings.
    named = make_config({name: core[name] for name in NAMES if isinstance(core.get(name), str)})
    with faults.noted():
        _check_names(named)
        filled = _options(named, options, preset)
    faults.raise_any()
    objective = str(options.get("link_objective", ""))
    config = make_config({**hyper_parameters(named.model, named.dataset, named.task, objective), **core})
    complete = config.model_copy(update={"options": filled})
    TASKS.get(complete.task).check(complete, DATASETS.get(complete.dataset))
    return complete


def hyper_parameters(model: str, dataset: str, task: str, objective: str = "") -> dict[str, float]:
    """Return the paper's optimiser settings and penalties; empty where it gives none."""
    if task == "link":
        return GAE_VALUES if objective == "bce" else LINK_VALUES
    return {**OPTIMISER.get(dataset, {}), **PENALTIES.get((model, dataset), {})}


def option_fields(config: RunConfig) -> dict[str, type[BaseModel]]:
    """Return which options model owns each option name, for the chosen method, model and task, and for any run."""
    owners = (METHODS.get(config.method), MODELS.get(config.model), TASKS.get(config.task))
    models: list[type[BaseModel]] = [*(owner.Options for owner in owners), StartOptions]
    return {name: model for model in models for name in model.model_fields}


def _check_names(config: RunConfig) -> None:
    DATASETS.get(config.dataset)
    METHODS.get(config.method)
    task, model = TASKS.get(config.task), MODELS.get(config.model)
    if task.name not in model.tasks:
        able = ", ".join(sorted(model.tasks))
        raise ConfigError(f"Model {model.name!r} cannot do task {task.name!r}; it can do: {able}.")


def _options(config: RunConfig, given: Values, preset: str | None) -> dict[str, OptionValue]:
    fields, faults = option_fields(config), Faults()
    faults.add(*(unknown_name("setting", name, [*CORE_FIELDS, *fields]) for name in given if name not in fields))
    wanted = {name: value for name, value in _wished(config.task, preset).items() if name in fields}
    wanted.update(given)
    resolved: dict[str, OptionValue] = {}
    for model in {id(owner): owner for owner in fields.values()}.values():
        with faults.noted():
            resolved.update(_validated(model, {k: v for k, v in wanted.items() if k in model.model_fields}))
    faults.raise_any()
    return dict(sorted(resolved.items()))


def _wished(task: str, preset: str | None) -> Values:
    """Return the options that a task and a preset choose where the user does not."""
    return {**TASK_OPTIONS.get(task, {}), **_preset_options(preset)}


def _preset_options(preset: str | None) -> Values:
    if preset is None:
        return {}
    if preset not in PRESETS:
        raise ConfigError(unknown_name("preset", preset, PRESETS))
    return PRESETS[preset].options


def _validated(model: type[BaseModel], values: Values) -> dict[str, OptionValue]:
    try:
        options = model.model_validate(values).model_dump()
    except ValidationError as error:
        raise ConfigError(*all_faults(error)) from None
    return {name: value for name, value in options.items() if value is not None}
