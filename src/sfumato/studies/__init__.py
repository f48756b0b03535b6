"""Reproduce every table and figure of the sources: the printed number, our number, and the better
method.
"""

from .run_studies import reproduce, run
from .study import Comparison, Study, StudyResult, StudyRow, Verdict
from .study_list import STUDIES, study

__all__ = [
    "STUDIES",
    "Comparison",
    "Study",
    "StudyResult",
    "StudyRow",
    "Verdict",
    "reproduce",
    "run",
    "study",
]
