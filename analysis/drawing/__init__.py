"""Descriptions of figures, and their two renderers: `screen` (Plotly) and `paper` (matplotlib)."""
