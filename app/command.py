"""The command `glt`: the verbs of `glt` and `analysis`, and `studio`, which starts the app."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.cli.main import SECTIONS as OF_ANALYSIS
from glt.cli import options
from glt.cli.main import DONE, Args, Sections, Verbs, run_command, verb
from glt.cli.main import SECTIONS as OF_GLT
from glt.user_path import STORE_VARIABLE, temporary_home

MAIN = Path(__file__).resolve().with_name("main.py")
ABOUT = "Find, inspect, measure and export graph lottery tickets."
HEADINGS = ("Run", "Inspect", "Measure and draw", "Share", "Maintain")
SECTIONS: Sections = {
    **{name: {**OF_GLT.get(name, {}), **OF_ANALYSIS.get(name, {})} for name in HEADINGS},
    "App": {"studio": "app.command:studio"},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb of `glt` and return its exit code."""
    return run_command(Verbs(SECTIONS, ABOUT), "glt", arguments)


@verb("studio", "studio", "studio --store other -- --server.port 8600 --server.headless true")
@options.store
@options.argument("options", nargs=-1, metavar="[-- OPTION...]", help="options of `streamlit run`, after two dashes")
def studio(args: Args) -> int:
    """Open the app in the browser.

    The server listens on localhost only. Ctrl-C ends it; runs continue.
    """
    # Streamlit reads app/.streamlit/config.toml from anywhere.
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


if __name__ == "__main__":
    sys.exit(main())
