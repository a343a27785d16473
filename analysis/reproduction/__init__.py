"""The paper's experiments on saved runs: printed numbers compared, claims tested, and a verdict.

`EXHIBITS` has one entry an experiment; `judge` turns its rows and claims into a verdict.
"""

from analysis.reproduction.claims import Claim, Exhibit, Picture
from analysis.reproduction.comparison import Comparison, Evidence
from analysis.reproduction.verdict import Kind, Verdict, judge, settled
from glt.registry import Registry

EXHIBITS: Registry[Exhibit] = Registry("exhibit", "analysis.reproduction.exhibits")

__all__ = ["EXHIBITS", "Claim", "Comparison", "Evidence", "Exhibit", "Kind", "Picture", "Verdict", "judge", "settled"]
