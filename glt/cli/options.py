"""Options that several verbs share, readers of their values, and ways to write results."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from glt.cli.main import Args, Argument, ManyOption, Option
from glt.errors import ConfigError, StoreError, brief, quoted, unknown_name
from glt.formats import file_size
from glt.registry import Registry
from glt.user_path import DEFAULT_STORE, STORE_VARIABLE, default_store, user_path

if TYPE_CHECKING:
    from rich.table import Table

    from glt.store import KnownRun, SeedRun, Store

# A 64-bit integer has up to 19 digits.
MOST_DIGITS = 18
# What Python makes of bytes that the locale's encoding does not have (PEP 383).
_ESCAPED = re.compile("[\udc80-\udcff]")
FORM = "key=value, as in rounds=5"

# What puts options on the function of a verb.
Decorator = Callable[[Any], Any]


# Types of values.


class Value(click.ParamType[Any]):
    """A value that `read` makes of a word; it raises ConfigError for a bad one."""

    def __init__(self, name: str, read: Callable[[str], Any], completion: str = "") -> None:
        self.name = name
        self._read = read
        self._completion = completion

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a word; a default that is no word stays as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ConfigError as error:
            self.fail(str(error).removesuffix("."), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Have the shell complete paths, where the value is one."""
        return [CompletionItem(incomplete, type=self._completion)] if self._completion else []


class Name(click.ParamType[Any]):
    """A name from a list that is made on demand, by help, shell or an unknown name.

    `noun` says what is named. With `checked` false, the caller rejects unknown names itself.
    """

    def __init__(self, noun: str, names: Callable[[], Iterable[str]], checked: bool = True) -> None:
        self.name = noun
        self.listed = names
        self._checked = checked

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; an unknown one suggests the nearest."""
        if self._checked and value not in self.listed():
            self.fail(unknown_name(self.name, str(value), self.listed()), param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        return [CompletionItem(name) for name in self.listed() if name.startswith(incomplete)]


class RunName(click.ParamType[Any]):
    """The name of a run in the store, `examples/NAME`, or a path."""

    name = "run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name as it is: the store reports unknown names."""
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return matching runs and examples, or let the shell complete a path."""
        from glt.store import paths

        root = ctx.params.get("store") or default_store()
        names = [path.name for path in sorted(root.glob("*")) if paths.has_run_name(path.name)]
        names += [f"{paths.EXAMPLES_PREFIX}{path.name}" for path in sorted(paths.EXAMPLES.iterdir()) if path.is_dir()]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="dir")]


def registered(noun: str, module: str, registry: str, checked: bool = False) -> Name:
    """Return the type of names in a registry, which is imported on demand."""

    def names() -> list[str]:
        entries = getattr(import_module(module), registry)
        return list(entries.names() if isinstance(entries, Registry) else entries)

    return Name(noun, names, checked)


def choice(noun: str, *names: str) -> Name:
    """Return the type of one of a few fixed names."""
    return Name(noun, lambda: names)


# Readers.


def place(text: str) -> Path:
    """Read the path of a file or a folder, `~` for a home folder; raises ConfigError for an empty one.

    >>> place("my runs").name
    'my runs'
    """
    if not text.strip():
        raise ConfigError("an empty path: name a file or a folder")
    return user_path(text)


def words(text: str) -> str:
    r"""Read text; raises ConfigError if it is not UTF-8.

    In an ASCII locale Python passes every byte beyond ASCII as half a surrogate pair.

    >>> words("Gr\udcc3\udcb6\udcc3\udc9fe")
    'Größe'
    """
    if not _ESCAPED.search(text):
        return text
    try:
        return text.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise ConfigError(f"{quoted(text)} is not valid UTF-8: write it in UTF-8") from None


def points(text: str) -> float:
    """Read percentage points that are not negative as a fraction; raises ConfigError.

    >>> points("0.5")
    0.005
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 100:
        raise ConfigError(f"{quoted(text)} is not a number of percentage points below 100 (0.5, 1, ...)")
    return number / 100


