"""The command `glt`: the verbs of `python -m glt` and `python -m analysis` in one place, and `studio`, the app."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from analysis.cli.verb import VERBS as OF_ANALYSIS
from glt.cli.arguments import add_store
from glt.cli.main import DONE, make_parser, parsed, run_verb
from glt.cli.verb import VERBS as OF_GLT
from glt.cli.verb import Verb
from glt.user_path import STORE_VARIABLE, temporary_home

MAIN = Path(__file__).resolve().with_name("main.py")
ABOUT = "Find, inspect, measure and export graph lottery tickets."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `glt` and return its exit code."""
    verbs = {verb.name: verb for verb in (*OF_GLT, *OF_ANALYSIS, STUDIO)}
    args = parsed(make_parser("glt", ABOUT, [verbs[name] for name in sorted(verbs)]), arguments)
    return run_verb(verbs[args.verb], args)


def _add_studio_arguments(parser: ArgumentParser) -> None:
    add_store(parser)
    told = "options of `streamlit run`, after two dashes: glt studio -- --server.port 8600"
    parser.add_argument("options", nargs="*", metavar="OPTION", help=told)


def _run_studio(args: Namespace) -> int:
    """Serve the app in this process until it is stopped; Streamlit reads app/.streamlit/config.toml from anywhere."""
    from streamlit.web.cli import main as streamlit

    os.environ[STORE_VARIABLE] = str(args.store)
    try:
        Path.home()
    except RuntimeError:
        # Streamlit does not start without one.
        os.environ["HOME"] = str(temporary_home())
    # Ends the process with Streamlit's exit code.
    streamlit.main(["run", str(MAIN), *args.options], prog_name="streamlit")
    return DONE


STUDIO = Verb("studio", "Open the app in the browser", _add_studio_arguments, _run_studio)

if __name__ == "__main__":
    sys.exit(main())
