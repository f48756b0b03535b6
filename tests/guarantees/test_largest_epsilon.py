"""The largest ε of a share: what it costs fits, a little more does not, and the ledger agrees."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting.filters import Filter
from sfumato.exact.balls import ball
from sfumato.guarantees.guarantee import currencies
from sfumato.guarantees.largest_epsilon import largest_epsilon
from sfumato.ledger.pricing import price

SHARES: list[sf.Guarantee] = [
    *(sf.ZCDP(rho) for rho in ("1e-300", "1e-12", "0.005", "1/8", 1, 100, "1e100")),
    sf.ZCDP("0.01", "1e-9", relation="replace", unit="patient"),
    *(sf.GDP(mu) for mu in ("1e-9", "0.01", "1/3", 1, 30, 200)),
    sf.GDP.from_square("1/7"),
    sf.Renyi({2: 1, 8: "1/2", 64: "0.7"}),
    sf.Renyi({"1.5": "1e-6"}, "1e-9"),
    sf.ZCDP("1/50").to(sf.Renyi),
    sf.Pure("1/3"),
    sf.Approx("0.1", "1e-9"),
]
MORE = 1 + Fraction(1, 1 << 36)


@pytest.mark.parametrize("share", SHARES, ids=lambda share: f"{share!r:.40}")
def test_it_fits_and_more_does_not(share: sf.Guarantee) -> None:
    epsilon = largest_epsilon(share)
    assert Filter(share).admits(sf.Pure(epsilon))
    assert not Filter(share).admits(sf.Pure(epsilon * MORE))


@pytest.mark.parametrize("share", SHARES, ids=lambda share: f"{share!r:.40}")
def test_a_loss_of_bounded_range_pays_for_more(share: sf.Guarantee) -> None:
    epsilon, plain = largest_epsilon(share, ranged=True), largest_epsilon(share)
    assert epsilon >= plain
    assert isinstance(share, sf.ZCDP | sf.Renyi) or epsilon == plain

    def fits(e: Fraction) -> bool:
        cost = price(
            share,
            [mech.Exponential(sensitivity=1, epsilon=e, relation=share.relation, unit=share.unit)],
        )
        return all(c <= b for c, b in zip(cost, share.vector, strict=True))

    assert fits(epsilon)
    assert isinstance(share, sf.Renyi) or not fits(
        epsilon * MORE
    )  # on a curve the better of the two is taken order by order, which may pay for more


def test_known_values() -> None:
    """ρ = ε²/8 exactly where the root is rational; μ = 1 pays for ln Φ(½)/Φ(−½); ρ·tanh by its
    definition.
    """
    assert largest_epsilon(sf.ZCDP("1/8"), ranged=True) == 1
    assert largest_epsilon(sf.ZCDP("0.005"), ranged=True) == Fraction(1, 5)
    assert (
        largest_epsilon(sf.ZCDP("1e-3"), ranged=True) ** 2
        < Fraction(8, 1000)
        < (largest_epsilon(sf.ZCDP("1e-3"), ranged=True) * (1 + Fraction(1, 2**50))) ** 2
    )
    assert float(largest_epsilon(sf.GDP(1))) == pytest.approx(0.8069653463, abs=1e-10)
    before, ctx.prec = ctx.prec, 200
    try:
        epsilon = ball(largest_epsilon(sf.ZCDP("1/8")))
        assert epsilon * (epsilon / 2).tanh() <= arb(1) / 8
    finally:
        ctx.prec = before


def test_a_share_pays_for_a_mechanism() -> None:
    """Three shares of a zCDP budget, with a δ for the selection: the prices come to no more than
    the shares.
    """
    rho = Fraction(1, 300)
    plain, ranged = largest_epsilon(sf.ZCDP(rho)), largest_epsilon(sf.ZCDP(rho), ranged=True)
    parts = [
        mech.Laplace(sensitivity=1, epsilon=plain),
        mech.OptimalSelection(epsilon=plain, delta="1e-9"),
        mech.WeightedQuantile(low=0, high=9, weight=4, epsilon=ranged, relation="add-remove"),
    ]
    spent, delta = price(sf.ZCDP(1, "1e-6"), parts)
    assert Fraction(299, 300) * 3 * rho < spent <= 3 * rho
    assert delta == Fraction(1, 10**9)


def test_the_textbooks_inverse_is_caught() -> None:
    """The twin: √(2ρ) for ε, from ρ = ε²/2, is too little; and √(8ρ) without the range of the
    exponential mechanism is too much.
    """
    share = sf.ZCDP("1/8")
    assert largest_epsilon(share) > Fraction(1, 2)
    assert not Filter(share).admits(sf.Pure(largest_epsilon(share, ranged=True)))


def test_every_currency_has_an_inverse() -> None:
    assert {type(share) for share in SHARES} == set(currencies())


@pytest.mark.parametrize(
    ("share", "code"),
    [
        (sf.ZCDP(0), "number.not-positive"),
        (sf.GDP(0), "number.not-positive"),
        (sf.Pure(1) + sf.GDP(1), "filter.currency"),
    ],
)
def test_refused(share: sf.Guarantee, code: str) -> None:
    with pytest.raises(sf.Refused) as caught:
        largest_epsilon(share)
    assert caught.value.code == code
