"""Graph lottery tickets: Algorithm 2 (`lottery`), initial weights, diagnosis of rounds, and the audit.

Import from the modules: `lottery` and `audit` load torch.
"""
