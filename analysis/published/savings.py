"""The shares of inference MACs the paper says its tickets save at equal performance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Saving:
    """A claimed share of MACs saved, from `low` to `high` over `over`; `dataset` is None for a range over several."""

    task: str
    model: str
    low: float
    high: float
    over: str
    source: str
    dataset: str | None = None


_OBSERVATION = "Observation 1, Section 4.1"
_TEASER = "Section 1.1 on Figure 1"
_LINKS = "abstract and Section 1.1"
SAVINGS: tuple[Saving, ...] = (
    Saving("node", "gcn", 0.5884, 0.5884, "Cora", _TEASER, "cora"),
    Saving("node", "gcn", 0.9443, 0.9443, "Citeseer", _TEASER, "citeseer"),
    Saving("node", "gcn", 0.59, 0.97, "three data sets", _OBSERVATION),
    Saving("node", "gin", 0.20, 0.98, "three data sets", _OBSERVATION),
    Saving("node", "gat", 0.91, 0.97, "three data sets", _OBSERVATION),
    *(Saving("link", model, 0.48, 0.97, "three networks and data sets", _LINKS) for model in ("gcn", "gin", "gat")),
)


def saving(task: str, model: str, dataset: str | None = None) -> Saving | None:
    """Return the claim for one data set, or with None the range over all of them; None where there is no claim.

    >>> saving("node", "gat").low, saving("node", "gcn", "citeseer").high, saving("node", "gcn", "pubmed")
    (0.91, 0.9443, None)
    """
    wanted = (task, model, dataset)
    return next((claim for claim in SAVINGS if (claim.task, claim.model, claim.dataset) == wanted), None)
