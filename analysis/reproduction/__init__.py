"""The paper's experiments on saved runs: printed numbers compared, claims tested, and a verdict.

`EXHIBITS` has one entry an experiment; `judge_experiment` turns its rows and claims into a verdict.
"""
