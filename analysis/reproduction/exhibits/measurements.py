"""Table A5: clustering and betweenness of original and pruned graphs."""

from __future__ import annotations

from analysis.reproduction import EXHIBITS
from analysis.reproduction.comparison import compare_measurements
from analysis.reproduction.exhibit import Exhibit

EXHIBITS.register(Exhibit("measurements", (), compare_measurements, measures=True))
