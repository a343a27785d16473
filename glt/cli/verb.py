"""What a verb of the command line is: a name, its arguments and what it does."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass

from glt.registry import Registry


@dataclass(frozen=True)
class Verb:
    """One verb, declared by the file in this folder that is named after it.

    `add_arguments` fills the verb's parser and `run` does the work: it returns the exit code and lets
    `glt.errors.StudioError` pass, which `glt.cli.main` turns into one line. Files of this folder are all
    imported to print the help, so a verb imports what is slow inside `run`.
    """

    name: str
    label: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


VERBS: Registry[Verb] = Registry("verb", "glt.cli")
