"""Data sets: the Graph type, the registry, and loaders of bundled and OGB data."""

from glt.datasets.graph import Graph, Provenance, Split, simple_edges
from glt.datasets.registry import DATASETS, DatasetSpec, load_graph

__all__ = ["DATASETS", "DatasetSpec", "Graph", "Provenance", "Split", "load_graph", "simple_edges"]
