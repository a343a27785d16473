"""The parts of `python -m benchmarks all`: the command of each, and what it measures in its three sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Size = Literal["quick", "usual", "full"]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A command of `python -m benchmarks`; None where a size leaves it out. It is stopped after so many seconds."""

    name: str
    usual: Words | None
    quick: Words | None = None
    full: Words | None = None
    seconds: int = 600

    def words(self, size: Size) -> Sequence[str] | None:
        """Return the words of its command in a size, all of which print JSON."""
        chosen = {"quick": self.quick, "usual": self.usual, "full": self.full or self.usual}[size]
        return None if chosen is None else (*chosen, "--json")


def _epochs(*words: str) -> Words:
    return ("epochs", *words)


ALL_MODELS = ("gcn", "gin", "gat", "resgcn")
DAY = 86_400

PARTS = (
    Part(
        "floors",
        ("floors",),
        quick=("floors", "--datasets", "cora", "--turns", "5"),
        full=("floors", "--turns", "40"),
        seconds=1800,
    ),
    Part(
        "epochs",
        _epochs("--subjects", "cora", "citeseer", "--seconds", "3"),
        quick=_epochs("--subjects", "cora", "--models", "gcn", "gat", "--seconds", "3"),
        full=_epochs("--subjects", "cora", "citeseer", "--seconds", "20"),
        seconds=1800,
    ),
    Part(
        "epochs of pubmed",
        _epochs("--subjects", "pubmed", "--models", "gcn", "gin", "--seconds", "4"),
        full=_epochs("--subjects", "pubmed", "--seconds", "60"),
        seconds=7200,
    ),
    Part(
        "epochs of arxiv",
        _epochs("--subjects", "arxiv", "--models", "gcn", "--seconds", "4"),
        full=_epochs("--subjects", "arxiv", "--seconds", "60"),
        seconds=7200,
    ),
    Part(
        "formulations",
        ("formulations", "--subjects", "cora", "--turns", "2", "--memory"),
        full=("formulations", "--turns", "5", "--memory"),
        seconds=3600,
    ),
    Part("runs", ("runs", "--full"), seconds=7200),
    Part("two runs of pubmed", ("runs", "--full", "--subjects", "pubmed", "--seeds", "0", "1"), seconds=DAY),
    Part("parallel", ("parallel", "--turns", "2"), full=("parallel", "--turns", "5"), seconds=1800),
    Part(
        "measurements",
        ("measurements",),
        quick=("measurements", "--subjects", "cora", "--networkx", "--seconds", "1"),
        full=("measurements", "--networkx", "cora", "citeseer", "--seconds", "20"),
        seconds=1800,
    ),
    Part("pictures", ("pictures",), quick=("pictures", "--subjects", "cora", "--seconds", "1"), seconds=900),
    Part("stores", ("stores",), quick=("stores", "--runs", "50", "--seconds", "1"), seconds=900),
    Part("start", ("start", "--starts", "3"), full=("start", "--starts", "10"), seconds=900),
    Part("pages", ("pages", "--epochs", "3"), full=("pages", "--epochs", "20"), seconds=3600),
    Part("events", ("events", "--repeats", "3"), seconds=1800),
    Part("load", None, full=("load",), seconds=3600),
)
