"""What dominates what: claims of the pairs, by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.accounting.loss import loss_far
from sfumato.accounting.loss.loss_laws import reverse
from sfumato.accounting.loss.loss_pairs import GaussianPair, LaplacePair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import ClonePair, RoundedPair, SampledPair


def geometric(ratio: Fraction, steps: int) -> list[tuple[Fraction, Fraction]]:
    """The noise cut to 0 … D, which tells all there is to tell, under no shift and under a shift by
    D.
    """
    inside = [(1 - ratio) / (1 + ratio) * ratio**z for z in range(1, steps)]
    p = [1 / (1 + ratio), *inside, ratio**steps / (1 + ratio)]
    return list(zip(p, reversed(p), strict=True))


def excess(outcomes: list[tuple[Fraction, Fraction]], t: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - t * q) for p, q in outcomes), Fraction(0))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 2), (2, 3), (4, 4), (1, 9)])
@pytest.mark.parametrize("ratio", ["1/10", "1/2", "9/10", "99/100"])
def test_noise_on_two_numbers_is_dominated_by_noise_on_one(a: int, b: int, ratio: str) -> None:
    r = Fraction(ratio)
    both = [(p * x, q * y) for (p, q), (x, y) in product(geometric(r, a), geometric(r, b))]
    single, less = geometric(r, a + b), geometric(r, a + b - 1)
    losses = [p / q for p, q in both + single]
    for t in [*losses, *(x * Fraction(101, 100) for x in losses), Fraction(1)]:
        assert excess(both, t) <= excess(single, t)
    assert any(excess(both, p / q) > excess(less, p / q) for p, q in less), (
        "with a step less it would not be"
    )


def test_wider_noise_is_within_narrower() -> None:
    for r, wider in (("1/2", "2/3"), ("9/10", "91/100")):
        for steps in (1, 3):
            narrow, wide = geometric(Fraction(r), steps), geometric(Fraction(wider), steps)
            assert all(excess(wide, p / q) <= excess(narrow, p / q) for p, q in narrow + wide)
    assert LaplacePair(Fraction(1, 2), 3).within(LaplacePair(Fraction(1), 3))
    assert not LaplacePair(Fraction(1, 2), 3).within(LaplacePair(Fraction(1), 4))


def test_order_of_pairs() -> None:
    assert LaplacePair(Fraction(1)).within(ResponsePair(Fraction(1)))
    assert not LaplacePair(Fraction(1)).within(ResponsePair(Fraction(1), categories=3))
    assert ResponsePair(Fraction(1), categories=5).within(ResponsePair(Fraction(1)))
    assert RoundedPair(1, Fraction(2)).within(GaussianPair(Fraction(1, 4)))
    assert not GaussianPair(Fraction(1, 4)).within(RoundedPair(1, Fraction(2)))
    assert ClonePair(Fraction(1), 200).within(ClonePair(Fraction(1), 100))
    assert not SampledPair(GaussianPair(Fraction(1)), Fraction(1, 2)).within(
        SampledPair(GaussianPair(Fraction(1)), Fraction(1, 2), "fixed")
    )


def test_every_law_has_mass_one_in_both_directions() -> None:
    """An upper bound could live with more, a lower bound could not."""
    bases = [
        GaussianPair(Fraction(1, 9)),
        GaussianPair(Fraction(100)),
        LaplacePair(Fraction(1)),
        LaplacePair(Fraction(1), 1000),
        LaplacePair(Fraction(1), 12),
    ]
    bases += [
        LaplacePair(Fraction(3), 2**20),
        ResponsePair(Fraction(2), Fraction(1, 100), 7),
        RoundedPair(2, Fraction(7, 3)),
        ClonePair(Fraction(1), 5000),
    ]
    one_sided = FinitePair(
        (Fraction(1, 3), Fraction(2, 3), Fraction(0)), (Fraction(1, 2), Fraction(0), Fraction(1, 2))
    )
    sampled = [
        SampledPair(base, Fraction(1, 50), how)
        for base in bases[:8]
        for how in ("poisson", "fixed")
    ]
    for pair in [*bases, *sampled, one_sided, SampledPair(one_sided, Fraction(1, 3))]:
        for law in (pair.law(), reverse(pair.law())):
            p, q = law.cells(np.linspace(-2, 2, 9))
            for total in (
                p.sum() + law.atoms.p.sum() + law.only_p,
                q.sum() + law.atoms.q.sum() + law.only_q,
            ):
                assert abs(total - 1) < 1e-13 + law.error, repr(pair)


def test_a_pair_without_a_known_event_of_large_loss_says_so() -> None:
    """Then the composition has no joint event either, and its lower bounds come from elsewhere."""
    normal = GaussianPair(Fraction(1))
    unknown = SampledPair(normal, Fraction(1, 2), "poisson")
    assert normal.top(0) is normal.likely(0, 3) is unknown.top(1) is None
    assert ClonePair(Fraction(1), 100).nearer(1) is RoundedPair(1, Fraction(1)).nearer(1) is None
    large = LaplacePair(Fraction(1000))
    assert loss_far._events(((large, 2),), 0)
    assert loss_far._events(((large, 2), (unknown, 1)), 0) == []


def test_a_pair_of_stated_laws_is_within_itself_only() -> None:
    half = Fraction(1, 2)
    pair = FinitePair((half, half), (Fraction(1, 4), Fraction(3, 4)))
    assert pair.within(FinitePair(pair.p, pair.q))
    assert not pair.within(FinitePair(pair.q, pair.p))
    assert not pair.within(ResponsePair(Fraction(100)))


@pytest.mark.parametrize("steps", [None, 9])
def test_laplace_noise_of_many_steps_lists_no_outcomes(steps: int | None) -> None:
    assert LaplacePair(Fraction(1), steps).outcomes() is None
    assert len(LaplacePair(Fraction(1), 8).outcomes() or ()) == 9
