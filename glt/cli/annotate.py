"""`annotate`: a title, a note and a colour for a run, or hide it; the run itself stays as it is."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from glt.cli.arguments import add_json, add_run, open_store, print_json, words
from glt.cli.said import print_about
from glt.cli.verb import VERBS, Verb
from glt.errors import ConfigError

OWN_COLOR = "none"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the run and what is said about it."""
    from glt.store import COLORS

    add_run(parser)
    parser.add_argument("--title", type=words, metavar="T", help="what to call the run everywhere ('' takes it back)")
    parser.add_argument("--note", type=words, metavar="N", help="what to remember about it ('' takes it back)")
    colors = (*COLORS, OWN_COLOR)
    parser.add_argument("--color", choices=colors, metavar="NAME", help=f"its colour in figures: {', '.join(colors)}")
    seen = parser.add_mutually_exclusive_group()
    seen.add_argument("--hide", action="store_true", help="leave it out of lists and pickers")
    seen.add_argument("--show", action="store_true", help="have it in lists and pickers again")
    parser.add_argument("--clear", action="store_true", help="take back all that was said about it")
    add_json(parser)


def run(args: Namespace) -> int:
    """Change what is said about the run, if anything was asked for, and print what is said now."""
    changes = _changes(args)
    store = open_store(args, writable=bool(changes))
    found = store.find_any(args.run)
    if changes:
        _, told = store.annotate(found.annotation_key, changes)
        if told:
            print(told, file=sys.stderr)
    elif damage := store.annotations().damage:
        print(damage, file=sys.stderr)
    if args.json:
        print_json({"run": found.reference, "annotation": found.annotation.said()})
    else:
        print_about(found)
    return 0


def _changes(args: Namespace) -> dict[str, Any]:
    given = {"title": args.title, "note": args.note}
    changes = {name: value for name, value in given.items() if value is not None}
    if args.color is not None:
        changes["color"] = "" if args.color == OWN_COLOR else args.color
    if args.hide or args.show:
        changes["hidden"] = args.hide
    if args.clear and changes:
        raise ConfigError("--clear takes back all that was said: give it alone.")
    return {"title": "", "note": "", "color": "", "hidden": False} if args.clear else changes


VERBS.register(Verb("annotate", "Give a run a title, a note or a colour, or hide it", add_arguments, run))
