"""Arguments that several verbs share: which store, which run, which seeds."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glt.errors import ConfigError
from glt.jobs.devices import CPU, CUDA, read_device, refuse_too_many
from glt.printable import quoted
from glt.seeds import read_seeds
from glt.user_path import DEFAULT_STORE, STORE_VARIABLE, user_path
from glt.verdicts import DELTA

if TYPE_CHECKING:
    from glt.store import KnownRun, Run, SeedRun, Store


# What 64 bits hold has 19.
MOST_DIGITS = 18
# What Python makes of bytes that the locale's encoding does not have (PEP 383).
_ESCAPED = re.compile("[\udc80-\udcff]")
FORM = "key=value, as in rounds=5"


def add_store(parser: ArgumentParser) -> None:
    """Add `--store`, the folder whose runs can be called by name; the variable GLT_STORE changes its default."""
    default = os.environ.get(STORE_VARIABLE) or DEFAULT_STORE
    told = f"folder of runs (default: {default})"
    parser.add_argument("--store", type=place, default=default, metavar="S", help=told)


def add_run(parser: ArgumentParser) -> None:
    """Add RUN and `--store`."""
    parser.add_argument(
        "run", metavar="RUN", help="name of a run in the store, examples/NAME for a bundled one, or a path"
    )
    add_store(parser)


def add_round(parser: ArgumentParser) -> None:
    """Add RUN, `--store`, `--round` and `--seed`: one round of one seed."""
    add_run(parser)
    parser.add_argument("--round", type=count, required=True, metavar="K", help="round; 0 is the dense network")
    parser.add_argument("--seed", type=count, metavar="N", help="seed (default: the first one)")


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def add_margin(parser: ArgumentParser) -> None:
    """Add `--margin` (called `--tolerance` before), in points, which a ticket is shown to lose less than."""
    told = f"points that a ticket is shown to lose less than, set before looking (default: {100 * DELTA:g})"
    parser.add_argument("--margin", "--tolerance", type=points, default=DELTA, metavar="POINTS", help=told)


def add_progress(parser: ArgumentParser) -> None:
    """Add `--progress`, by which a program that started the command learns how far it is."""
    parser.add_argument("--progress", action="store_true", help="tell the share done on standard error, a line each")


def tell(args: Namespace, share: float) -> None:
    """Say the share done where `--progress` asks for it."""
    if args.progress:
        print(f"{share:.4f}", file=sys.stderr, flush=True)


def add_computing(parser: ArgumentParser) -> None:
    """Add what it is computed on, and whether the command waits: `--device(s)`, `--threads`, `--detach`."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--device", choices=(CPU, CUDA), help="where it is computed (default: cpu)")
    several = "devices to spread seeds over, as in cuda:0,cuda:1; each CUDA device computes one at a time"
    where.add_argument("--devices", dest="device", type=devices, metavar="D,...", help=several)
    parser.add_argument("--threads", type=threads, metavar="T", help="compute threads of one seed (default: 1)")
    parser.add_argument("--detach", action="store_true", help="return at once; the run goes on by itself")


def add_seeds(parser: ArgumentParser, default: Sequence[int] = (0,)) -> None:
    """Add `--seeds`."""
    told = f"as in 0,1,2 or 0-4 (default: {','.join(map(str, default))})"
    parser.add_argument("--seeds", type=seeds, default=list(default), metavar="N,...", help=told)


def add_set(parser: ArgumentParser, example: str) -> None:
    """Add `--set`, which may be given several times with several settings each."""
    add_assignments(parser, "--set", "KEY=VALUE", f"any other setting, as in --set {example}")


def add_assignments(parser: ArgumentParser, flag: str, metavar: str, told: str, form: str = FORM) -> None:
    """Add an argument that collects `key=value` pairs; `form` is what is asked for where one is none."""
    parser.add_argument(
        flag, type=partial(assignment, form=form), nargs="+", action="extend", default=[], metavar=metavar, help=told
    )


