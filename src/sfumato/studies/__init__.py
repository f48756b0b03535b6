"""Every table and figure of the sources, run again: what was printed, ours beside it, and the right
way beside both.
"""

from .base import Beside, Result, Row, Study, Verdict
from .catalogue import STUDIES, study
from .reproduce import reproduce, run

__all__ = ["STUDIES", "Beside", "Result", "Row", "Study", "Verdict", "reproduce", "run", "study"]
