"""`python -m benchmarks NAME`: run one benchmark and print its results."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

from glt.errors import StudioError

BENCHMARKS = {
    "engine": "benchmarks.epochs:measure",
    "arxiv": "benchmarks.arxiv:measure_arxiv",
}
# These parse their own arguments.
COMMANDS = {
    "arxiv-layout": "benchmarks.arxiv:make_layout",
    "arxiv-loading": "benchmarks.arxiv:measure_loading",
    "arxiv-store": "benchmarks.arxiv:fill_arxiv",
    "deep": "benchmarks.deep:measure_deep",
    "epochs": "benchmarks.epochs:measure_epochs",
    "floors": "benchmarks.floors:measure_floors",
    "events": "benchmarks.pages:measure_events",
    "formulations": "benchmarks.epochs:measure_formulations",
    "learning": "benchmarks.deep:measure_learning",
    "load": "benchmarks.load:measure_load",
    "measurements": "benchmarks.measurements:measure_measurements",
    "pages": "benchmarks.pages:measure_pages",
    "parallel": "benchmarks.runs:measure_parallel",
    "pictures": "benchmarks.measurements:measure_pictures",
    "runs": "benchmarks.runs:measure_runs",
    "start": "benchmarks.pages:measure_start",
    "stores": "benchmarks.stores:measure_stores",
}
# These run other benchmarks or read a report, and print text.
READERS = {
    "all": "benchmarks.report:collect",
    "page": "benchmarks.speed_page:write_page",
}


def main() -> None:
    """Run the named benchmark; a user's error is one sentence and exit code 1."""
    try:
        _run()
    except StudioError as error:
        sys.exit(str(error))


def _run() -> None:
    if sys.argv[1:2] and sys.argv[1] in READERS:
        sys.exit(_function(READERS[sys.argv[1]])(sys.argv[2:]))
    if sys.argv[1:2] and sys.argv[1] in COMMANDS:
        result = _function(COMMANDS[sys.argv[1]])(sys.argv[2:])
        print(json.dumps(result, indent=2))
        # The load benchmark counts errors; any error is a failure.
        sys.exit(1 if result.get("errors", {}).get("count") else 0)
    others = ", ".join({**COMMANDS, **READERS})
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, epilog=f"these have their own --help: {others}"
    )
    parser.add_argument("name", choices=sorted(BENCHMARKS), nargs="?", default="engine")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.add_argument("--epochs", type=int, default=100, help="timed epochs or passes of the product (default: 100)")
    arguments = parser.parse_args()
    result = _function(BENCHMARKS[arguments.name])(arguments.epochs)
    print(json.dumps(result, indent=None if arguments.json else 2))


def _function(address: str) -> Callable[..., Any]:
    # Imported late: some benchmarks need more packages than others, such as a browser.
    module, function = address.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


if __name__ == "__main__":
    main()
