"""What a network on a graph costs: multiply-accumulate operations, split by layer."""
