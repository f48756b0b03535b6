"""The table of pure and Rényi statements, row by row, by arithmetic; what a copy of it prints must
fail.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.loss_closed_forms import gaussian_loss, gaussian_renyi
from sfumato.guarantees.meaning.pure_and_renyi import COMPARISON

ONE = Channel.randomized_response(odds=3)
OTHER = Channel([["0.5", "0.2", "0.2", "0.1"], ["0.3", "0.3", "0.25", "0.15"]])


def test_six_rows() -> None:
    assert len({row.about for row in COMPARISON}) == len(COMPARISON) == 6
    assert [bool(row.printed) for row in COMPARISON] == [True, True, True, False, True, False]


@pytest.mark.parametrize("order", [Fraction(3, 2), 2, 8])
def test_chance_of_an_outcome(order: Fraction) -> None:
    """With the exponent on the left, and x and y in their places."""
    a, epsilon = float(order), OTHER.renyi(order)
    for y in range(4):
        p, q = float(OTHER.row(0)[y]), float(OTHER.row(1)[y])
        for x, opposite in ((p, q), (q, p)):
            assert (
                math.exp(-epsilon) * opposite ** (a / (a - 1))
                <= x
                <= (math.exp(epsilon) * opposite) ** ((a - 1) / a)
            )


def test_bayes_factor() -> None:
    """The printed exponent ε·(α − 1)·ε is false: with σ = 2 and α = 2, ε is ¼ and the moment e^¼,
    more than e^(1/16).
    """
    assert gaussian_renyi(2, [1], [[4]]) == 1 / 4
    assert sf.GDP("1/2").meaning().bayes_factor_moment(2) == pytest.approx(math.exp(1 / 4))
    assert math.exp(1 / 4) > math.exp((1 / 4) * (1 / 4))


def test_logarithm_of_the_bayes_factor() -> None:
    """S-124, E-51: on average at most D_α; not always."""
    loss = gaussian_loss(1)
    assert loss.mean == Fraction(1, 2) <= gaussian_renyi(2, [1], [[1]]) == 1
    assert loss.tail(1) > 0.3


def test_post_processing() -> None:
    blurred = OTHER.compose(Channel([[1, 0], [1, 0], [0, 1], [0, 1]]))
    assert blurred.epsilon() <= OTHER.epsilon()
    assert blurred.renyi(3) <= OTHER.renyi(3)


def test_two_releases_cost_two_and_not_three() -> None:
    both = ONE.product(ONE)
    assert both.epsilon() == pytest.approx(2 * ONE.epsilon())
    assert both.renyi(3) == pytest.approx(2 * ONE.renyi(3))
    assert 2 * sf.Pure(1) == sf.Pure(2)


def test_groups() -> None:
    """S-110: σ = 4, α = 32, a group of 8: (4, 27) is promised, 8 is exact."""
    gaussian = sf.Renyi({32: Fraction(gaussian_renyi(32, [1], [[16]]))})
    assert gaussian.group(8).curve == {4: 27}
    assert gaussian_renyi(4, [8], [[16]]) == 8
    assert sf.Pure(1).group(8) == sf.Pure(8)
