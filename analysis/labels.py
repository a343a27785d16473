"""The words for data sets, models, tasks and metrics; what this version does not know keeps the run folder's name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.style import palette
from glt.config import RunConfig
from glt.datasets import DATASETS
from glt.jobs.sweep import value_words
from glt.methods import METHODS
from glt.models import MODELS
from glt.presets import all_options
from glt.pretraining.config import PRETRAINING
from glt.registry import Registry
from glt.store import AnyRun, Run, annotations_of
from glt.training.tasks import TASKS, metric_of

if TYPE_CHECKING:
    import pandas as pd


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
    """Return a task's label as it stands inside a sentence, with its objective where one is given.

    >>> task_label("node"), task_label("link", "GIC")
    ('node classification', 'link prediction (GIC)')
    """
    words = _registry_label(TASKS, name) + (f" ({objective})" if objective else "")
    return words[:1].lower() + words[1:]


def metric_label(dataset: str, task: str) -> str:
    """Return what the scores of a task on a data set are, as it stands inside a sentence.

    >>> metric_label("cora", "node"), metric_label("cora", "link"), metric_label("cora", "some-day")
    ('accuracy', 'ROC-AUC', 'score')
    """
    return metric_of(dataset, task) if task in TASKS.names() else "score"


def objective_label(config: RunConfig) -> str:
    """Return what a run is trained on, where its task has several objectives.

    >>> objective_label(RunConfig(task="link")), objective_label(RunConfig())
    ('GIC', '')
    """
    return TASKS.get(config.task).objective(config) if config.task in TASKS.names() else ""


def _registry_label(registry: Registry[Any], name: str) -> str:
    return str(registry.get(name).label) if name in registry.names() else name


# The settings of runs: all that shapes one, in the words of legends, and in the order of their values.


DEFAULT_SETTINGS = RunConfig()
SHARES = frozenset({"p_graph", "p_weight"})


def settings_of(config: RunConfig) -> dict[str, Any]:
    """Return what shapes a run's rounds, flat, with the options that its config leaves out."""
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
    """Write a setting and its value as a legend says it, by the name that files and the command line use.

    >>> setting_words("p_graph", 0.05), setting_words("hidden", 64), setting_words("degree", "target")
    ('p_graph = 5 %', 'hidden = 64', 'degree = target')
    """
    if name in SHARES:
        return f"{name} = {100 * value:g} %"
    return f"{name} = {'default' if value is None else value_words(value)}"


def value_order(value: Any) -> tuple[bool, float, str]:
    """Return what sorts the values of one setting: numbers by size, then words.

    >>> sorted([64, "auto", 8], key=value_order)
    [8, 64, 'auto']
    """
    number = isinstance(value, (int, float))
    return not number, float(value) if number else 0.0, str(value)


# What a person calls runs and which colours they chose: it stands in place of what is computed, everywhere.


def with_titles(words: Mapping[str, str], runs: Iterable[AnyRun]) -> dict[str, str]:
    """Return the words for runs, by name, a person's titles in their place; equal ones get the end of the run's name.

    >>> with_titles({"a-1": "UGS"}, [])
    {'a-1': 'UGS'}
    """
    given = {name: said.title for name, said in annotations_of(runs).items() if said.title}
    told = {**words, **given}
    counts = Counter(told.values())
    return {name: _unique_title(name, text, name in given and counts[text] > 1) for name, text in told.items()}


def short_title(run: Run) -> str:
    """Return what to call a run where there is little room: its title, else its method."""
    return run.annotation.title or palette.label(run.config.method)


def own_styles(table: pd.DataFrame) -> dict[str, palette.Style]:
    """Return how each run looks that a person gave a colour; `table` has the columns run, method and color."""
    runs = table[["run", "method", "color"]].drop_duplicates("run").itertuples(index=False, name=None)
    return {run: palette.painted(method, color) for run, method, color in runs if color}


def _unique_title(name: str, text: str, is_double: bool) -> str:
    return f"{text} ({name.rsplit('-', 1)[-1]})" if is_double else text


# What to call each run in a legend: its method, and beyond that only what tells it from the others.


# What runs are about: where they differ in it, other settings that follow from it go without saying.
SUBJECT = {"dataset": dataset_label, "model": model_label, "task": task_label}
Settings = Mapping[str, Any]
# Runs are told apart by the first of these that is enough, by others where none is.
KNOWN_BY = ("hidden", "layers", "p_graph", "p_weight", "degree", "edge_mask")


