"""Figure 8: the same nodes before and after pruning."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.exhibit import Exhibit, Picture

EXHIBITS.register(Exhibit("subgraph-gallery", (Picture("subgraphs", "Subgraphs", "Figure 8 (fig:gra_vis)"),)))
