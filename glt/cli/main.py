"""From an argument list to an exit code: 0 done, 1 failed, 2 bad arguments, 130 stopped."""

from __future__ import annotations

import io
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NoReturn

from glt import __version__
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError, StudioError
from glt.printable import MOST_SAID, brief

DONE, FAILED, BAD_ARGUMENTS, STOPPED = 0, 1, 2, 130
DEBUG_VARIABLE = "GLT_DEBUG"


class OneLineParser(ArgumentParser):
    """An argument parser whose complaint is one line and says where help is."""

    def error(self, message: str) -> NoReturn:
        """Print the complaint on standard error and exit with 2."""
        self.exit(BAD_ARGUMENTS, f"{self.prog}: {brief(message, MOST_SAID).rstrip('.')}. See: {self.prog} --help\n")


def make_parser(program: str, description: str, verbs: Iterable[Verb]) -> ArgumentParser:
    """Return the parser with one sub-command for every verb."""
    parser = OneLineParser(prog=program, description=description)
    parser.add_argument("--version", action="version", version=f"GLT Studio {__version__}")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in verbs:
        of_verb = commands.add_parser(verb.name, help=verb.label, description=verb.label)
        of_verb.set_defaults(complain=of_verb.error)
        verb.add_arguments(of_verb)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `python -m glt` and return its exit code."""
    parser = make_parser("python -m glt", "Find, inspect and cost graph lottery tickets.", VERBS)
    args = parsed(parser, arguments)
    return run_verb(VERBS.get(args.verb), args)


def parsed(parser: ArgumentParser, arguments: Sequence[str] | None) -> Namespace:
    """Return the arguments; of those that the verb does not know its own parser complains, which names its help.

    The standard streams are prepared first, because help and complaints are printed here.
    """
    prepare_streams()
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        args.complain(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def run_verb(verb: Verb, args: Namespace) -> int:
    """Run a verb and return its exit code; every complaint is one line on standard error."""
    try:
        return _run_and_flush(verb, args)
    except StudioError as error:
        return _complain(str(error), BAD_ARGUMENTS if isinstance(error, ConfigError) else FAILED)
    except BrokenPipeError:
        # The reader (head, less) has gone; without this, Python complains once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        return _complain(f"{error.filename or 'The file system'}: {error.strerror or error}.", FAILED)
    except KeyboardInterrupt:
        return _complain("Stopped.", STOPPED)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        fault = f"Unexpected {type(error).__name__} ({error})"
        return _complain(f"{fault}: run the same command with {DEBUG_VARIABLE}=1 to see where.", FAILED)


def _run_and_flush(verb: Verb, args: Namespace) -> int:
    """Run a verb; raises BrokenPipeError where the reader has gone, not only while Python ends."""
    try:
        code = verb.run(args)
        sys.stdout.flush()
    except SystemExit as error:
        # Rich leaves by this when it meets a closed pipe.
        raise error.__context__ if isinstance(error.__context__, BrokenPipeError) else error from None
    return code


def prepare_streams() -> None:
    """Let closed standard streams (`>&-`) lead nowhere, and write what an encoding does not have as an escape.

    Python has None in place of a closed stream, and the next file that is opened would get its number: what is printed,
    by a library or a worker too, would end up in that file. In an ASCII locale a printed title, or a path of other
    bytes anywhere, would end the command.
    """
    for number in (0, 1, 2):
        _lead_nowhere_if_closed(number)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _lead_nowhere_if_closed(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)


def _complain(sentence: str, code: int) -> int:
    # The exit code says it too, where standard error cannot be written.
    with suppress(OSError):
        print(brief(sentence, MOST_SAID), file=sys.stderr, flush=True)
    return code
