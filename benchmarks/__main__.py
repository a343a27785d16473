"""`python -m benchmarks NAME`: run one benchmark and print what it measured."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

BENCHMARKS = {
    "engine": "benchmarks.engine:measure",
    "arxiv": "benchmarks.arxiv:measure_arxiv",
    "pages": "benchmarks.pages:measure_pages",
}
# This one writes a store instead of measuring: `pages --store` then measures on it.
STORE = "arxiv-store"


def main() -> None:
    """Run the benchmark the user named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted([*BENCHMARKS, STORE]), nargs="?", default="engine")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.add_argument(
        "--epochs", type=int, default=100, help="timed epochs, passes or page loads of ours, in turns (default: 100)"
    )
    parser.add_argument("--out", type=Path, help=f"{STORE}: the folder of the store that is written")
    parser.add_argument("--rounds", type=int, default=20, help=f"{STORE}: rounds of every run (default: 20)")
    parser.add_argument("--store", type=Path, help="pages: measure over this store, not over one of a thousand runs")
    arguments = parser.parse_args()
    if arguments.name == STORE and arguments.out is None:
        parser.error(f"{STORE} needs --out FOLDER")
    # A benchmark needs what others do without: the one of the pages a browser.
    print(json.dumps(_measured(arguments), indent=None if arguments.json else 2))


def _measured(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.name == STORE:
        from benchmarks.arxiv_store import fill_arxiv

        return fill_arxiv(arguments.out, arguments.rounds)
    module, function = BENCHMARKS[arguments.name].split(":")
    measure = getattr(importlib.import_module(module), function)
    found: dict[str, Any] = measure(arguments.epochs, arguments.store) if arguments.store else measure(arguments.epochs)
    return found


if __name__ == "__main__":
    main()
