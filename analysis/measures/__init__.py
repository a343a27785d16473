"""Measurements of graphs: a registry of measures, their values, descriptions and tables."""
