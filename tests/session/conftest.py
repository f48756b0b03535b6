"""Learning without chance: noise is taken for people so seldom that what is learned of clear tables
can be asserted.
"""

from __future__ import annotations

from fractions import Fraction

import pytest


@pytest.fixture
def certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarms of a lesson, of all its cells together, below 1e-12 for those far out and for
    each beside what is there.
    """
    monkeypatch.setattr("sfumato.session.learning.SURE", Fraction(1, 10**12))
    monkeypatch.setattr("sfumato.session.learning.NEXT", Fraction(1, 10**12))
