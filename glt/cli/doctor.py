"""`doctor`: check every file of a store, say what is wrong, and with `--repair` move it out of the way."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from glt.cli.arguments import add_json, add_store, open_store, print_json
from glt.cli.doctor_lines import clear_progress, lines_on, show_progress
from glt.cli.doctor_summary import MANY, conclusion, kinds
from glt.cli.main import DONE, FAILED
from glt.cli.verb import VERBS, Verb
from glt.errors import StoreError
from glt.formats import file_size, number_of
from glt.store import folder_size
from glt.user_path import default_store

if TYPE_CHECKING:
    from glt.doctor import Examined, Repaired
    from glt.doctor.environment import Machine
    from glt.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add the runs, and whether what is found is mended."""
    told = "names of runs in the store, or paths of their folders (default: all, the store itself and this machine)"
    parser.add_argument("runs", nargs="*", metavar="RUN", help=told)
    parser.add_argument(
        "--repair",
        "--mend",
        dest="repair",
        action="store_true",
        help="move aside what is damaged or left over; nothing is deleted",
    )
    add_store(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Report what is found, a line each, and repair it where asked to; 1 when something is left."""
    from glt.doctor import examine, examine_store

    store = open_store(args, writable=args.repair)
    looked: Iterable[Examined]
    machine = None
    if args.runs:
        looked = map(examine, map(store.folder, dict.fromkeys(args.runs)))
    else:
        _check_is_there(store, args)
        looked, machine = examine_store(store), _machine(store)
    # Each is repaired at once, before anything else can change it.
    for line in machine.lines if machine and not args.json else ():
        print(line)
    results = list(_results(looked, args))
    notes = [] if args.runs else list(_notes(store))
    if args.json:
        print_json({**_document(results, machine), "notes": notes})
    else:
        is_fit = machine is None or not machine.faults
        for line in (*kinds(results), *notes, conclusion(results, store.root, is_fit)):
            print(line)
    left = any(finding.is_fault for _, result in results for finding in result.left) or (
        machine is not None and machine.faults
    )
    return FAILED if left else DONE


def _results(looked: Iterable[Examined], args: Namespace) -> Iterator[tuple[Examined, Repaired]]:
    """Look at one folder after the other, and say at once what was found."""
    for number, examined in enumerate(looked, start=1):
        result = _repaired(examined, args.repair)
        if not args.json:
            clear_progress()
            for line in lines_on(examined, result):
                print(line, flush=True)
            show_progress(number)
        yield examined, result
    clear_progress()


def _check_is_there(store: Store, args: Namespace) -> None:
    """Raise StoreError for a store that somebody named and that is not there; the usual one need not be made yet."""
    if not store.root.exists() and args.store != default_store():
        raise StoreError(f"There is no store at {store.root}: name the folder your runs are in with --store.")


def _repaired(examined: Examined, wanted: bool) -> Repaired:
    """Repair where that is wanted; where it cannot be done, say why and go on."""
    from glt.doctor import Repaired, repair

    try:
        return repair(examined) if wanted else Repaired((), examined.findings, None)
    except StoreError as error:
        print(error, file=sys.stderr)
        return Repaired((), examined.findings, None)


def _machine(store: Store) -> Machine:
    from glt.doctor.environment import machine

    return machine(store)


def _notes(store: Store) -> Iterator[str]:
    """Say what takes up room and may be thrown away."""
    if trashed := store.trashed():
        size = file_size(sum(map(folder_size, trashed)))
        yield f"In the trash: {number_of(len(trashed), 'run')}, {size}; python -m glt delete --empty-trash frees it."
    aside = [folder for folder in store.set_aside() if folder.is_dir()]
    if aside:
        size = file_size(sum(map(folder_size, aside)))
        places = f"{', '.join(map(str, aside[:MANY]))}{' and others' if len(aside) > MANY else ''}"
        yield f"Set aside by repairs: {size} in {places}; delete it when you no longer need it."


def _document(results: Sequence[tuple[Examined, Repaired]], machine: Machine | None) -> dict[str, Any]:
    looked = [
        {
            "folder": str(examined.folder),
            "busy": list(examined.busy),
            "findings": [finding.as_json() for finding in result.left],
            "mended": [finding.as_json() for finding in result.mended],
            "set_aside": None if result.aside is None else str(result.aside),
        }
        for examined, result in results
    ]
    return {"looked_at": looked} | ({} if machine is None else {"machine": machine.as_json()})


VERBS.register(Verb("doctor", "Check every file of a store, and repair damage", add_arguments, run))