def open_store(args: Namespace, writable: bool = False) -> Store:
    """Return the store named by `--store`."""
    from glt.store import Store

    return Store(args.store, writable)


def find_run(args: Namespace, writable: bool = False) -> Run:
    """Return the run that RUN names; raises StoreError when there is none."""
    return open_store(args, writable).find(args.run)


def find_any_run(args: Namespace, writable: bool = False) -> KnownRun:
    """Return what RUN names, a run with rounds or a pre-training; raises StoreError when there is none."""
    return open_store(args, writable).find_any(args.run)


def find_seed_run(args: Namespace) -> SeedRun:
    """Return the seed that RUN and `--seed` name; raises StoreError when there is none."""
    return find_run(args).existing_seed(args.seed)


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(document, indent=2, allow_nan=False))


def place(text: str) -> Path:
    """Read the path of a file or a folder, `~` for a home folder; raises ArgumentTypeError for an empty one.

    >>> place("my runs").name
    'my runs'
    """
    if not text.strip():
        raise ArgumentTypeError("an empty path: name a file or a folder")
    try:
        return user_path(text)
    except ConfigError as error:
        raise ArgumentTypeError(str(error).removesuffix(".")) from None


def words(text: str) -> str:
    r"""Read words of a person; raises ArgumentTypeError for bytes that are no UTF-8.

    In an ASCII locale Python hands over every byte beyond ASCII as half a surrogate pair.

    >>> words("Gr\udcc3\udcb6\udcc3\udc9fe")
    'Größe'
    """
    if not _ESCAPED.search(text):
        return text
    try:
        return text.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise ArgumentTypeError(f"{quoted(text)} holds bytes that are no UTF-8: write it in UTF-8") from None


def points(text: str) -> float:
    """Read percentage points that are not negative as a fraction; raises ArgumentTypeError.

    >>> points("0.5")
    0.005
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 100:
        raise ArgumentTypeError(f"{quoted(text)} is not a number of percentage points below 100 (0.5, 1, ...)")
    return number / 100


def count(text: str) -> int:
    """Read a whole number that is not negative; raises ArgumentTypeError.

    >>> count("13")
    13
    """
    if not text.isascii() or not text.isdigit():
        raise ArgumentTypeError(f"{quoted(text)} is not a whole number (0, 1, 2, ...)")
    if len(text) > MOST_DIGITS:
        raise ArgumentTypeError(f"{quoted(text)} is too large")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number of at least 1; raises ArgumentTypeError."""
    number = count(text)
    if number < 1:
        raise ArgumentTypeError(f"{quoted(text)} is less than 1")
    return number


def threads(text: str) -> int:
    """Read a number of compute threads; raises ArgumentTypeError, also for more than this machine has cores."""
    number = positive(text)
    try:
        return refuse_too_many(number)
    except ConfigError as error:
        raise ArgumentTypeError(str(error).removesuffix(".")) from None


def seeds(text: str) -> list[int]:
    """Read seeds, one by one or as ranges; raises ArgumentTypeError.

    >>> seeds("0,3-5")
    [0, 3, 4, 5]
    """
    try:
        return list(read_seeds(text))
    except ConfigError as error:
        raise ArgumentTypeError(str(error).removesuffix(".")) from None


def devices(text: str) -> tuple[str, ...]:
    """Read devices with commas between them; raises ArgumentTypeError for what is none.

    >>> devices("cuda:0,cuda:1")
    ('cuda:0', 'cuda:1')
    """
    try:
        return tuple(read_device(name) for name in text.split(","))
    except ConfigError as error:
        raise ArgumentTypeError(str(error).removesuffix(".")) from None


def assignment(text: str, form: str = FORM) -> tuple[str, str]:
    """Read `key=value`; raises ArgumentTypeError.

    >>> assignment("rounds=5")
    ('rounds', '5')
    """
    name, equals, value = words(text).partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ArgumentTypeError(f"{quoted(text)} is no setting; write {form}")
    return name.strip(), value.strip()
