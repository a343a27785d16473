"""`doctor`: look at every file of a store, say what is wrong, and with `--mend` move it out of the way."""

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
    from glt.doctor import Examined
    from glt.doctor.machine import Machine
    from glt.doctor.mending import Mended
    from glt.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Add the runs, and whether what is found is mended."""
    told = "names of runs in the store, or paths of their folders (default: all, the store itself and this machine)"
    parser.add_argument("runs", nargs="*", metavar="RUN", help=told)
    parser.add_argument(
        "--mend", action="store_true", help="move aside what is damaged or left over; nothing is deleted"
    )
    add_store(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    """Report what is found, a line each, and mend it where asked to; 1 when something is found and not mended."""
    from glt.doctor import examine, examine_store

    store = open_store(args, writable=args.mend)
    looked: Iterable[Examined]
    machine = None
    if args.runs:
        looked = map(examine, map(store.folder, dict.fromkeys(args.runs)))
    else:
        _check_is_there(store, args)
        looked, machine = examine_store(store), _machine(store)
    # Each is mended at once: what was seen of it holds for moments.
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


def _results(looked: Iterable[Examined], args: Namespace) -> Iterator[tuple[Examined, Mended]]:
    """Look at one folder after the other, and say at once what was found."""
    for number, examined in enumerate(looked, start=1):
        result = _mended(examined, args.mend)
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


def _mended(examined: Examined, wanted: bool) -> Mended:
    """Mend where that is wanted; where it cannot be done, why is said and the next run is looked at."""
    from glt.doctor.mending import Mended, mend

    try:
        return mend(examined) if wanted else Mended((), examined.findings, None)
    except StoreError as error:
        print(error, file=sys.stderr)
        return Mended((), examined.findings, None)


def _machine(store: Store) -> Machine:
    from glt.doctor.machine import machine

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
        yield f"Set aside by mending: {size} in {places}; delete it when it is not wanted any more."


def _document(results: Sequence[tuple[Examined, Mended]], machine: Machine | None) -> dict[str, Any]:
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


VERBS.register(Verb("doctor", "Look for damage in a store, and mend it", add_arguments, run))
