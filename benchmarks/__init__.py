"""Benchmarks, printed as JSON: `python -m benchmarks NAME`.

Absolute times vary with the machine, ratios less. No test depends on a timing.
"""
