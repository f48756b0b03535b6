"""Loss as a guarantee: algebra, order, conversions, storage, closed forms."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting import optimal_curve
from sfumato.accounting.compose import loss_between
from sfumato.accounting.loss.loss_pairs import GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import ClonePair, RoundedPair, SampledPair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.guarantees import Mixed

LAPLACE = mech.Laplace(sensitivity=1, epsilon="0.1", grid=2**-20)
SAMPLED = mech.Gaussian(sensitivity=1, sigma=1).subsample("0.01")


def test_the_algebra_is_exact() -> None:
    a = sf.compose([LAPLACE])
    assert 3 * a == a + a + a == sf.compose([(LAPLACE, 3)])
    b = sf.compose([(SAMPLED, 100)])
    assert a + b == b + a
    assert (a + b) + a == a + (b + a)
    assert 0 * a == Loss(())
    assert (0 * a).delta(0) == (0 * a).epsilon() == (0 * a).delta_lower(0) == 0


def test_other_guarantees_with_a_pair_are_evaluated_together() -> None:
    a = sf.compose([LAPLACE])
    assert a + sf.Pure("0.2") == sf.Pure("0.2") + a
    assert (a + sf.Pure("0.2")).delta("0.1") == sf.compose([LAPLACE, sf.Pure("0.2")]).delta("0.1")
    assert (sf.GDP(1) + a).epsilon("1e-6") <= sf.compose([LAPLACE, sf.GDP(1)]).epsilon("1e-6")
    mixed = sf.ZCDP("0.1") + a
    assert isinstance(mixed, Mixed)
    assert mixed == a + sf.ZCDP("0.1")
    assert mixed.delta(2) >= a.delta(2)
    assert (mixed + sf.Pure(1)).parts == (sf.Pure(1), sf.ZCDP("0.1"), a)
    assert sf.Guarantee.from_json(mixed.to_json()) == mixed


def test_gaussian_noise_alone_has_its_closed_form() -> None:
    total = sf.compose([(mech.Gaussian(sensitivity=1, sigma=100), 10_000)])
    assert total.parts == ((GaussianPair(Fraction(1)), 1),)
    assert total.epsilon("1e-6") == sf.GDP(1).epsilon("1e-6")
    assert 0 < total.epsilon("1e-6") - total.epsilon_lower("1e-6") < 1e-13
    assert total.delta("1e-3") == sf.GDP(1).delta("1e-3")


def test_responses_are_counted() -> None:
    total = sf.compose([(sf.Pure("0.1"), 100)])
    exact = optimal_curve([(sf.Pure("0.1"), 100)])
    assert total.epsilon("1e-6") == exact.epsilon("1e-6")
    assert total.delta(2) == exact.delta(2)
    assert total.epsilon("1e-6") * (1 - 1e-14) < total.epsilon_lower("1e-6") < total.epsilon("1e-6")


def test_the_lattice_finds_the_closed_forms() -> None:
    """The same numbers without the closed form: too many responses, and a Gaussian beside a
    response of no effect.
    """
    many = sf.compose([(sf.Pure("0.01"), 2500)])
    assert (
        many.epsilon_lower("1e-6")
        <= optimal_curve([(sf.Pure("0.01"), 2500)]).epsilon("1e-6")
        <= many.epsilon("1e-6") * (1 + 1e-12)
    )
    assert many.epsilon("1e-6") - many.epsilon_lower("1e-6") < 1e-8


def test_no_more_than_the_sum() -> None:
    total = sf.compose([(LAPLACE, 3), sf.Pure("0.5")])
    assert total.epsilon() == 0.8
    assert total.delta("0.8") == total.delta_lower("0.8") == 0
    assert total.epsilon("1e-12") <= 0.8
    assert 0.79 < total.epsilon_lower() <= 0.8


def test_what_is_lost_stays_lost() -> None:
    total = sf.compose([(sf.Approx("0.1", "1e-6"), 10), LAPLACE])
    lost = 1 - (1 - Fraction(1, 10**6)) ** 10
    assert math.isinf(total.epsilon("1e-6"))
    assert math.isinf(total.epsilon_lower("1e-6"))
    assert total.delta(50) >= lost
    assert total.delta(50) == pytest.approx(float(lost), rel=1e-12)
    assert total.delta_lower(50) <= lost
    assert total.epsilon("1.1e-5") < 1.2
    assert (10**6 * sf.compose([sf.Approx("0.01", "1e-12")])).epsilon("1e-5") < 200


def test_order() -> None:
    a = sf.compose([LAPLACE])
    assert a <= a <= 2 * a
    assert not 2 * a <= a
    assert a <= sf.compose([sf.Pure("0.1")])
    assert not sf.compose([sf.Pure("0.1")]) <= a
    assert a <= sf.Pure("0.1")
    assert a <= sf.Approx("0.1", 0)
    assert 10 * a <= sf.Approx("0.95", "1e-3")
    assert not 10 * a <= sf.Approx("0.3", "1e-3")
    assert sf.compose([sf.GDP(1)]) <= sf.GDP(1) <= sf.compose([sf.GDP(1)])
    assert sf.compose([SAMPLED]) <= sf.compose(
        [mech.Gaussian(sensitivity=1, sigma=1).subsample("0.02")]
    )
    assert sf.Pure("0.1") <= sf.compose([sf.Pure("0.2"), LAPLACE])
    assert not sf.ZCDP(1) <= sf.compose([sf.GDP(10)])


def test_conversions() -> None:
    a = sf.compose([(LAPLACE, 2), sf.Pure("0.3")])
    assert a.to(sf.Pure) == sf.Pure("0.5")
    assert a.to(sf.ZCDP).rho == (2 * sf.Pure("0.1").to(sf.ZCDP) + sf.Pure("0.3").to(sf.ZCDP)).rho
    assert a.to(sf.Approx, delta="1e-3").parameters["epsilon"] == Fraction(a.epsilon("1e-3"))
    assert sf.compose([SAMPLED]).to(sf.Renyi).renyi(8) == SAMPLED.promises[0].renyi(8)
    with pytest.raises(sf.Refused, match=r"guarantee\.does-not-follow"):
        sf.compose([SAMPLED]).to(sf.Pure)
    assert a.renyi(2) >= (2 * sf.Pure("0.1")).renyi(2)
    assert a.tradeoff("0.05") <= 0.95


def test_groups() -> None:
    a = sf.compose([LAPLACE, sf.GDP("0.3")])
    family = a.group(3)
    assert family == sf.compose([mech.Laplace(sensitivity=3, scale=10, grid=2**-20), sf.GDP("0.9")])
    assert family.delta(1) > a.delta(1)
    with pytest.raises(sf.Refused, match=r"guarantee\.group"):
        sf.compose([SAMPLED]).group(2)
    assert sf.compose([sf.Approx(1, "1e-6")]).group(2).epsilon("1e-5") == sf.Approx(
        1, "1e-6"
    ).group(2).epsilon("1e-5")


def test_one_release_is_sampled_at_a_time() -> None:
    single = sf.compose([mech.Gaussian(sensitivity=1, sigma=1)])
    assert single.subsample("0.01") == sf.compose([SAMPLED])
    with pytest.raises(sf.Refused, match=r"guarantee\.subsample"):
        (sf.compose([LAPLACE]) + single).subsample("0.01")


def test_relations_are_kept_and_told_apart() -> None:
    total = sf.compose([(SAMPLED, 3), LAPLACE])
    assert total.relation == "add-remove"
    with pytest.raises(sf.Refused, match=r"guarantee\.relation"):
        total + sf.Pure(1, relation="replace")
    with pytest.raises(sf.Refused, match=r"guarantee\.relation"):
        sf.compose([SAMPLED, mech.Laplace(sensitivity=1, epsilon=1, relation="replace")])
    with pytest.raises(sf.Refused, match=r"loss\.direction"):
        Loss(((SampledPair(LaplacePair(Fraction(1)), Fraction(1, 2)), 1),), relation="replace")
    with pytest.raises(sf.Refused, match=r"loss\.direction"):
        loss_between([0.5, 0.5], [0.25, 0.75])
    assert loss_between([0.25, 0.75], [0.75, 0.25], relation="replace").epsilon() == pytest.approx(
        math.log(3)
    )


PAIRS = (
    GaussianPair(Fraction(1, 3)),
    LaplacePair(Fraction(1, 7), 12),
    LaplacePair(Fraction(1, 7)),
    ResponsePair(Fraction(1, 3), Fraction(1, 10**9), 5),
    FinitePair((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 2))),
    RoundedPair(2, Fraction(7, 3)),
    ClonePair(Fraction(1), 1000),
    SampledPair(GaussianPair(Fraction(2)), Fraction(1, 10)),
    SampledPair(LaplacePair(Fraction(2), 3), Fraction(1, 10), "fixed"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.kind)
def test_storage_gives_an_equal_value_back(pair: object) -> None:
    loss = Loss(
        ((pair, 17),), relation="add-remove" if not pair.symmetric else "replace", unit="patient"
    )
    text = loss.to_json()
    assert sf.Guarantee.from_json(text) == loss
    assert json.loads(text)["version"] == 1
    assert "Fraction" not in repr(loss)
    assert 0 <= loss.delta_lower(1) <= loss.delta(1) <= 1


@pytest.mark.parametrize(
    "parts",
    [
        "[3]",
        '[{"count": "1", "kind": "unknown"}]',
        '[{"count": "-1", "kind": "laplace", "epsilon": "1"}]',
        '[{"count": "1", "kind": "laplace", "epsilon": "-1"}]',
        '[{"count": "1", "kind": "gaussian", "mu_squared": "0"}]',
        '[{"count": "1", "kind": "response", "epsilon": "1", "delta": "1", "categories": "2"}]',
        '[{"count": "1", "kind": "response", "epsilon": "1", "delta": "0", "categories": "1"}]',
        '[{"count": "1", "kind": "finite", "p": ["1/2", "1/2"], "q": ["1"]}]',
        '[{"count": "1", "kind": "finite", "p": ["1/2", "1/3"], "q": ["1/2", "1/2"]}]',
        (
            '[{"count": "1", "kind": "sampled", "rate": "2", "how": "poisson", "base": '
            '{"kind": "laplace", "epsilon": "1"}}]'
        ),
        (
            '[{"count": "1", "kind": "sampled", "rate": "1/2", "how": "often", "base": '
            '{"kind": "laplace", "epsilon": "1"}}]'
        ),
        '[{"count": "1", "kind": "rounded", "steps": "1.5", "sigma": "1"}]',
    ],
)
def test_unreadable_storage_is_refused(parts: str) -> None:
    """By the reader, or by the constructor that it goes through."""
    with pytest.raises(sf.Refused, match=r"guarantee\.stored|number\.|law\.|loss\."):
        sf.Guarantee.from_json(
            f'{{"sfumato": "guarantee", "version": 1, "notion": "Loss", "parts": {parts}}}'
        )


def test_rounded_normal_noise_is_within_real_normal_noise() -> None:
    """Rounding is processing; at σ = 2 and ε = 1 both curves touch, at σ = ½ they do not."""
    for sigma, gain in (("2", False), ("0.5", True)):
        rounded, real = (
            Loss(((RoundedPair(1, Fraction(sigma)), 1),)),
            Loss(((GaussianPair(1 / Fraction(sigma) ** 2), 1),)),
        )
        assert rounded <= real
        for e in (0, "0.3", 1, 3):
            assert rounded.delta_lower(e) <= real.delta(e) * (1 + 1e-9)
        assert (rounded.delta(1) < 0.9 * real.delta(1)) == gain
    far = Loss(((RoundedPair(60, Fraction(1)), 1),))
    assert far.delta(1) >= Loss(((RoundedPair(10, Fraction(1)), 1),)).delta_lower(1) > 0.99, (
        "what is farther apart than doubles can say is lost"
    )
    assert sf.compose([mech.Gaussian(sensitivity=1, sigma="0.5", size=1)]).delta(
        1
    ) == pytest.approx(0.4101, abs=1e-4)


def test_of_two_losses_the_one_that_implies_the_other_is_kept() -> None:
    less, more = (Loss(((ResponsePair(Fraction(e)), 1),)) for e in (1, 2))
    assert less._meet(more) == more._meet(less) == less._meet(less) == less
    gaussian = Loss(((GaussianPair(Fraction(1)), 1),))
    assert less._meet(gaussian) == less


def test_the_parameters_of_a_loss_are_its_pairs() -> None:
    parts = ((ResponsePair(Fraction(1)), 2),)
    assert Loss(parts).parameters == {"parts": parts}


def test_only_pairs_make_a_loss() -> None:
    with pytest.raises(sf.Refused, match=r"loss\.number"):
        Loss(((sf.Pure(1), 1),))  # type: ignore[arg-type]  # on purpose
