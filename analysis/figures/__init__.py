"""Figures, one file each: what they show of a tidy table, as a description that the screen and paper draw."""
