"""Pre-training without labels: GraphCL, which gives a run its theta_0.

Import from the modules: `config` and `start` need no torch, `objective` and `training` load it.
"""
