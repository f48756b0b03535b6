"""The audit: proven lower bounds on what mechanisms, questions and functions give away, beside what
they claim.
"""

from .audit import audit
from .audit_result import Audit
from .queries import asked
from .runners import many

__all__ = ["Audit", "asked", "audit", "many"]
