"""`python -m benchmarks NAME`: run one benchmark and print what it measured."""

from __future__ import annotations

import argparse
import json

from benchmarks import arxiv, engine

BENCHMARKS = {"engine": engine.measure, "arxiv": arxiv.measure_arxiv}


def main() -> None:
    """Run the benchmark the user named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=sorted(BENCHMARKS), nargs="?", default="engine")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.add_argument(
        "--epochs", type=int, default=100, help="timed epochs or passes of ours, in turns (default: 100)"
    )
    arguments = parser.parse_args()
    result = BENCHMARKS[arguments.name](arguments.epochs)
    print(json.dumps(result, indent=None if arguments.json else 2))


if __name__ == "__main__":
    main()
