"""`python -m benchmarks NAME`: run one benchmark and print what it measured."""

from __future__ import annotations

import argparse
import importlib
import json

BENCHMARKS = {
    "engine": "benchmarks.engine:measure",
    "arxiv": "benchmarks.arxiv:measure_arxiv",
    "pages": "benchmarks.pages:measure_pages",
}


def main() -> None:
    """Run the benchmark the user named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHMARKS), nargs="?", default="engine")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.add_argument(
        "--epochs", type=int, default=100, help="timed epochs, passes or page loads of ours, in turns (default: 100)"
    )
    arguments = parser.parse_args()
    # A benchmark needs what others do without: the one of the pages a browser.
    module, function = BENCHMARKS[arguments.name].split(":")
    result = getattr(importlib.import_module(module), function)(arguments.epochs)
    print(json.dumps(result, indent=None if arguments.json else 2))


if __name__ == "__main__":
    main()
