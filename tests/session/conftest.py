"""Learning without chance: noise is taken for people so seldom that what is learned of clear tables
can be asserted.
"""

from __future__ import annotations

from fractions import Fraction

import pytest


@pytest.fixture
def certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn what the histogram shows and no more: noise passes for people with a probability below
    1e-12, far out as next to a crowd, and nobody is expected beyond the last inhabited cell.
    """
    monkeypatch.setattr("sfumato.session.learning.SURE", Fraction(1, 10**12))
    monkeypatch.setattr("sfumato.session.learning.NEXT", Fraction(1, 10**12))
    monkeypatch.setattr("sfumato.session.noisy_cells.DOUBTS", ())
    monkeypatch.setattr("sfumato.session.noisy_cells.THINNING", ((0.0, 1.0),))
