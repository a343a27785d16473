"""Pieces that pages share: controls tied to the address, pickers of runs, cached readers, designed states."""
