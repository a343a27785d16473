"""What speed is aimed at, and where the number that decides it stands in a report."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.results import Measured, Report, Unit


@dataclass(frozen=True)
class Aim:
    """A limit for the result called `name`."""

    words: str
    name: str
    limit: float
    unit: Unit = "CPU s"
    at_least: bool = False

    def measured(self, report: Report) -> Measured | None:
        """Return what is held against the limit; None where it was not measured."""
        return report.by_name().get(self.name)

    def is_reached(self, result: Measured) -> bool:
        """Say whether a result keeps the limit."""
        return result.value >= self.limit if self.at_least else result.value <= self.limit


def _floor(subject: str, label: str) -> Aim:
    words = f"{label}, GCN of 512: search epoch over the floor of the rows it needs"
    return Aim(words, f"floors/{subject}/search/epoch over floor of seen rows", 1.3, "ratio")


AIMS = (
    Aim("Cora, GCN of 512: search epoch", "epochs/cora/gcn/search", 0.024),
    Aim("Cora, GCN of 512: retraining epoch", "epochs/cora/gcn/retrain", 0.016),
    Aim(
        "The same as the authors run it, over ours",
        "formulations/cora/times faster than authors",
        250,
        "ratio",
        at_least=True,
    ),
    Aim("The same, PyTorch Geometric over ours", "formulations/cora/times faster than pyg", 10, "ratio", at_least=True),
    _floor("cora", "Cora"),
    _floor("citeseer", "Citeseer"),
    _floor("pubmed", "PubMed"),
    Aim("Cora, 20 rounds of UGS", "runs/cora/20 rounds", 170),
    Aim("PubMed, 20 rounds of UGS, two seeds side by side", "runs/pubmed/20 rounds, 2 seeds, wall", 2400, "s"),
    Aim("Cora, GCN of 512: memory of a search", "epochs/cora/gcn/search memory", 0.6e9, "B"),
    Aim("Two seeds side by side over one alone", "parallel/cora/two over one", 1.15, "ratio"),
    Aim("Server start to the first page that can be used", "start/warm/usable", 3.0, "s"),
    *(
        Aim(f"Switch to the page {title}", f"pages/{title}/switch/seconds", 0.7, "s")
        for title in ("Curves", "Subgraphs", "Measurements", "Tickets", "Runs")
    ),
)
