"""Pieces that pages share: controls tied to the address, run selection, charts, computations."""
