"""The published comparison, judged: every denominator, every baseline that was measured."""

from jalapeno.analysis.claims.audit import Audit, audit
from jalapeno.analysis.claims.findings import Finding, Metric
from jalapeno.analysis.claims.verdict import Verdict

__all__ = ["Audit", "Finding", "Metric", "Verdict", "audit"]
