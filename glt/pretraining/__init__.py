"""Pre-training without labels: GraphCL, which gives a run its theta_0.

Import from the modules: `config` and `augmentations` need no torch, `graphcl` loads it.
"""
