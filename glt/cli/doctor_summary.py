"""The end of what `doctor` says: how often each kind of finding occurs in many runs, and what the whole comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from glt.formats import count, number_of
from glt.store import paths

if TYPE_CHECKING:
    from glt.doctor import Examined, Finding, Repaired

Results = Sequence[tuple["Examined", "Repaired"]]
UNFIT = "GLT Studio cannot work here as it is: see the first lines"
# Fewer runs than these are as soon read one by one.
MANY = 5
# What differs from run to run within one kind.
NUMBER = re.compile(r"\d+")
OTHER = "..."


def kinds(results: Results) -> Iterator[str]:
    """Count the runs in which a kind of finding occurs, the most frequent first, for kinds that occur in many."""
    left = _runs_by_kind([(examined.folder, result.left) for examined, result in results])
    mended = _runs_by_kind([(examined.folder, result.mended) for examined, result in results])
    told = [*(("Repaired in", kind, runs) for kind, runs in mended.items()), *(("In", *each) for each in left.items())]
    for when, kind, runs in sorted(told, key=lambda each: -len(each[2])):
        if len(runs) >= MANY:
            yield f"{when} {count(len(runs))} runs: {kind}."


def _runs_by_kind(found: Sequence[tuple[Path, Sequence[Finding]]]) -> dict[str, set[Path]]:
    runs: dict[str, set[Path]] = {}
    for folder, finding in chain.from_iterable(((folder, each) for each in findings) for folder, findings in found):
        runs.setdefault(_kind(finding), set()).add(folder)
    return runs


def _kind(finding: Finding) -> str:
    """Say what is wrong without the numbers and names of one run."""
    name = finding.path.name
    is_ours = finding.is_fault and (paths.is_of_seed(name) or paths.is_of_run(name))
    told = f"{name if is_ours else 'a file or folder'} {finding.wrong}"
    return NUMBER.sub(OTHER, paths.RUN_FOLDER.sub(OTHER, told))


def conclusion(results: Results, store: Path, is_fit: bool) -> str:
    """Say what was looked at, what the whole comes to, and what to do next."""
    found = sum(finding.is_fault for _, result in results for finding in (*result.left, *result.mended))
    folders = [examined.folder for examined, _ in results if not examined.is_store]
    verdict = _verdict(found, results) if found or is_fit else f"no damage found, but {UNFIT}."
    return f"{_where(folders, store)}: {_looked_at(results)} looked at, {verdict}"


def _where(folders: Sequence[Path], store: Path) -> str:
    """Name the folders in which the runs lie: the store, unless they were given by paths of elsewhere."""
    around = dict.fromkeys(folder.parent for folder in folders)
    elsewhere = [str(parent) for parent in around if parent.resolve() != store.resolve()]
    inside = [str(store)] if len(elsewhere) < len(around) or not around else []
    return ", ".join([*inside, *elsewhere])


def _looked_at(results: Results) -> str:
    looked = [examined for examined, _ in results if not examined.is_store]
    is_run = any(examined.run is not None or paths.has_run_name(examined.folder.name) for examined in looked)
    return number_of(len(looked), "run" if is_run or not looked else "folder")


def _verdict(found: int, results: Results) -> str:
    left = [finding for _, result in results for finding in result.left if finding.is_fault]
    if not found:
        return "all well."
    if not left:
        return f"{number_of(found, 'thing')} repaired."
    able = sum(finding.repair is not None for finding in left)
    hint = f": --repair repairs {able} of them" if able else ", which only you can put right"
    return f"{number_of(len(left), 'thing')} wrong{hint}."
