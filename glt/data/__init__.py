"""Graphs: the Graph type, the registry of data sets and their loaders (bundled, Planetoid), content hashes."""
