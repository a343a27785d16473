"""Edge scores: `python -m benchmarks scores`, CPU seconds of one thread and peak memory by score and graph.

Every score of every graph is computed in a process of its own.
"""

from __future__ import annotations

from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from typing import Any

from benchmarks.results import Measured, command_parser, cpu_seconds, document, in_own_process, peak_bytes, single
from benchmarks.subjects import ARXIV, SMALL, graph_of
from glt.scores import SCORES, Structure
from glt.seeds import stream

SUBJECTS = (*SMALL, ARXIV)


def measure_scores(words: Sequence[str]) -> dict[str, Any]:
    """Return CPU seconds and peak memory of each score by graph."""
    options = _options(words)
    if options.here:
        return document(_score(options.subjects[0], options.scores[0]))
    results: list[Measured] = []
    for subject in options.subjects:
        for score in options.scores:
            found = in_own_process("scores", ["--subjects", subject, "--scores", score])
            results += [Measured.model_validate(each) for each in found["results"]]
    return document(results)


def _options(words: Sequence[str]) -> Namespace:
    names = SCORES.names()
    parser = command_parser("scores", "CPU seconds of one thread and peak memory of each edge score, by graph.")
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS, choices=SUBJECTS)
    parser.add_argument("--scores", nargs="+", default=names, choices=names)
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    return parser.parse_args(words)


def _score(subject: str, name: str) -> list[Measured]:
    score, structure, before = SCORES.get(name), Structure.of(graph_of(subject)), peak_bytes()
    seconds = cpu_seconds(lambda: score.of(structure, stream(0, 0, "edge score")))
    memory = single(f"scores/{subject}/{name} memory", peak_bytes() - before, "B")
    return [single(f"scores/{subject}/{name}", seconds, "CPU s"), memory]
