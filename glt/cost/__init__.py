"""What a network on a graph costs: multiply-accumulate operations (MACs), split by layer."""

from glt.cost.macs import LayerMacs, MacReport, macs

__all__ = ["LayerMacs", "MacReport", "macs"]
