"""Graph lottery tickets: Algorithm 2 with rewinding, and the audit of what was pruned.

Import from the modules: `search` (the loop) and `audit`. Nothing here is imported before it is needed, because both
load torch.
"""
