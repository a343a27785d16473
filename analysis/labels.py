"""Labels of data sets, models, tasks, metrics, settings and runs.

`run_labels` gives every run of a comparison a short label. A name that this version does not know stays as it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analysis import palette
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.formats import inside
from glt.jobs.sweep import value_words
from glt.methods import METHODS
from glt.methods.combine import START_WORDS, Source
from glt.methods.source_run import Half
from glt.models import MODELS
from glt.presets import all_options
from glt.pretraining.augmentations import AUGMENTATIONS
from glt.pretraining.config import PRETRAINING, PretrainConfig
from glt.registry import Registry
from glt.scores import SCORES
from glt.store import AnyRun, Run, annotations_of
from glt.training.tasks import TASKS, metric_of


def dataset_label(name: str) -> str:
    """Return a data set's label.

    >>> dataset_label("cora"), dataset_label("my-own-graph")
    ('Cora', 'my-own-graph')
    """
    return _registry_label(DATASETS, name)


def model_label(name: str) -> str:
    """Return a model's label.

    >>> model_label("gcn")
    'GCN'
    """
    return _registry_label(MODELS, name)


def task_label(name: str, objective: str = "") -> str:
    """Return a task's label as used inside a sentence, with its objective where one is given.

    >>> task_label("node"), task_label("link", "GIC")
    ('node classification', 'link prediction (GIC)')
    """
    words = _registry_label(TASKS, name) + (f" ({objective})" if objective else "")
    return words[:1].lower() + words[1:]


def metric_label(dataset: str, task: str) -> str:
    """Return the name of the score of a task on a data set, as used inside a sentence.

    >>> metric_label("cora", "node"), metric_label("cora", "link"), metric_label("cora", "some-day")
    ('accuracy', 'ROC-AUC', 'score')
    """
    return metric_of(dataset, task) if task in TASKS.names() else "score"


def objective_label(config: RunConfig) -> str:
    """Return a run's training objective; "" where its task has only one.

    >>> objective_label(RunConfig(task="link")), objective_label(RunConfig())
    ('GIC', '')
    """
    return TASKS.get(config.task).objective(config) if config.task in TASKS.names() else ""


def _registry_label(registry: Registry[Any], name: str) -> str:
    return str(registry.get(name).label) if name in registry.names() else name


# Settings

DEFAULT_SETTINGS = RunConfig()
SHARES = frozenset({"p_graph", "p_weight"})
# The method that is a family of methods, and the option that names the one.
SCORE = "score"
# The method that combines halves, and the option that names the source of each.
COMBINATION, COUNTS = "combine", "counts_from"
HALVES: dict[str, Half] = {"edges_from": "edges", "weights_from": "weights"}


def settings_of(config: RunConfig) -> dict[str, Any]:
    """Return all settings that shape a run's rounds, flat, default options included."""
    options = all_options(config)
    ignored = METHODS.get(config.method).ignores
    core = config.model_dump(exclude={"options", "rounds", *ignored})
    return {**core, **{name: value for name, value in sorted(options.items()) if name not in ignored}}


def changed_settings(config: RunConfig) -> int:
    """Return how many core settings of a run are not RunConfig's defaults.

    >>> changed_settings(RunConfig()), changed_settings(RunConfig(hidden=64, p_graph=0.1))
    (0, 2)
    """
    return sum(getattr(config, name) != getattr(DEFAULT_SETTINGS, name) for name in RunConfig.model_fields)


def setting_words(name: str, value: Any) -> str:
    """Write a setting and its value for a legend, under the name of files and the command line.

    >>> setting_words("p_graph", 0.05), setting_words("hidden", 64), setting_words("degree", "target")
    ('p_graph = 5 %', 'hidden = 64', 'degree = target')

    An edge score has its label alone, which names the setting well enough.

    >>> setting_words("score", "local_degree"), setting_words("score", None)
    ('local degree', 'score = default')
    """
    if name == "score" and value in SCORES.names():
        return inside(SCORES.get(value).label)
    if name in HALVES and isinstance(value, str):
        return Source.of(HALVES[name], value).words(HALVES[name])
    if name == "start" and value in START_WORDS:
        return START_WORDS[value]
    if name in SHARES:
        return f"{name} = {100 * value:g} %"
    return f"{name} = {'default' if value is None else value_words(value)}"


