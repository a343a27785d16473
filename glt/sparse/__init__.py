"""Sparse kernels, features and dropout, and the graph operator built of them."""

from glt.sparse.dropout import Dropout, hidden_linear
from glt.sparse.features import ConstantMatrix, DenseFeatures, Features, features_of, row_normalised
from glt.sparse.operator import Adjacency, GraphOperator, MeanDegree
from glt.sparse.softmax import edge_softmax, message_softmax_sum, softmax_sum
from glt.sparse.spmm import Structure, as_dense, inner_products, linear, propagate, propagate_heads, row_products

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
    "linear",
    "message_softmax_sum",
    "propagate",
    "propagate_heads",
    "row_normalised",
    "row_products",
    "softmax_sum",
]