def count(text: str) -> int:
    """Read a whole number that is not negative; raises ConfigError."""
    if not text.isascii() or not text.isdigit():
        raise ConfigError(f"{quoted(text)} is not a whole number (0, 1, 2, ...)")
    if len(text) > MOST_DIGITS:
        raise ConfigError(f"{quoted(text)} is too large")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number of at least 1; raises ConfigError."""
    number = count(text)
    if number < 1:
        raise ConfigError(f"{quoted(text)} is less than 1")
    return number


def threads(text: str) -> int:
    """Read a number of compute threads; raises ConfigError, also for more than this machine has cores."""
    from glt.jobs.devices import refuse_too_many

    return refuse_too_many(positive(text))


def seed_list(text: str) -> list[int]:
    """Read seeds, one by one or as ranges; raises ConfigError."""
    from glt.seeds import read_seeds

    return list(read_seeds(text))


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers with commas between them; raises ConfigError.

    >>> numbers("3,17")
    (3, 17)
    """
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ConfigError(f"{quoted(text)} is not a list of numbers such as 3,17")
    return tuple(map(count, parts))


def devices(text: str) -> tuple[str, ...]:
    """Read devices with commas between them; raises ConfigError for what is none.

    >>> devices("cuda:0,cuda:1")
    ('cuda:0', 'cuda:1')
    """
    from glt.jobs.devices import read_device

    return tuple(read_device(name) for name in text.split(","))


def assignment(text: str, form: str = FORM) -> tuple[str, str]:
    """Read `key=value`; raises ConfigError that asks for the `form`.

    >>> assignment("rounds=5")
    ('rounds', '5')
    """
    name, equals, value = words(text).partition("=")
    if equals and name.strip() and not value.strip():
        raise ConfigError(f"{brief(name.strip())} has no value; write {form}")
    if not equals or not name.strip():
        raise ConfigError(f"{quoted(text)} is not a setting; write {form}")
    return name.strip(), value.strip()


COUNT, POSITIVE, THREADS = Value("count", count), Value("count", positive), Value("threads", threads)
SEEDS = Value("seeds", seed_list)
FILE, FOLDER = Value("file", place, "file"), Value("folder", place, "dir")
WORDS = Value("text", words)


# Options.

option: Callable[..., Decorator] = partial(click.option, cls=Option)
argument: Callable[..., Decorator] = partial(click.argument, cls=Argument)
# An option that takes one value or more.
many: Callable[..., Decorator] = partial(click.option, cls=ManyOption, multiple=True)


def flag(*names: str, help: str, **settings: Any) -> Decorator:  # noqa: A002
    """Declare an option without a value."""
    return option(*names, is_flag=True, help=help, **settings)


