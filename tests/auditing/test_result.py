"""What a result says."""

from __future__ import annotations

from dataclasses import replace

import sfumato as sf
from sfumato import mechanisms as mech


def test_the_share_is_that_of_the_notion_claimed() -> None:
    r = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True)
    assert 1 - 1e-12 < r.share <= 1
    gaussian = replace(r, claim=sf.GDP(2), mu_lower=0.5)
    assert gaussian.share == 0.25
    nothing = replace(r, claim=sf.Pure(0), epsilon_lower=0.0)
    assert nothing.share == 0
    assert replace(nothing, epsilon_lower=0.1).share == 1


def test_long_inputs_are_cut() -> None:
    r = replace(sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, exact=True), pair=(list(range(100)), 1))
    assert max(len(line) for line in str(r).splitlines()) < 120
