"""The verdict of a printed number, without what few runs cannot say."""

from __future__ import annotations

from sfumato.studies import Verdict
from sfumato.studies.study import StudyRow


def settled_verdict(row: StudyRow) -> Verdict:
    """The verdict, where `unlikely` counts as agreement: it is a judgement at 1 %, by percentiles
    that the few runs of a test estimate. tests/studies/test_study.py tries it with known ones.
    """
    return Verdict.AGREES if row.verdict is Verdict.UNLIKELY else row.verdict
