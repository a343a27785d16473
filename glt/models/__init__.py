"""Networks: their tensors, which of them are prunable, and the forward pass."""

from glt.models.base import Clusters, LayerCost, Model, NetworkShape, TensorSpec, initial_weights, weight_name
from glt.registry import Registry

MODELS: Registry[Model] = Registry("model", "glt.models")

__all__ = ["MODELS", "Clusters", "LayerCost", "Model", "NetworkShape", "TensorSpec", "initial_weights", "weight_name"]
