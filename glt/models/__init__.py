"""Networks: which tensors they have, which may be pruned, and their forward pass over an operator."""

from glt.models.base import Clusters, LayerCost, Model, NetworkShape, TensorSpec, initial_weights, weight_name
from glt.registry import Registry

MODELS: Registry[Model] = Registry("model", "glt.models")

__all__ = ["MODELS", "Clusters", "LayerCost", "Model", "NetworkShape", "TensorSpec", "initial_weights", "weight_name"]
