"""The engine: CSR structure with its transpose, differentiable edge values, sparse features, fast dropout."""

from glt.sparse.dropout import Dropout
from glt.sparse.features import Features, row_normalised
from glt.sparse.hidden import hidden_linear
from glt.sparse.linear import linear
from glt.sparse.memory import keep_freed_memory
from glt.sparse.operator import Adjacency, GraphOperator
from glt.sparse.structure import Structure, propagate

__all__ = [
    "Adjacency",
    "Dropout",
    "Features",
    "GraphOperator",
    "Structure",
    "hidden_linear",
    "keep_freed_memory",
    "linear",
    "propagate",
    "row_normalised",
]
