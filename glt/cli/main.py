"""The command line on Click: verbs, help, and the way from arguments to an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from textwrap import wrap
from types import SimpleNamespace
from typing import Any

import click
from click.shell_completion import shell_complete

from glt import __version__
from glt.errors import LONGEST_MESSAGE, ConfigError, StudioError, brief, unknown_name

DONE, FAILED, BAD_ARGUMENTS, STOPPED = 0, 1, 2, 130
DEBUG_VARIABLE = "GLT_DEBUG"
# Names what a shell asks for, as in eval "$(_GLT_COMPLETE=bash_source glt)".
COMPLETION_VARIABLE = "_GLT_COMPLETE"
HELP_WIDTH = 100
HELP_NAMES = ("-h", "--help")

# Heading of the help -> verb -> where it is, "module:name". Modules are imported when they are asked for.
Sections = Mapping[str, Mapping[str, str]]
SECTIONS: Sections = {
    "Run": {
        "run": "glt.cli.run:run",
        "sweep": "glt.cli.sweep:sweep",
        "reproduce": "glt.cli.reproduce:reproduce",
        "pretrain": "glt.cli.run:pretrain",
        "resume": "glt.cli.run:resume",
        "stop": "glt.cli.run:stop",
    },
    "Inspect": {
        "list": "glt.cli.runs:list_runs",
        "show": "glt.cli.runs:show",
        "audit": "glt.cli.round:audit",
        "cost": "glt.cli.round:cost",
        "latency": "glt.cli.round:latency",
        "predictions": "glt.cli.round:predictions",
    },
    "Share": {
        "export": "glt.cli.ticket:export",
        "import": "glt.cli.ticket:import_",
    },
    "Maintain": {
        "annotate": "glt.cli.runs:annotate",
        "delete": "glt.cli.runs:delete",
        "doctor": "glt.cli.doctor:doctor",
    },
}
ABOUT = "Find, inspect and export graph lottery tickets."

# All arguments of a verb by name.
Args = SimpleNamespace


class Formatter(click.HelpFormatter):
    """Writes help; lists do not break names at hyphens."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names, and beside each of them its text."""
        rows = list(rows)
        first = min(max(len(name) for name, _ in rows), col_max) + col_spacing
        width = max(self.width - self.current_indent - first, 10)
        for name, text in rows:
            lines = wrap(text, width, break_on_hyphens=False) or [""]
            head = [name] if len(name) > first - col_spacing else [f"{name:{first}}{lines.pop(0)}"]
            for line in [*head, *(f"{'':{first}}{line}" for line in lines)]:
                self.write(f"{'':{self.current_indent}}{line.rstrip()}\n")


class Context(click.Context):
    """The context of a verb or of a list of verbs."""

    formatter_class = Formatter


class Argument(click.Argument):
    """A positional argument; the help lists the names that its type knows."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the argument's name and its text."""
        name, text = super().get_help_record(ctx)
        return name, _with_names(text, self.type)


