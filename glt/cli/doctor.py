"""`doctor`: check every file of a store and, with `--repair`, move damage aside."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glt.cli import options
from glt.cli.main import DONE, FAILED, Args, verb
from glt.errors import StoreError
from glt.formats import as_typed, count, file_size, listing, number_of

if TYPE_CHECKING:
    from glt.doctor import Examined, Finding, Repaired
    from glt.doctor.environment import Machine
    from glt.store import Store

CLEARED = "\r\x1b[K"
Results = Sequence[tuple["Examined", "Repaired"]]
UNFIT = "GLT Studio cannot work on this machine: see the first lines"
# Fewer runs than these are as soon read one by one.
MANY = 5
# What differs from run to run within one kind.
NUMBER = re.compile(r"\d+")
OTHER = "..."


@verb("doctor", "doctor", "doctor RUN --repair", "doctor --store other --json")
@options.argument(
    "runs",
    metavar="[RUN]...",
    type=options.RunName(),
    nargs=-1,
    help="names of runs in the store, or paths of folders; by default all, the store itself and this machine",
)
@options.flag("--repair", "--mend", "repair", help="move aside what is damaged or left over; nothing is deleted")
@options.store
@options.as_json
def doctor(args: Args) -> int:
    """Check every file of a store, and repair damage.

    Each finding is one line. The exit code is 1 when something is found and not repaired.
    """
    from glt.doctor import examine, examine_store
    from glt.doctor.environment import machine as examine_machine

    open_store = options.open_store if args.runs else options.open_existing_store
    store = open_store(args, writable=args.repair)
    looked: Iterable[Examined]
    machine = None
    if args.runs:
        looked = map(examine, map(store.folder, dict.fromkeys(args.runs)))
    else:
        looked, machine = examine_store(store), examine_machine(store)
    for line in machine.lines if machine and not args.json else ():
        print(line)
    results = list(_results(looked, args))
    notes = [] if args.runs else list(_notes(store))
    if args.json:
        options.print_json({**_document(results, machine), "notes": notes})
    else:
        is_fit = machine is None or not machine.faults
        for line in (*kinds(results), *notes, conclusion(results, store.root, is_fit)):
            print(line)
    left = any(finding.is_fault for _, result in results for finding in result.left) or (
        machine is not None and machine.faults
    )
    return FAILED if left else DONE


def _results(looked: Iterable[Examined], args: Args) -> Iterator[tuple[Examined, Repaired]]:
    """Check folder by folder; repair and report each at once, before anything else can change it."""
    from glt.doctor import Repaired, repair

    for number, examined in enumerate(looked, start=1):
        result = Repaired((), examined.findings, None)
        if args.repair:
            try:
                result = repair(examined)
            except StoreError as error:
                print(error, file=sys.stderr)
        if not args.json:
            _show_progress("")
            for line in lines_on(examined, result):
                print(line, flush=True)
            _show_progress(f"{number_of(number, 'run')} checked")
        yield examined, result
    _show_progress("")


def _notes(store: Store) -> Iterator[str]:
    """Say what uses disk space and can be deleted."""
    from glt.store import folder_size

    if trashed := store.trashed():
        size = file_size(sum(map(folder_size, trashed)))
        yield f"In the trash: {number_of(len(trashed), 'run')}, {size}; {as_typed('delete', '--empty-trash')} frees it."
    aside = [folder for folder in store.set_aside() if folder.is_dir()]
    if aside:
        size = file_size(sum(map(folder_size, aside)))
        places = f"{', '.join(map(str, aside[:MANY]))}{' and others' if len(aside) > MANY else ''}"
        yield f"Set aside by repairs: {size} in {places}; delete it when you no longer need it."


def _document(results: Results, machine: Machine | None) -> dict[str, Any]:
    looked = [
        {
            "folder": str(examined.folder),
            "busy": list(examined.busy),
            "findings": [finding.as_json() for finding in result.left],
            "mended": [finding.as_json() for finding in result.repaired],
            "set_aside": None if result.aside is None else str(result.aside),
        }
        for examined, result in results
    ]
    return {"looked_at": looked} | ({} if machine is None else {"machine": machine.as_json()})


def lines_on(examined: Examined, result: Repaired) -> Iterator[str]:
    """Say what was found in a folder, what was repaired, where files were moved, and what to do next."""
    if examined.busy:
        yield f"{examined.folder}: {listing(examined.busy)} running, not checked."
    for place, finding in _grouped(result.repaired):
        yield f"Repaired: {place} {finding.wrong}; {finding.then}."
    if result.aside is not None:
        yield f"What was moved or cut is in {result.aside}."
    for place, finding in _grouped(result.left):
        yield f"{place} {finding.wrong}: {'with --repair, ' if finding.repair else ''}{finding.then}."
    if examined.run is not None and any("resuming" in finding.then for finding in result.repaired):
        yield f"Continue with: {as_typed('resume', examined.folder)}"


def _show_progress(words: str) -> None:
    """Overwrite the line of progress on a terminal."""
    if sys.stderr.isatty():
        print(f"{CLEARED}{words}", end="", file=sys.stderr, flush=True)


def _grouped(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Return each kind of finding once, with its file, or the run and the seeds it concerns."""
    from glt.store import paths

    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        is_of_seed = paths.seed_of(finding.path.parent.name) is not None
        place = (finding.path.parents[1], finding.path.name) if is_of_seed else (finding.path,)
        groups.setdefault((*place, finding.wrong, finding.then, finding.repair is None), []).append(finding)
    for group in groups.values():
        first = group[0].path
        seeds = [seed for each in group if (seed := paths.seed_of(each.path.parent.name)) is not None]
        run = first.parents[1]
        yield (f"{run}: {first.name} of {listing(seeds)}" if len(group) > 1 else str(first)), group[0]


