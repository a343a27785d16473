"""Loading a folder of ogbn-arxiv, each time in a process of its own: wall seconds and peak memory.

`python -m benchmarks arxiv-loading --root DIR`, where DIR is the data root that has ogbn_arxiv: the first time (through
ogb), from the cache, and from the cache with the features read too. Importing is not in the seconds, but in the memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glt.user_path import user_path

NAME = "ogbn-arxiv"
# The highest resident memory is of the whole process, so that each reading needs one.
CHILD = """
import json, resource, sys, time
from glt.datasets import DATASETS
spec = DATASETS.get(sys.argv[1])
started = time.perf_counter()
graph = spec.load()
total = float(graph.features.sum()) if sys.argv[2] == "features" else None
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "torch": "torch" in sys.modules}
print(json.dumps({"seconds": round(seconds, 2), "peak_bytes": peak, **sizes}))
"""


def measure_loading(words: Sequence[str]) -> dict[str, Any]:
    """Return seconds and peak bytes of the first reading and of those from the cache."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks arxiv-loading", description=__doc__)
    parser.add_argument("--root", type=user_path, required=True, help="data root that has ogbn_arxiv")
    root = parser.parse_args(words).root
    with tempfile.TemporaryDirectory() as cache:
        first = _read(root, cache, "structure")
        return {
            "first": first,
            "cached": _read(root, cache, "structure"),
            "cached_with_features": _read(root, cache, "features"),
        }


def _read(root: Path, cache: str, what: str) -> dict[str, Any]:
    places = {"GLT_DATA": str(root.resolve()), "GLT_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, NAME, what],
        env={**os.environ, **places},
        stdout=subprocess.PIPE,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
