"""Presets and the paper's hyper-parameters; `resolve` turns a user's settings into a complete RunConfig."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from glt.config import CORE_FIELDS, OptionValue, RunConfig, StartOptions, absent_means, all_faults, make_config
from glt.datasets import DATASETS
from glt.errors import ConfigError, Faults, unknown_name
from glt.methods import METHODS
from glt.models import MODELS
from glt.training.tasks import TASKS

Values = Mapping[str, Any]

# Paper, appendix (implementation details) and the authors' scripts: node classification, by data set.
OPTIMISER: dict[str, Values] = {
    "cora": {"learning_rate": 8e-3, "weight_decay": 8e-5},
    "citeseer": {"learning_rate": 1e-2, "weight_decay": 5e-4},
    "pubmed": {"learning_rate": 1e-2, "weight_decay": 5e-4},
}
PENALTIES: dict[tuple[str, str], Values] = {
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
LINK_VALUES: Values = {
    "learning_rate": 1e-3, "weight_decay": 0.0, "gamma_graph": 1e-4, "gamma_weight": 1e-4, "dropout": 0.0,
}  # fmt: skip
# Step size of the GAE (Kipf and Welling 2016); with the authors' a supervised encoder is undertrained after 200 epochs.
SUPERVISED_LINK_VALUES: Values = {**LINK_VALUES, "learning_rate": 1e-2}
TASK_OPTIONS: dict[str, Values] = {"link": {"gat_heads": 1}}
# Links of a data set with its own split; only GIC's encoder has no activation.
SPLIT_OPTIONS: Values = {"link_objective": "hadamard", "hidden_activation": "relu"}
# Deep networks (paper, appendix; otherwise the authors' scripts): fields and options.
DEEP_OPTIMISER: Values = {"layers": 28, "learning_rate": 1e-2, "weight_decay": 0.0}
DEEP: dict[tuple[str, str], Values] = {
    ("resgcn", "ogbn-arxiv"): {
        **DEEP_OPTIMISER, "hidden": 128, "dropout": 0.5, "epochs": 500, "retrain_epochs": 500,
        "gamma_graph": 1e-6, "gamma_weight": 1e-6, "gen_t": 0.1, "gen_norm": "batch", "gen_mlp": 1,
        "gen_self_loops": True,
    },
    ("resgcn", "ogbn-proteins"): {
        **DEEP_OPTIMISER, "hidden": 64, "dropout": 0.1, "epochs": 100, "retrain_epochs": 100,
        "gamma_graph": 1e-1, "gamma_weight": 1e-3, "gen_t": 1.0, "gen_norm": "layer", "gen_mlp": 2,
        "batch_clusters": 10, "batch_clusters_eval": 5, "cluster_steps": 10,
    },
    ("resgcn", "ogbl-collab"): {
        **DEEP_OPTIMISER, "hidden": 128, "dropout": 0.0, "epochs": 500, "retrain_epochs": 500,
        "gamma_graph": 1e-6, "gamma_weight": 1e-5, "gen_t": 1.0, "gen_norm": "batch", "gen_mlp": 1,
    },
}  # fmt: skip
# Deep networks: where the authors' scripts differ from the paper.
OFFICIAL_DEEP: dict[tuple[str, str], Values] = {
    ("resgcn", "ogbn-arxiv"): {
        "epochs": 250, "search_learning_rate": 1e-3, "gamma_weight": 1e-4, "gen_gradient": "stopped",
    },
    ("resgcn", "ogbn-proteins"): {"schedule": "one_run"},
    ("resgcn", "ogbl-collab"): {"schedule": "one_run"},
}  # fmt: skip
NAMES = ("dataset", "task", "model", "method")


def hyper_parameters(model: str, dataset: str, task: str, objective: str) -> Values:
    """Return the paper's widths, epochs, optimiser settings and penalties, if it gives any."""
    deep = DEEP.get((model, dataset))
    if deep is not None:
        return {name: value for name, value in deep.items() if name in CORE_FIELDS}
    if task == "link":
        return LINK_VALUES if objective == "gic" else SUPERVISED_LINK_VALUES
    return {**OPTIMISER.get(dataset, {}), **PENALTIES.get((model, dataset), {})}


def usual_options(model: str, dataset: str, task: str, brings_split: bool) -> Values:
    """Return the default options, whether or not the method and model have them."""
    split = SPLIT_OPTIONS if task == "link" and brings_split else {}
    deep = DEEP.get((model, dataset), {})
    own = {name: value for name, value in deep.items() if name not in CORE_FIELDS}
    return {**TASK_OPTIONS.get(task, {}), **split, **own}


@dataclass(frozen=True)
class Preset:
    """A named set of choices.

    `options` apply if the method or model has them, `task_options` to one task, `settings` (fields too) to one model on
    one data set. What `own` says about a config comes before all of them.
    """

    name: str
    label: str
    description: str
    options: Values
    settings: Mapping[tuple[str, str], Values] = field(default_factory=dict)
    task_options: Mapping[str, Values] = field(default_factory=dict)
    own: Callable[[RunConfig], Values] = lambda config: {}

    def settings_for(self, config: RunConfig) -> Values:
        """Return the choices for a config's model, data set and method."""
        return {**self.settings.get((config.model, config.dataset), {}), **self.own(config)}