def kinds(results: Results) -> Iterator[str]:
    """Count the runs of each frequent kind of finding, most frequent first."""
    runs: dict[tuple[str, str], set[Path]] = {}
    for examined, result in results:
        for when, findings in (("Repaired in", result.repaired), ("In", result.left)):
            for finding in findings:
                runs.setdefault((when, _kind(finding)), set()).add(examined.folder)
    for (when, kind), folders in sorted(runs.items(), key=lambda each: (-len(each[1]), each[0][0] == "In")):
        if len(folders) >= MANY:
            yield f"{when} {count(len(folders))} runs: {kind}."


def _kind(finding: Finding) -> str:
    """Return a finding without numbers and names of one run."""
    from glt.store import paths

    name = finding.path.name
    is_ours = finding.is_fault and (paths.is_of_seed(name) or paths.is_of_run(name))
    sentence = f"{name if is_ours else 'a file or folder'} {finding.wrong}"
    return NUMBER.sub(OTHER, paths.RUN_FOLDER.sub(OTHER, sentence))


def conclusion(results: Results, store: Path, is_fit: bool) -> str:
    """Summarise what was checked and where, the result, and what to do next."""
    from glt.store import paths

    looked = [examined for examined, _ in results if not examined.is_store]
    around = dict.fromkeys(examined.folder.parent for examined in looked)
    elsewhere = [str(parent) for parent in around if parent.resolve() != store.resolve()]
    inside = [str(store)] if len(elsewhere) < len(around) or not around else []
    is_run = not looked or any(each.run is not None or paths.has_run_name(each.folder.name) for each in looked)
    checked = number_of(len(looked), "run" if is_run else "folder")
    return f"{', '.join([*inside, *elsewhere])}: {checked} checked, {_verdict(results, is_fit)}"


def _verdict(results: Results, is_fit: bool) -> str:
    left = [finding for _, result in results for finding in result.left if finding.is_fault]
    if left:
        able = sum(finding.repair is not None for finding in left)
        hint = f": --repair repairs {able} of them" if able else ", none of which --repair can fix"
        return f"{number_of(len(left), 'problem')} found{hint}."
    if repaired := sum(finding.is_fault for _, result in results for finding in result.repaired):
        return f"{number_of(repaired, 'problem')} repaired."
    return "no damage found." if is_fit else f"no damage found, but {UNFIT}."
