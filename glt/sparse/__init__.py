"""The engine: CSR structure with its transpose, differentiable edge values, sparse features, fast dropout."""

from glt.sparse.attention import edge_softmax, propagate_heads
from glt.sparse.constant import ConstantMatrix
from glt.sparse.dropout import Dropout
from glt.sparse.features import DenseFeatures, Features, features_of, row_normalised
from glt.sparse.hidden import hidden_linear
from glt.sparse.linear import as_dense, linear
from glt.sparse.memory import keep_freed_memory
from glt.sparse.operator import Adjacency, GraphOperator, MeanDegree
from glt.sparse.pairs import inner_products, row_products
from glt.sparse.softmax import message_softmax_sum, softmax_sum
from glt.sparse.structure import Structure, propagate

__all__ = [
    "Adjacency",
    "ConstantMatrix",
    "DenseFeatures",
    "Dropout",
    "Features",
    "GraphOperator",
    "MeanDegree",
    "Structure",
    "as_dense",
    "edge_softmax",
    "features_of",
    "hidden_linear",
    "inner_products",
    "keep_freed_memory",
    "linear",
    "message_softmax_sum",
    "propagate",
    "propagate_heads",
    "row_normalised",
    "row_products",
    "softmax_sum",
]