# GEBT (You et al., AAAI 2022) as settings of UGS, whose rates and rounds stay.
EARLY_BIRD: Values = {
    "epochs": 100, "stop": "early_bird", "stop_threshold": 0.1, "stop_patience": 3, "masks_from": "last",
    "inherit_weights": True,
}  # fmt: skip
OFFICIAL = Preset(
    "official",
    "As in the authors' code",
    "Masks are read at the best-validation epoch of the search and have weight decay; a ResGCN has the "
    "settings of the authors' script for its data set.",
    {
        "masks_from": "best_validation",
        "mask_weight_decay": True,
        "gin_aggregation": "mean",
        "gin_degree": "original",
        "gin_mlp": "one",
        "gin_read_out": "jumping",
        "gat_slope": 0.01,
    },
    OFFICIAL_DEEP,
    {"node": {"gin_last_relu": True}},
)
PRESETS = {
    preset.name: preset
    for preset in (
        OFFICIAL,
        Preset(
            "paper",
            "As in the paper",
            "Masks are read after the last epoch of the search and have no weight decay.",
            {"masks_from": "last", "mask_weight_decay": False},
        ),
        replace(
            OFFICIAL,
            name="published",
            label="As published",
            description="The settings of the method's own publication; a method without one has those of the UGS "
            "authors' code.",
            own=lambda config: METHODS.get(config.method).published(config.dataset, config.model),
        ),
        replace(
            OFFICIAL,
            name="early_bird",
            label="Early bird, as published",
            description="UGS as GEBT searches: until the masks have settled, at most 100 epochs; retraining inherits "
            "the weights. Other methods have the settings of the UGS authors' code.",
            own=lambda config: EARLY_BIRD if config.method == "ugs" else {},
        ),
    )
}


def resolve(values: Values, preset: str | None = None) -> RunConfig:
    """Return the complete config for flat `values`: core fields and options by name.

    Hyper-parameters not set are the paper's for that model and data set. Raises ConfigError that names every unknown
    setting (with the nearest known one) and every value out of range.
    """
    core = {name: value for name, value in values.items() if name in CORE_FIELDS}
    options = {name: value for name, value in values.items() if name not in CORE_FIELDS}
    faults = Faults()
    with faults.noted():
        make_config(core)
    # Options depend on these alone, so they are checked beside bad values of other settings.
    named = make_config({name: core[name] for name in NAMES if isinstance(core.get(name), str)})
    with faults.noted():
        dataset, _ = DATASETS.get(named.dataset), METHODS.get(named.method)
        task, model = TASKS.get(named.task), MODELS.get(named.model)
        if task.name not in model.tasks:
            able = ", ".join(sorted(model.tasks))
            raise ConfigError(f"Model {model.name!r} cannot do task {task.name!r}; its tasks: {able}.")
        if preset is not None and preset not in PRESETS:
            raise ConfigError(unknown_name("preset", preset, PRESETS))
        chosen = PRESETS[preset] if preset else Preset("", "", "", {})
        filled = _options(named, options, chosen)
    faults.raise_any()
    objective = str(filled.get("link_objective", ""))
    usual = hyper_parameters(named.model, named.dataset, named.task, objective)
    further = {name: value for name, value in chosen.settings_for(named).items() if name in CORE_FIELDS}
    config = make_config({**usual, **further, **core})
    complete = config.model_copy(update={"options": filled})
    task.check(complete, dataset)
    return complete


def option_fields(config: RunConfig) -> dict[str, type[BaseModel]]:
    """Return the options model that owns each option of the chosen method, model and task."""
    owners = (METHODS.get(config.method), MODELS.get(config.model), TASKS.get(config.task))
    models: list[type[BaseModel]] = [*(owner.Options for owner in owners), StartOptions]
    return {name: model for model in models for name in model.model_fields}


def all_options(config: RunConfig) -> dict[str, OptionValue | None]:
    """Return all options of a config's method, model and task, absent ones too.

    >>> all_options(RunConfig(method="admm"))["admm_start_competes"]
    True
    """
    fields = {name: owner.model_fields[name] for name, owner in option_fields(config).items()}
    marks = {name: absent_means(field) for name, field in fields.items()}
    absent = {name: mark.value if mark else fields[name].get_default() for name, mark in marks.items()}
    return absent | config.options


def _options(config: RunConfig, given: Values, preset: Preset) -> dict[str, OptionValue]:
    """Return the options of a config: those given, else those that network, data set, task and preset choose."""
    fields, faults = option_fields(config), Faults()
    faults.add(*(unknown_name("setting", name, [*CORE_FIELDS, *fields]) for name in given if name not in fields))
    brings_split = DATASETS.get(config.dataset).brings_split
    usual = {
        **usual_options(config.model, config.dataset, config.task, brings_split),
        **preset.options,
        **preset.task_options.get(config.task, {}),
        **preset.settings_for(config),
    }
    wanted = {name: value for name, value in usual.items() if name in fields} | dict(given)
    resolved: dict[str, OptionValue] = {}
    for model in dict.fromkeys(fields.values()):
        try:
            values = model.model_validate({k: v for k, v in wanted.items() if k in model.model_fields}).model_dump()
        except ValidationError as error:
            faults.add(*all_faults(error))
            continue
        except ConfigError as error:
            faults.add(*error.faults)
            continue
        for name, value in values.items():
            mark = absent_means(model.model_fields[name])
            # Left out: what is not set, and what absence means.
            if value is not None and (mark is None or value != mark.value):
                resolved[name] = value
    faults.raise_any()
    return dict(sorted(resolved.items()))