class Option(click.Option):
    """An option; help lists it under `heading`, with the names its type knows."""

    def __init__(self, *arguments: Any, heading: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option's names and its text."""
        record = super().get_help_record(ctx)
        return None if record is None else (record[0], _with_names(record[1], self.type))

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the remarks in brackets; a computed default is shown by its value."""
        extra = super().get_help_extra(ctx)
        if "default" in extra:
            computed = self.default() if callable(self.default) else extra["default"]
            extra["default"] = self.show_default if isinstance(self.show_default, str) else str(computed)
        return extra


class ManyOption(Option):
    """An option with one or more values, up to the next option: `--set a=1 b=2 --set c=3`."""


class Verb(click.Command):
    """One verb: its function takes all arguments in one namespace and returns the exit code.

    A `StudioError` passes through; `run_command` turns it into one line. Help ends with `examples`. The list of verbs
    imports the module of every verb, so slow imports belong inside functions.
    """

    context_class = Context

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = tuple(examples)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return both names: Click keeps those of a command's first use, which may be outside the group."""
        return list(HELP_NAMES)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; options with several values are repeated, once per value."""
        many = {name for option in self.params if isinstance(option, ManyOption) for name in option.opts}
        try:
            return super().parse_args(ctx, list(_one_each(ctx, args, many)))
        except click.BadArgumentUsage:
            # Click names neither the verb nor the argument as the help does.
            wanted = " ".join(param.make_metavar(ctx) for param in self.params if isinstance(param, click.Argument))
            raise click.UsageError(f"too few arguments: give {wanted}", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function and return its exit code."""
        return None if self.callback is None else self.callback(Args(**ctx.params))

    def arguments(self, words: Sequence[str]) -> Args:
        """Return the arguments that `words` after the verb stand for; raises click.UsageError."""
        return Args(**self.make_context(self.name, list(words)).params)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return `--help`, in the style of the other options."""
        return _plain_help(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                rows.setdefault(getattr(param, "heading", "Options"), []).append(record)
        for heading, records in rows.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they are typed."""
        program = ctx.command_path.removesuffix(f" {self.name}")
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{program} {example}\n")


def verb(name: str, *examples: str) -> Callable[[Callable[[Args], int]], Verb]:
    """Make a verb of a function; its docstring is the help, and `examples` are shown without the program's name."""
    return click.command(name, cls=Verb, examples=examples)


class Verbs(click.Group):
    """A command line whose verbs are listed under headings and imported on demand."""

    context_class = Context

    def __init__(self, sections: Sections, about: str) -> None:
        settings = {"help_option_names": list(HELP_NAMES), "max_content_width": HELP_WIDTH}
        super().__init__(help=about, no_args_is_help=False, subcommand_metavar="VERB ...", context_settings=settings)
        self.sections = sections
        self.verbs = {name: place for of_section in sections.values() for name, place in of_section.items()}
        version = f"GLT Studio {__version__}"
        click.version_option(version, message="%(version)s", help="show the version and exit")(self)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return `--help`, in the style of the other options."""
        return _plain_help(super().get_help_option(ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs, in the order of the help."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb; None where there is none of that name."""
        return self.verb(cmd_name) if cmd_name in self.verbs else None

    def verb(self, name: str) -> Verb:
        """Import a verb."""
        module, _, attribute = self.verbs[name].partition(":")
        found: Verb = getattr(importlib.import_module(module), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is named; raises click.UsageError that suggests the nearest one."""
        if args[0] not in self.verbs and not ctx.resilient_parsing:
            raise click.UsageError(unknown_name("verb", args[0], self.verbs), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every verb with its summary, under headings."""
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.verb(name).get_short_help_str(HELP_WIDTH)) for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to get the help of a verb, and completion by the shell."""
        program = ctx.command_path
        lines = [(f"{program} VERB --help", "options, choices and examples of a verb")]
        if program == "glt":
            lines += [
                (f'eval "$({COMPLETION_VARIABLE}=bash_source glt)"', "completion in bash; zsh_source for zsh"),
                (f"{COMPLETION_VARIABLE}=fish_source glt | source", "completion in fish"),
            ]
        width = max(len(typed) for typed, _ in lines)
        with formatter.section("More"):
            for typed, text in lines:
                formatter.write(f"{'':{formatter.current_indent}}{typed:{width}}  {text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `python -m glt` and return its exit code."""
    return run_command(Verbs(SECTIONS, ABOUT), "python -m glt", arguments)


def run_command(verbs: Verbs, program: str, arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments (default: the process's) ask for and return the exit code.

    Every error is one line on standard error. Standard streams are prepared first, because help and errors are printed
    here. A shell that asks for completions sets `COMPLETION_VARIABLE`.
    """
    prepare_streams()
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        return shell_complete(verbs, {}, program, COMPLETION_VARIABLE, instruction)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run_and_flush(verbs, program, words)
    except BrokenPipeError:
        # The reader (head, less) has gone; without this, Python complains once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return _complain("Stopped.", STOPPED)
    except Exception as error:
        foreseen = _foreseen(error, program)
        if foreseen is None and os.environ.get(DEBUG_VARIABLE):
            raise
        fault = brief(f"Unexpected {type(error).__name__} ({error})", LONGEST_MESSAGE)
        unforeseen = f"{fault}: run the same command with {DEBUG_VARIABLE}=1 to see where."
        return _complain(*(foreseen or (unforeseen, FAILED)))


def prepare_streams() -> None:
    """Open closed standard streams (`>&-`) on the null device; escape unencodable characters.

    Python has None for a closed stream, and the next opened file would get its number: everything printed would end up
    in that file. In an ASCII locale a title or path with other characters would end the command.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _foreseen(error: Exception, program: str) -> tuple[str, int] | None:
    """Return the sentence and the exit code of an error the user can act on, None for any other."""
    if isinstance(error, click.UsageError):
        path, sentence = error.ctx.command_path if error.ctx else program, error.format_message()
        # Name the option of an unreadable value.
        if type(error) is click.BadParameter and (param := error.param) is not None:
            name = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            sentence = f"{name}: {error.message}"
        return f"{path}: {brief(sentence, LONGEST_MESSAGE).rstrip('.')}. See: {path} --help", BAD_ARGUMENTS
    if isinstance(error, StudioError):
        return brief(str(error), LONGEST_MESSAGE), BAD_ARGUMENTS if isinstance(error, ConfigError) else FAILED
    if isinstance(error, OSError):
        return brief(f"{error.filename or 'The file system'}: {error.strerror or error}.", LONGEST_MESSAGE), FAILED
    return None


def _run_and_flush(verbs: Verbs, program: str, words: list[str]) -> int:
    """Parse and run; raises BrokenPipeError where the reader has gone, not only while Python ends."""
    try:
        with verbs.make_context(program, words) as ctx:
            code = int(verbs.invoke(ctx) or DONE)
    except click.exceptions.Exit as end:
        code = end.exit_code
    except SystemExit as error:
        # Rich raises SystemExit on a closed pipe.
        raise error.__context__ if isinstance(error.__context__, BrokenPipeError) else error from None
    sys.stdout.flush()
    return code


def _with_names(text: str, type_: click.ParamType[Any]) -> str:
    """Return the text of a parameter with the names of its type, before the remarks in brackets."""
    names = getattr(type_, "listed", None)
    if names is None:
        return text
    text, bracket, rest = text.partition("  [")
    return f"{text}: {', '.join(names())}{bracket}{rest}"


def _one_each(ctx: click.Context, args: Sequence[str], many: set[str]) -> Iterator[str]:
    """Yield arguments, with the option before each of the values that follow an option of `many`.

    >>> list(_one_each(click.Context(click.Command("run")), ["--set", "a=1", "b=2", "--json"], {"--set"}))
    ['--set', 'a=1', '--set', 'b=2', '--json']
    """
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield from (word, *rest)
            return
        if word not in many:
            yield word
            continue
        if not rest or _is_option(rest[0]):
            raise click.BadOptionUsage(word, f"{word}: give a value", ctx)
        while rest and not _is_option(rest[0]):
            yield from (word, rest.pop(0))


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1


def _plain_help(option: click.Option | None) -> click.Option | None:
    if option is not None:
        option.help = "show this message and exit"
    return option


def _complain(sentence: str, code: int) -> int:
    # The exit code says it too, where standard error cannot be written.
    with suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)
    return code
