"""Every table and figure of the sources, run again: what was printed, ours beside it, and the right
way beside both.
"""

from .run_studies import reproduce, run
from .study import Beside, Result, Row, Study, Verdict
from .study_list import STUDIES, study

__all__ = ["STUDIES", "Beside", "Result", "Row", "Study", "Verdict", "reproduce", "run", "study"]
