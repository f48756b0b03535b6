"""Pairs behind sampling, of rounded noise and of shuffled reports: what they promise and refuse."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.loss.loss_pairs import DominatingPair, GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import ClonePair, RoundedPair, SampledPair, sampled
from sfumato.guarantees.renyi import subsampled_gaussian

from ..refusing import refusing

TENTH = Fraction(1, 10)
BETRAYING = FinitePair(
    (Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(0), TENTH, 9 * TENTH)
)


@pytest.mark.parametrize("base", ["response", SampledPair(ResponsePair(Fraction(1)), TENTH)])
def test_only_a_pair_that_is_not_sampled_yet_is_sampled(base: DominatingPair) -> None:
    with refusing("loss.sampled"):
        SampledPair(base, TENTH)


@pytest.mark.parametrize("how", ["poisson", "fixed"])
@pytest.mark.parametrize(
    ("base", "promise"),
    [
        (LaplacePair(Fraction(1), None), sf.Pure(1)),
        (ResponsePair(Fraction(1)), sf.Pure(1)),
        (ResponsePair(Fraction(1), TENTH), sf.Approx(1, "0.1")),
    ],
    ids=repr,
)
def test_a_sampled_pair_promises_what_sampling_leaves_of_the_promise(
    base: DominatingPair, promise: sf.Guarantee, how: str
) -> None:
    guarantee = SampledPair(base, TENTH, how).guarantee  # type: ignore[arg-type]  # two known names
    assert guarantee is not None
    assert (guarantee.relation, guarantee.unit) == (None, None)
    assert guarantee.parameters == promise.subsample("0.1").parameters


@pytest.mark.parametrize(
    "pair",
    [
        SampledPair(BETRAYING, TENTH),
        SampledPair(ResponsePair(Fraction(sys.float_info.max)), Fraction("0.999")),
        SampledPair(GaussianPair(Fraction(10) ** 307), TENTH),
    ],
    ids=["base promises nothing", "too large", "curve too large"],
)
def test_a_sampled_pair_without_a_promise_has_no_bound_at_any_order(pair: SampledPair) -> None:
    assert pair.guarantee is None
    assert sf.Loss(((pair, 1),)).renyi(2) == float("inf")


def test_sampled_gaussian_noise_promises_its_curve() -> None:
    assert SampledPair(GaussianPair(Fraction(2)), TENTH).guarantee == subsampled_gaussian(
        TENTH, Fraction(2)
    )


def test_sampling_nobody_reveals_nothing_and_sampling_all_changes_nothing() -> None:
    base = LaplacePair(Fraction(1), 3)
    assert sampled(base, Fraction(1), "poisson") == base
    assert sampled(base, TENTH, "poisson") == SampledPair(base, TENTH)
    nobody = sf.Loss(((sampled(base, Fraction(0), "poisson"), 5),))
    assert nobody.delta(0) == nobody.epsilon() == 0


def test_rounded_noise_protects_a_group_as_if_one_unit_moved_so_many_steps_more() -> None:
    pair = RoundedPair(2, Fraction(7))
    assert pair.group(3) == RoundedPair(6, Fraction(7))
    assert pair.group(3).guarantee == pair.guarantee.group(3)


def test_a_shuffled_report_keeps_the_promise_of_its_randomizer() -> None:
    pair = ClonePair(Fraction(1), 1000)
    assert pair.guarantee == sf.Pure(1)
    assert sf.Loss(((pair, 3),)).to(sf.Pure) == sf.Pure(3)
