"""A mechanism behind sampling: a record, its promises, what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.guarantees.finite.divergences import hockey_stick
from sfumato.mechanisms.shared.stored_mechanism import record, restore

LAPLACE = mech.Laplace(sensitivity=1, epsilon=1)


def test_poisson_sampling_amplifies_and_binds_add_remove() -> None:
    m = LAPLACE.subsample(0.01)
    assert m.relation == "add-remove"
    assert m.promise.epsilon() == pytest.approx(0.01703686323617655, rel=1e-12)
    assert isinstance(mech.Gaussian(sensitivity=1, sigma=1).subsample(0.01).promise, sf.Renyi)


def test_fixed_size_sampling_binds_replace() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=1, relation="replace").subsample(size=10, of=1000)
    assert m.relation == "replace"
    assert m.rate == Fraction(1, 100)
    assert m.promise == sf.Pure(
        LAPLACE.subsample(0.01).promise.parameters["epsilon"], relation="replace"
    )
    assert mech.Gaussian(sensitivity=1, sigma=1).subsample(size=10, of=1000).promise == sf.GDP(
        1, relation="replace"
    )


def test_the_amplified_promise_holds_by_arithmetic_and_less_would_not() -> None:
    """P(y) of the noise on 0 and on 1, mixed: the hockey-stick divergence at the ε promised is
    zero, at 99 % of it is not.
    """
    m, rate = LAPLACE.subsample(0.2), Fraction(1, 5)
    z = range(-40, 41)
    law = [Fraction(LAPLACE.probability(k)) for k in z]
    shifted = [Fraction(LAPLACE.probability(k - 1)) for k in z]
    without = [a / sum(law) for a in law]
    moved = [a / sum(shifted) for a in shifted]
    with_unit = [(1 - rate) * a + rate * b for a, b in zip(without, moved, strict=True)]
    promised = m.promise.epsilon()
    for p, q in ((with_unit, without), (without, with_unit)):
        assert hockey_stick(p, q, Fraction(promised) + Fraction(1, 10**9)) < 1e-9
    assert hockey_stick(with_unit, without, Fraction(promised) * 99 / 100) > 1e-4


def test_it_is_stored_and_made_again() -> None:
    for m in (
        LAPLACE.subsample("1/3"),
        mech.Gaussian(sensitivity=1, sigma=2, unit="patient").subsample(size=3, of=7),
    ):
        assert restore(record(m)) == m
        assert "subsample" in repr(m)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: LAPLACE.subsample(), "mechanism.sampling"),
        (lambda: LAPLACE.subsample(0.1, size=3, of=10), "mechanism.sampling"),
        (lambda: LAPLACE.subsample(size=3), "mechanism.sampling"),
        (lambda: LAPLACE.subsample(size=11, of=10), "mechanism.sampling"),
        (lambda: LAPLACE.subsample(0.1).subsample(0.1), "mechanism.sampling"),
        (lambda: LAPLACE.subsample(0), "number.not-a-probability"),
        (
            lambda: mech.Laplace(sensitivity=1, epsilon=1, relation="replace").subsample(0.1),
            "guarantee.relation",
        ),
        (
            lambda: mech.Laplace(sensitivity=1, epsilon=1, relation="add-remove").subsample(
                size=1, of=10
            ),
            "guarantee.relation",
        ),
        (lambda: mech.RandomizedResponse(epsilon=1).subsample(0.1), "mechanism.sampling"),
        (lambda: mech.Subsampled(base=LAPLACE, rate=0.1, how="often"), "mechanism.sampling"),
    ],
)
def test_refusals(call: object, code: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        call()
    assert caught.value.code == code
