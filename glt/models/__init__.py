"""Networks: which tensors they have, which may be pruned, and their forward pass over an operator."""