def all_of(*decorators: Decorator) -> Decorator:
    """Declare several options, listed in this order."""

    def declare(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return declare


store = option(
    "--store", type=FOLDER, default=DEFAULT_STORE, envvar=STORE_VARIABLE, show_envvar=True, show_default=True,
    metavar="S", help="folder of runs",
)  # fmt: skip
RUN_HELP = "name of a run in the store, examples/NAME for a bundled one, or a path"
run_argument = all_of(argument("run", metavar="RUN", type=RunName(), help=RUN_HELP), store)
runs_argument = all_of(
    argument("runs", metavar="RUN...", type=RunName(), nargs=-1, required=True, help=RUN_HELP), store
)
round_argument = all_of(
    run_argument,
    option("--round", type=COUNT, required=True, metavar="K", help="round; 0 is the dense network"),
    option("--seed", type=COUNT, metavar="N", show_default="the first one", help="seed"),
)
as_json = flag("--json", help="print one JSON document and nothing else")
progress = flag("--progress", help="print the share done on standard error, one line each")


def _default_margin() -> str:
    from glt.verdicts import DELTA

    return f"{100 * DELTA:g}"


# Older scripts call it --tolerance.
margin = option(
    "--margin", "--tolerance", type=Value("points", points), default=_default_margin, show_default=True, metavar="P",
    help="a ticket must be shown to lose less than P percentage points; choose it before looking",
)  # fmt: skip


def seeds(default: str = "0") -> Decorator:
    """Declare `--seeds`."""
    text = "random seeds, as in 0,1,2 or 0-4"
    return option("--seeds", type=SEEDS, default=default, show_default=True, metavar="N,...", help=text)


some_seeds = option("--seeds", type=SEEDS, metavar="N,...", show_default="all", help="only these seeds")


def settings(example: str) -> Decorator:
    """Declare `--set`, which may be given several times with several settings each."""
    return assignments("--set", "KEY=VALUE", f"any other setting, as in --set {example}")


def assignments(name: str, metavar: str, text: str, form: str = FORM) -> Decorator:
    """Declare an option that collects `key=value` pairs; the message about a bad one asks for `form`."""
    read = Value("setting", lambda given: assignment(given, form))
    return many(name, type=read, metavar=f"{metavar} ...", help=text)


def _chosen_devices(ctx: click.Context, _: click.Parameter, value: tuple[str, ...] | None) -> None:
    if value is None:
        return
    if ctx.params.get("device") is not None:
        raise click.UsageError("--device and --devices exclude each other: give one of them", ctx)
    ctx.params["device"] = value


computing = all_of(
    option("--device", type=registered("device", "glt.jobs.devices", "KINDS", checked=True), is_eager=True, metavar="D",
           show_default="cpu",
           help="where to compute"),
    option("--devices", type=Value("devices", devices), expose_value=False, callback=_chosen_devices, metavar="D,...",
           help="devices to spread seeds over, as in cuda:0,cuda:1; each CUDA device computes one seed at a time"),
    option("--threads", type=THREADS, metavar="T", show_default="1", help="compute threads per seed"),
    flag("--detach", help="return at once; the run continues in the background"),
)  # fmt: skip


# What the options name.


def open_store(args: Args, writable: bool = False) -> Store:
    """Return the store named by `--store`."""
    from glt.store import Store

    return Store(args.store, writable)


def open_existing_store(args: Args, writable: bool = False) -> Store:
    """Return the store named by `--store`; raises StoreError if it is missing and not the default one."""
    found = open_store(args, writable)
    # The default store need not exist yet.
    if not found.root.exists() and args.store != default_store():
        raise StoreError(f"There is no store at {found.root}: name the folder your runs are in with --store.")
    return found


def find_any_run(args: Args, writable: bool = False) -> KnownRun:
    """Return what RUN names, a run with rounds or a pre-training; raises StoreError when there is none."""
    return open_store(args, writable).find_any(args.run)


def find_seed_run(args: Args) -> SeedRun:
    """Return the seed that RUN and `--seed` name; raises StoreError when there is none."""
    return open_store(args).find(args.run).existing_seed(args.seed)


# Results.


def report_share(args: Args, share: float) -> None:
    """Print the share done where `--progress` asks for it; a program that started the command reads it."""
    if args.progress:
        print(f"{share:.4f}", file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(document, indent=2, allow_nan=False))


def print_plain(console: Any, lines: Iterable[str]) -> None:
    """Print lines on a Rich console without markup, colours or wrapping."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def plain_table(*columns: str, numbers: bool = False, **settings: Any) -> Table:
    """Return a Rich table with a rule below its header; columns of `numbers` are right-aligned and never wrapped."""
    from rich import box
    from rich.table import Table

    table = Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, **settings)
    for column in table.columns if numbers else ():
        column.justify, column.no_wrap = "right", True
    return table


def write_file(path: Path, content: bytes, name: str = "--out") -> None:
    """Write a file whole; raises StoreError that asks for another value of the option `name`.

    The target of a link is written, and the link stays. Devices and pipes (/dev/stdout) are written into: renaming a
    file over them would replace them for the whole machine.
    """
    from glt.store.atomic_io import replace_file

    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            path.write_bytes(content)
        else:
            replace_file(path.resolve() if path.is_symlink() else path, content)
    except (StoreError, OSError, RuntimeError) as error:
        # The store's own sentence speaks of another store; a RuntimeError is that of links which lead to each other.
        cause = error.__cause__ if isinstance(error, StoreError) else error
        reason = getattr(cause, "strerror", None) or "the file system refuses"
        raise StoreError(f"{path} cannot be written ({reason}): give another {name}.") from error


def report_written(path: Path, size: int) -> None:
    """Say what was written, unless standard output itself, a pipe or a device was."""
    with suppress(OSError, ValueError):
        if os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno())):
            return
    if path.is_file():
        print(f"Wrote {path}, {file_size(size)}.")


def check_folder_of(path: Path, name: str) -> None:
    """Raise ConfigError if the folder of an output file, given by the option `name`, does not exist."""
    if not path.parent.is_dir():
        raise ConfigError(f"There is no folder {path.parent}: create it, or give another {name}.")
