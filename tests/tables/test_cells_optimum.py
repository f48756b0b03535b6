"""How near cells come to the best noise there is: the lower bounds of docs/proofs/cells.md, by
linear programs over all noise laws.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack

from sfumato.noise.geometric import Geometric

REACH = 20
EPSILON = 1.0


def least_square(offset: float, epsilon: float = EPSILON) -> float:
    """Return the least E N² of a law on offset + ℤ whose neighbours differ by at most e^ε. Laws are
    folded onto a ring, which keeps that and makes no square larger.
    """
    places = np.arange(-REACH, REACH + 1) + offset
    size = len(places)
    squares = np.minimum(np.abs(places), size - np.abs(places)) ** 2
    step = diags_array([1.0, 1.0], offsets=[1, 1 - size], shape=(size, size))
    equal = diags_array([1.0], offsets=[0], shape=(size, size))
    rules = vstack([equal - math.exp(epsilon) * step, step - math.exp(epsilon) * equal])
    solved = linprog(
        squares, A_ub=rules, b_ub=np.zeros(2 * size), A_eq=np.ones((1, size)), b_eq=[1.0]
    )
    assert solved.status == 0
    return float(solved.fun)


def test_the_geometric_law_attains_the_floor_of_a_count() -> None:
    law = Geometric(scale=1 / Fraction(EPSILON))
    # the solver may break rules by 1e-7, at places with squares up to 400
    assert law.variance == pytest.approx(least_square(0.0), rel=1e-4)
    alpha = math.exp(-EPSILON)
    assert law.variance == pytest.approx(2 * alpha / (1 - alpha) ** 2)


@pytest.mark.parametrize("offset", [0.1, 0.25, 0.5])
def test_answers_that_are_no_whole_numbers_are_worse(offset: float) -> None:
    """For small offsets exactly V + c²; the lower bound V holds for all."""
    floor = least_square(0.0)
    assert floor < least_square(offset) <= floor + offset**2 + 1e-4


def test_a_law_with_more_loss_is_below_the_floor() -> None:
    """The twin: at 1.1·ε the floor is lower."""
    assert least_square(0.0, 1.1 * EPSILON) < 0.9 * least_square(0.0)