def run_labels(runs: Sequence[Run]) -> dict[str, str]:
    """Return a label for every run, by its reference: "UGS", or "UGS (degree = target)" where runs differ in that.

    Runs of one method are told apart by whatever differs; runs of two, by what both of them have and use. A title that
    a person gave stands in place of all that. Beside runs of one's own, examples are tagged: "UGS (example)".
    """
    subjects: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        subjects[tuple(words(getattr(run.config, name)) for name, words in SUBJECT.items())].append(run)
    told = [place for place, values in enumerate(zip(*subjects, strict=True)) if len(set(values)) > 1]
    computed = {
        name: _run_label(method, [*(subject[place] for place in told), *details])
        for subject, group in subjects.items()
        for name, (method, details) in _differing_settings(group).items()
    }
    labels = with_titles(computed, runs)
    return {run.reference: _tagged(labels[run.reference], tag) for run, tag in zip(runs, _tags(runs), strict=True)}


def _tags(runs: Sequence[Run]) -> list[str]:
    """Return what to add to the label of each run for where it lies, "" where that goes without saying."""
    mixed = len({run.is_bundled for run in runs}) > 1
    counts = Counter(run.name for run in runs if not run.is_bundled)
    places = [str(run.path.parent) if counts[run.name] > 1 and not run.is_bundled else "" for run in runs]
    return [place or ("example" if mixed and run.is_bundled else "") for run, place in zip(runs, places, strict=True)]


def _tagged(label: str, tag: str) -> str:
    """Add a tag to a label, inside the brackets at its end where it has any.

    >>> _tagged("UGS", "example"), _tagged("UGS (hidden = 8)", "example"), _tagged("UGS", "")
    ('UGS (example)', 'UGS (hidden = 8, example)', 'UGS')
    """
    if not tag:
        return label
    return f"{label[:-1]}, {tag})" if label.endswith(")") else f"{label} ({tag})"


def setting_details(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return, for runs of one method on one subject, the settings that tell each from the others, by its name.

    Of those that differ, as few as tell all runs apart: one after the other what parts most of those that are alike.
    """
    told = {name: details for name, (_, details) in _differing_settings(runs).items()}
    columns = list(zip(*told.values(), strict=True))
    chosen: list[int] = []
    while (place := _parting_most(columns, chosen)) is not None:
        chosen.append(place)
    return {name: [details[place] for place in sorted(chosen)] for name, details in told.items()}


def _parting_most(columns: Sequence[tuple[str, ...]], chosen: Sequence[int]) -> int | None:
    """Return the place of the column that makes the chosen ones tell most rows apart, None where none helps.

    Of several that tell as many apart it is the one that readers know a run by.
    """

    def kinds(places: Sequence[int]) -> int:
        return len(set(zip(*(columns[place] for place in places), strict=True))) if places else 1

    order = sorted(range(len(columns)), key=lambda place: _known_by(columns[place]))
    best = max(order, key=lambda place: kinds([*chosen, place]), default=None)
    return best if best is not None and kinds([*chosen, best]) > kinds(chosen) else None


def _known_by(column: Sequence[str]) -> int:
    name = column[0].partition(" = ")[0]
    return KNOWN_BY.index(name) if name in KNOWN_BY else len(KNOWN_BY)


def _run_label(method: str, details: Sequence[str]) -> str:
    label = palette.label(method)
    return f"{label} ({', '.join(details)})" if details else label


def _differing_settings(runs: Sequence[Run]) -> dict[str, tuple[str, list[str]]]:
    """Return the method of every run, and the settings that tell it from the others on the same subject."""
    methods = {run.reference: run.config.method for run in runs}
    flat = {run.reference: _settings(run.config) for run in runs}
    differing = [name for name in sorted({n for each in flat.values() for n in each}) if _differs(name, flat, methods)]
    return {run: (method, _details(method, run, flat, methods, differing)) for run, method in methods.items()}


def _details(
    method: str, run: str, flat: Mapping[str, Settings], methods: Mapping[str, str], differing: Sequence[str]
) -> list[str]:
    known = {name for other, each in flat.items() if methods[other] == method for name in each}
    details = [setting_words(name, flat[run].get(name)) for name in differing if name in known and name != PRETRAINING]
    starts = {each[PRETRAINING] for each in flat.values()}
    return details if len(starts) == 1 else [*details, _start(flat[run][PRETRAINING], len(starts - {None}))]


def _differs(name: str, flat: Mapping[str, Settings], methods: Mapping[str, str]) -> bool:
    """Say whether runs that have the setting differ in it, or runs of one method of which some lack it."""
    if len({repr(each[name]) for each in flat.values() if name in each}) > 1:
        return True
    held: dict[str, set[bool]] = defaultdict(set)
    for run, each in flat.items():
        held[methods[run]].add(name in each)
    return any(len(answers) > 1 for answers in held.values())


def _start(name: str | None, several: int) -> str:
    if name is None:
        return "random start"
    return "pre-trained start" if several == 1 else f"start {name}"


def _settings(config: RunConfig) -> dict[str, Any]:
    """Return every setting that tells one run from another of any method; a random start is one too."""
    return {PRETRAINING: None, **{name: value for name, value in settings_of(config).items() if name != "method"}}
