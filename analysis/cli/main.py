"""From an argument list to an exit code: 0 done, 1 failed, 2 bad arguments, 130 stopped."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NoReturn

from analysis.cli.verb import VERBS
from glt.errors import ConfigError, StudioError

DONE, FAILED, BAD_ARGUMENTS, STOPPED = 0, 1, 2, 130


class OneLineParser(ArgumentParser):
    """An argument parser whose complaint is one line and says where help is."""

    def error(self, message: str) -> NoReturn:
        """Print the complaint on standard error and exit with 2."""
        self.exit(BAD_ARGUMENTS, f"{self.prog}: {message.rstrip('.')}. See: {self.prog} --help\n")


def make_parser() -> ArgumentParser:
    """Return the parser with one sub-command for every verb."""
    parser = OneLineParser(prog="python -m analysis", description="Measure, draw and export saved runs.")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add_arguments(commands.add_parser(verb.name, help=verb.label, description=verb.label))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; whatever a user can put right is one line on standard error."""
    args = make_parser().parse_args(arguments)
    try:
        return VERBS.get(args.verb).run(args)
    except ConfigError as error:
        return _complain(str(error), BAD_ARGUMENTS)
    except StudioError as error:
        return _complain(str(error), FAILED)
    except BrokenPipeError:
        # The reader (head, less) has gone; without this, Python complains once more while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _complain(f"{error.filename or 'The file system'}: {error.strerror or error}.", FAILED)
    except KeyboardInterrupt:
        return _complain("Stopped.", STOPPED)


def _complain(sentence: str, code: int) -> int:
    print(" ".join(sentence.split()), file=sys.stderr)
    return code