def value_order(value: Any) -> tuple[bool, float, str]:
    """Return the sort key of a setting's value: numbers by size, then words.

    >>> sorted([64, "auto", 8], key=value_order)
    [8, 64, 'auto']
    """
    number = isinstance(value, (int, float))
    return not number, float(value) if number else 0.0, str(value)


# Titles and colours from users


def with_titles(labels: Mapping[str, str], runs: Iterable[AnyRun]) -> dict[str, str]:
    """Return labels by reference, replaced by users' titles; equal titles get the end of the run's name.

    >>> with_titles({"a-1": "UGS"}, [])
    {'a-1': 'UGS'}
    """
    titles = {name: annotation.title for name, annotation in annotations_of(runs).items() if annotation.title}
    titled = {**labels, **titles}
    counts = Counter(titled.values())
    return {
        name: f"{label} ({name.rsplit('-', 1)[-1]})" if name in titles and counts[label] > 1 else label
        for name, label in titled.items()
    }


def short_title(run: Run) -> str:
    """Return a short label of a run: its title, else its method."""
    return run.annotation.title or method_words(run.config)


def method_words(config: RunConfig) -> str:
    """Return a run's method; an edge score, and the halves of a combination, are named: each is a method of its own.

    >>> method_words(RunConfig()), method_words(RunConfig(method="score"))
    ('UGS', 'Edge score (local degree)')
    """
    words, options = palette.label(config.method), all_options(config)
    named = [SCORE] if config.method == SCORE else list(HALVES) if config.method == COMBINATION else []
    details = ", ".join(setting_words(name, options[name]) for name in named)
    return f"{words} ({details})" if details else words


def pretraining_title(config: PretrainConfig) -> str:
    """Return a pre-training's title: GraphCL, data set, task if not the default, augmentation, width."""
    links = ", link prediction" if config.task == "link" else ""
    augmentation = inside(AUGMENTATIONS.get(config.augmentation).label)
    return f"GraphCL · {DATASETS.get(config.dataset).label}{links} · {augmentation} · {config.hidden} wide"


# Labels of runs

# Settings that follow from a difference in one of these are left out of labels.
SUBJECT_LABELS = {"dataset": dataset_label, "model": model_label, "task": task_label}
Settings = Mapping[str, Any]
# Of settings that distinguish runs equally well, labels use the first of these.
PREFERRED = ("hidden", "layers", "p_graph", "p_weight", "degree", "edge_mask")


def run_labels(runs: Sequence[Run]) -> dict[str, str]:
    """Return a label for every run, by reference: "UGS", or "UGS (degree = target)" where runs differ in that setting.

    Runs of one method are distinguished by any setting, runs of two methods by settings that both use. A user's title
    replaces the label. Examples among the user's own runs are tagged: "UGS (example)".
    """
    subjects: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        subjects[tuple(words(getattr(run.config, name)) for name, words in SUBJECT_LABELS.items())].append(run)
    varying = [place for place, values in enumerate(zip(*subjects, strict=True)) if len(set(values)) > 1]
    computed = {}
    for subject, group in subjects.items():
        for name, (method, details) in _differing_settings(group).items():
            told = [*(subject[place] for place in varying), *details]
            computed[name] = palette.label(method) + (f" ({', '.join(told)})" if told else "")
    labels = with_titles(computed, runs)
    is_mixed = len({run.is_bundled for run in runs}) > 1
    counts = Counter(run.name for run in runs if not run.is_bundled)
    for run in runs:
        if run.is_bundled:
            tag = "example" if is_mixed else ""
        else:
            tag = str(run.path.parent) if counts[run.name] > 1 else ""
        labels[run.reference] = _tagged(labels[run.reference], tag)
    return {run.reference: labels[run.reference] for run in runs}


