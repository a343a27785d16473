"""`python -m benchmarks NAME`: run one benchmark and print its results."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

from glt.errors import StudioError

COMMANDS = {
    "arxiv": "benchmarks.arxiv:measure_arxiv",
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
    "scores": "benchmarks.scores:measure_scores",
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
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted({**COMMANDS, **READERS}), help="each has its own --help")
    name = parser.parse_args(sys.argv[1:2] or ["--help"]).name
    if name in READERS:
        sys.exit(_function(READERS[name])(sys.argv[2:]))
    result = _function(COMMANDS[name])(sys.argv[2:])
    print(json.dumps(result, indent=2))
    # The load benchmark counts errors; any error is a failure.
    sys.exit(1 if result.get("errors", {}).get("count") else 0)


def _function(address: str) -> Callable[..., Any]:
    # Imported late: some benchmarks need more packages than others, such as a browser.
    module, function = address.split(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


if __name__ == "__main__":
    main()
