"""The paper's hyper-parameters as data: by data set, model and task, for what nobody sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glt.config import CORE_FIELDS

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
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "gamma_graph": 1e-4,
    "gamma_weight": 1e-4,
    "dropout": 0.0,
}
# The step size of the GAE (Kipf and Welling 2016); at the authors' a supervised encoder is far from trained after 200
# epochs.
SUPERVISED_LINK_VALUES: Values = {**LINK_VALUES, "learning_rate": 1e-2}
TASK_OPTIONS: dict[str, Values] = {"link": {"gat_heads": 1}}
# Links of a data set that brings its own split; that nothing stands between layers belongs to GIC's encoder alone.
SPLIT_OPTIONS: Values = {"link_objective": "hadamard", "hidden_activation": "relu"}
# Deep networks (paper, appendix; what it does not print, as the authors' scripts): fields and options together.
DEEP_OPTIMISER: Values = {"layers": 28, "learning_rate": 1e-2, "weight_decay": 0.0}
DEEP: dict[tuple[str, str], Values] = {
    ("resgcn", "ogbn-arxiv"): {
        **DEEP_OPTIMISER,
        "hidden": 128,
        "dropout": 0.5,
        "epochs": 500,
        "retrain_epochs": 500,
        "gamma_graph": 1e-6,
        "gamma_weight": 1e-6,
        "gen_t": 0.1,
        "gen_norm": "batch",
        "gen_mlp": 1,
        "gen_self_loops": True,
    },
    ("resgcn", "ogbn-proteins"): {
        **DEEP_OPTIMISER,
        "hidden": 64,
        "dropout": 0.1,
        "epochs": 100,
        "retrain_epochs": 100,
        "gamma_graph": 1e-1,
        "gamma_weight": 1e-3,
        "gen_t": 1.0,
        "gen_norm": "layer",
        "gen_mlp": 2,
        "batch_clusters": 10,
        "batch_clusters_eval": 5,
        "cluster_steps": 10,
    },
    ("resgcn", "ogbl-collab"): {
        **DEEP_OPTIMISER,
        "hidden": 128,
        "dropout": 0.0,
        "epochs": 500,
        "retrain_epochs": 500,
        "gamma_graph": 1e-6,
        "gamma_weight": 1e-5,
        "gen_t": 1.0,
        "gen_norm": "batch",
        "gen_mlp": 1,
    },
}
# Where the authors' scripts for deep networks are not as the paper is printed.
OFFICIAL_DEEP: dict[tuple[str, str], Values] = {
    ("resgcn", "ogbn-arxiv"): {
        "epochs": 250,
        "search_learning_rate": 1e-3,
        "gamma_weight": 1e-4,
        "gen_gradient": "stopped",
    },
    ("resgcn", "ogbn-proteins"): {"schedule": "one_run"},
    ("resgcn", "ogbl-collab"): {"schedule": "one_run"},
}


def hyper_parameters(model: str, dataset: str, task: str, objective: str) -> Values:
    """Return the paper's widths, lengths, optimiser settings and penalties; empty where it gives none."""
    deep = DEEP.get((model, dataset))
    if deep is not None:
        return {name: value for name, value in deep.items() if name in CORE_FIELDS}
    if task == "link":
        return LINK_VALUES if objective == "gic" else SUPERVISED_LINK_VALUES
    return {**OPTIMISER.get(dataset, {}), **PENALTIES.get((model, dataset), {})}


def usual_options(model: str, dataset: str, task: str, brings_split: bool) -> Values:
    """Return the options chosen where the user chooses none, whether or not the method and model have them."""
    split = SPLIT_OPTIONS if task == "link" and brings_split else {}
    deep = DEEP.get((model, dataset), {})
    own = {name: value for name, value in deep.items() if name not in CORE_FIELDS}
    return {**TASK_OPTIONS.get(task, {}), **split, **own}
