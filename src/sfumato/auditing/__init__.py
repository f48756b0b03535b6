"""Audits: `sf.audit` proves lower bounds on the privacy loss of mechanisms, queries and functions,
and compares them with the claim.
"""

from .audit import audit
from .audit_result import Audit
from .queries import query
from .runners import many

__all__ = ["Audit", "audit", "many", "query"]
