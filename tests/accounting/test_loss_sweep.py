"""The quick curve: never below the certified lower bound, close to the upper one where it is asked,
and the same whatever was asked before.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting.loss import loss_curve, loss_sweep
from sfumato.accounting.loss.pairs_sampled import ClonePair
from sfumato.accounting.loss.privacy_loss import Loss

LAPLACE = mech.Laplace(sensitivity=1, epsilon="0.1", grid=2**-20)
CASES = {
    "laplace and normal": lambda: sf.compose([(LAPLACE, 100), (sf.GDP("0.1"), 20)]),
    "sampled": lambda: sf.compose(
        [(mech.Gaussian(sensitivity=1, sigma=1).subsample("0.001"), 10_000)]
    ),
    "shuffled": lambda: Loss(((ClonePair(Fraction(1), 10_000), 3),), relation="replace"),
    "telling all": lambda: sf.compose([(sf.Approx("0.1", "1e-6"), 10), (LAPLACE, 10)]),
    "rounded": lambda: sf.compose([(mech.Gaussian(sensitivity=1, sigma=3, size=1), 10)]),
}


@pytest.mark.parametrize("name", CASES)
def test_is_certified_and_close(name: str) -> None:
    total = CASES[name]()
    quick, far = total._quick(), total.epsilon("1e-4")
    for i in range(9):
        at = Fraction(far) * i / 8
        low, high, swept = total.delta_lower(at), total.delta(at), quick.delta(at)
        assert swept >= low
        assert swept <= high * 1.01


def test_does_not_depend_on_what_was_asked_before() -> None:
    total = CASES["laplace and normal"]()
    places = [Fraction(i, 7) for i in range(20)]
    first = [total._quick().delta(at) for at in places]
    for cached in (loss_curve._swept, loss_sweep._upper_curve):
        cached.cache_clear()
    assert [total._quick().delta(at) for at in reversed(places)] == first[::-1]


def test_a_meaning_makes_few_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of questions to the curve, and three sums for each composition in it, not one sum
    for each question.
    """
    plans = []
    true = loss_sweep.plan
    monkeypatch.setattr(loss_sweep, "plan", lambda *a, **k: plans.append(1) or true(*a, **k))
    for cached in (loss_curve._swept, loss_sweep._upper_curve):
        cached.cache_clear()
    meaning = CASES["laplace and normal"]().meaning()
    assert 0 < len(plans) <= 3 * 14
    assert meaning.told_apart_after == 10
    assert meaning.detection[0].true_positive == pytest.approx(0.107, abs=1e-3)
