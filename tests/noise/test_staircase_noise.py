"""The staircase law: its sums from the definition, the best middle step by trying all, and the
frequencies of its draws.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.errors import Refused
from sfumato.exact.balls import ball, precision
from sfumato.noise.staircase_noise import StaircaseLaw, best_width
from sfumato.testing import SeededBits, TapeBits

ONES = (1 << 64) - 1
CASES = [
    (Fraction(1), 1, 1),
    (Fraction(1), 5, 2),
    (Fraction(1, 2), 7, 7),
    (Fraction(3), 4, 1),
    (Fraction(1, 20), 3, 2),
    (Fraction(8), 100, 3),
]
each = pytest.mark.parametrize(("epsilon", "period", "width"), CASES)


def weights(epsilon: Fraction, period: int, width: int) -> list[arb]:
    """b^L for z = 0, 1, …, written out step by step, until 2^-300."""
    steps, b = int(210 / epsilon) + 2, (-ball(epsilon)).exp()
    return [arb(1)] * width + [b**level for level in range(1, steps) for _ in range(period)]


@each
def test_sums_against_the_definition(epsilon: Fraction, period: int, width: int) -> None:
    law = StaircaseLaw(epsilon=epsilon, period=period, width=width)
    with precision(300):
        w = weights(epsilon, period, width)
        total = 2 * sum(w, arb(0)) - 1
        small = arb(2) ** -51
        for z in (0, 1, width - 1, width, width + period - 1, width + period, 3 * period + width):
            mass, tail = w[z] / total, sum(w[z:], arb(0)) / total
            assert abs(arb(law.pmf(z)) - mass) < mass * small
            assert abs(arb(law.tail(z)) - tail) < tail * small
            assert law.pmf(-z) == law.pmf(z)
        for power, value in ((1, law.mean_error), (2, law.variance)):
            moment = 2 * sum((z**power * v for z, v in enumerate(w)), arb(0)) / total
            assert abs(arb(value) - moment) < moment * small


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(10)]
)
@pytest.mark.parametrize("period", [1, 2, 3, 10, 57])
def test_the_best_width_by_trying_all(epsilon: Fraction, period: int) -> None:
    errors = [
        StaircaseLaw(epsilon=epsilon, period=period, width=w).mean_error
        for w in range(1, period + 1)
    ]
    assert best_width(epsilon, period) == 1 + int(np.argmin(errors))


def test_the_best_width_on_a_fine_grid() -> None:
    assert best_width(Fraction(1), 1 << 40) / 2**40 == pytest.approx(0.3775406687981454, abs=1e-11)


def test_the_middle_is_decided_by_its_threshold() -> None:
    """One bit of U below, at and above ⌊2^64·P(|Z| < width)⌋; at it, by the next word."""
    law = StaircaseLaw(epsilon=1, period=4, width=1)  # in the middle there is only 0
    with precision(200):
        second = int(str((law._share() * ball(1 << 128)).floor().unique_fmpz())) & ONES
    assert law.draw(TapeBits([law._middle - 1])) == 0
    assert law.draw(TapeBits([law._middle + 1])) != 0
    assert law.draw(TapeBits([law._middle, second - 1])) == 0
    assert law.draw(TapeBits([law._middle, second + 1])) != 0


def statistic(law: StaircaseLaw, drawn: np.ndarray) -> float:
    cells = np.arange(-12, 13)
    p = np.append(law.pmf(cells), 2 * law.tail(13))
    counts = np.append([(drawn == z).sum() for z in cells], (np.abs(drawn) > 12).sum())
    return float(((counts - len(drawn) * p) ** 2 / (len(drawn) * p)).sum())


def test_frequencies() -> None:
    """False alarm: 10^-9 for a statistic above 92 with 25 degrees of freedom. The twin has a middle
    step one wider.
    """
    law, twin = (
        StaircaseLaw(epsilon=1, period=5, width=2),
        StaircaseLaw(epsilon=1, period=5, width=3),
    )
    drawn = law.sample(200_000, SeededBits(2))
    assert statistic(law, drawn) < 92
    assert statistic(twin, drawn) > 92
    source = SeededBits(5)
    one_by_one = np.array([law.draw(source) for _ in range(8_000)])
    assert statistic(law, one_by_one) < 92


def test_the_law_is_never_cut() -> None:
    """A draw 200 steps of 2^56 out is a Python integer."""
    law = StaircaseLaw(epsilon=1, period=1 << 56, width=1)

    tape = [0, *[1 << 62] * 9, 0, 0, 0, 1 << 40, 7 << 8, 1 << 63]
    (z,) = law._outside(1, TapeBits(tape)).tolist()
    assert type(z) is int
    assert z < -(1 << 63)
    assert (-z - 1) % (1 << 56) == 7, "place in the step, sign and width as drawn"


def test_one_step_is_geometric() -> None:
    from sfumato.noise.geometric import Geometric

    stairs, geometric = StaircaseLaw(epsilon=1, period=1, width=1), Geometric(scale=1)
    assert stairs.pmf(np.arange(10)).tolist() == pytest.approx(
        geometric.pmf(np.arange(10)).tolist(), rel=1e-15
    )
    assert Counter(np.sign(stairs.sample(1000, SeededBits(3))).tolist()).keys() == {-1, 0, 1}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"epsilon": 0, "period": 1, "width": 1}, "number.not-positive"),
        ({"epsilon": 1, "period": 3, "width": 4}, "noise.staircase"),
        ({"epsilon": 1, "period": 3, "width": 0}, "noise.staircase"),
        ({"epsilon": 1, "period": 2**57, "width": 1}, "noise.scale"),
        ({"epsilon": "1e-9", "period": 2**40, "width": 1}, "noise.scale"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, int], code: str) -> None:
    with pytest.raises(Refused) as caught:
        StaircaseLaw(**arguments)
    assert caught.value.code == code
