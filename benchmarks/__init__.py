"""Speed, measured in one run and printed as JSON: absolute times vary with the machine, ratios less.

`python -m benchmarks engine --json`. Timings never decide whether a test passes.
"""
