"""Random pruning at the same rates; rounds are nested."""

from __future__ import annotations

from glt.config import RunConfig
from glt.masks import Masks
from glt.methods import METHODS
from glt.methods.base import Method, Proposal, RoundContext


class RandomPruning(Method):
    """The control: the same sparsity without learning."""

    name = "random"
    label = "Random pruning"
    description = "Removes edges and weights at random, at the same rates."
    nested = True
    cause = "random"
    ignores = frozenset({"epochs", "gamma_graph", "gamma_weight"})

    def next_masks(self, context: RoundContext) -> Proposal:
        """Draw a random score for every entry and remove the lowest."""
        previous, config = context.previous, context.config
        edge_scores = context.random("random edges").random(previous.edges.kept)
        draw = context.random("random weights")
        weight_scores = {name: draw.random(keep.shape) for name, keep in previous.weights.keep.items()}
        edges = previous.edges.prune(edge_scores, config.p_graph)
        return Proposal(Masks(edges, previous.weights.prune(weight_scores, config.p_weight)))

    def search_epochs(self, config: RunConfig) -> int:
        """Return 0: nothing is trained."""
        return 0


METHODS.register(RandomPruning())