def _tagged(label: str, tag: str) -> str:
    """Add a tag to a label, inside its closing bracket where it has one.

    >>> _tagged("UGS", "example"), _tagged("UGS (hidden = 8)", "example"), _tagged("UGS", "")
    ('UGS (example)', 'UGS (hidden = 8, example)', 'UGS')
    """
    if not tag:
        return label
    return f"{label[:-1]}, {tag})" if label.endswith(")") else f"{label} ({tag})"


def setting_details(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return the settings that distinguish runs of one method on one subject, by reference.

    Few settings are enough: each step adds the one that distinguishes most of the runs that are still alike.
    """
    details_of = {name: details for name, (_, details) in _differing_settings(runs).items()}
    columns = list(zip(*details_of.values(), strict=True))
    chosen: list[int] = []
    while (place := _most_distinguishing(columns, chosen)) is not None:
        chosen.append(place)
    return {name: [details[place] for place in sorted(chosen)] for name, details in details_of.items()}


def _most_distinguishing(columns: Sequence[tuple[str, ...]], chosen: Sequence[int]) -> int | None:
    """Return the column that, added to the chosen ones, distinguishes most rows; None where none helps."""

    def kinds(places: Sequence[int]) -> int:
        return len(set(zip(*(columns[place] for place in places), strict=True))) if places else 1

    def preference(place: int) -> int:
        name = columns[place][0].partition(" = ")[0]
        return PREFERRED.index(name) if name in PREFERRED else len(PREFERRED)

    order = sorted(range(len(columns)), key=preference)
    best = max(order, key=lambda place: kinds([*chosen, place]), default=None)
    return best if best is not None and kinds([*chosen, best]) > kinds(chosen) else None


def _differing_settings(runs: Sequence[Run]) -> dict[str, tuple[str, list[str]]]:
    """Return the method of every run and the settings in which runs on its subject differ."""
    methods = {run.reference: run.config.method for run in runs}
    # A random start is a setting too.
    flat = {
        run.reference: {PRETRAINING: None, **{k: v for k, v in settings_of(run.config).items() if k != "method"}}
        for run in runs
    }
    names = sorted({name for settings in flat.values() for name in settings})
    differing = [name for name in names if _differs(name, flat, methods)]
    return {run: (method, _details(method, run, flat, methods, differing)) for run, method in methods.items()}


def _details(
    method: str, run: str, flat: Mapping[str, Settings], methods: Mapping[str, str], differing: Sequence[str]
) -> list[str]:
    known = {name for other, settings in flat.items() if methods[other] == method for name in settings}
    # An edge score and the halves of a combination are always named, because each is a method of its own.
    named = sorted({*differing, SCORE}) if method == SCORE else differing
    if method == COMBINATION:
        sources = {flat[other].get(COUNTS) for other, kind in methods.items() if kind == method} - {None, ""}
        others = [name for name in differing if name not in HALVES and (name != COUNTS or len(sources) > 1)]
        named = [*HALVES, *others]
    details = [setting_words(name, flat[run].get(name)) for name in named if name in known and name != PRETRAINING]
    starts = {settings[PRETRAINING] for settings in flat.values()}
    return details if len(starts) == 1 else [*details, _start(flat[run][PRETRAINING], len(starts - {None}))]


def _differs(name: str, flat: Mapping[str, Settings], methods: Mapping[str, str]) -> bool:
    """Return whether a setting has two values, or only some runs of one method have it."""
    if len({repr(settings[name]) for settings in flat.values() if name in settings}) > 1:
        return True
    presence: dict[str, set[bool]] = defaultdict(set)
    for run, settings in flat.items():
        presence[methods[run]].add(name in settings)
    return any(len(answers) > 1 for answers in presence.values())


def _start(name: str | None, several: int) -> str:
    if name is None:
        return "random start"
    return "pre-trained start" if several == 1 else f"start {name}"
