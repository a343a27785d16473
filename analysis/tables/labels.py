"""What to call each run in a legend: its method, and beyond that only what tells it from the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from analysis import names, palette
from analysis.settings import setting_words, settings_of
from analysis.titles import with_titles
from glt.config import RunConfig
from glt.pretraining.config import PRETRAINING
from glt.store import Run

# What runs are about: where they differ in it, other settings that follow from it go without saying.
SUBJECT = {"dataset": names.dataset, "model": names.model, "task": names.task}
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
        name: _label(method, [*(subject[place] for place in told), *details])
        for subject, group in subjects.items()
        for name, (method, details) in _told_apart(group).items()
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
    told = {name: details for name, (_, details) in _told_apart(runs).items()}
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


def _label(method: str, details: Sequence[str]) -> str:
    label = palette.label(method)
    return f"{label} ({', '.join(details)})" if details else label


def _told_apart(runs: Sequence[Run]) -> dict[str, tuple[str, list[str]]]:
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
