"""Our saved rounds beside what the paper prints and says: rows to compare, claims to test, a verdict in words."""

from analysis.reproduction.claims import Claim, Exhibit, Picture
from analysis.reproduction.comparison import Comparison, Evidence
from analysis.reproduction.verdict import Kind, Verdict, judge, settled
from glt.registry import Registry

EXHIBITS: Registry[Exhibit] = Registry("exhibit", "analysis.reproduction.exhibits")

__all__ = ["EXHIBITS", "Claim", "Comparison", "Evidence", "Exhibit", "Kind", "Picture", "Verdict", "judge", "settled"]
