"""How many answers it takes, against laws of sums computed by convolution and against closed
forms.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.guarantees.meaning.averaging_limits import averaged_after, told_apart_after, within

from ..refusing import refusing


def by_convolution(most: int, count: int, epsilon: float) -> float:
    reach = max(40, math.ceil(60 / epsilon))
    z = np.arange(-reach, reach + 1)
    q = math.exp(-epsilon)
    single_law = (1 - q) / (1 + q) * q ** np.abs(z)
    law = np.array([1.0])
    for _ in range(count):
        law = np.convolve(law, single_law)
    middle = len(law) // 2
    return float(law[middle - most : middle + most + 1].sum())


@pytest.mark.parametrize(
    ("most", "count", "epsilon"),
    [(0, 1, 0.5), (0, 1, 30.0), (1, 3, 1.0), (14, 29, 1.0), (40, 7, 0.3), (2, 4, 2.0)],
)
def test_sums_as_by_convolution(most: int, count: int, epsilon: float) -> None:
    assert within(most, count, epsilon) == pytest.approx(
        by_convolution(most, count, epsilon), abs=1e-13
    )


@pytest.mark.parametrize(
    ("epsilon", "answers"),
    [("0.8", 47), (1, 29), (2, 7), (3, 3), ("3.66", 3), ("3.67", 1), (50, 1)],
)
def test_the_least_number_whose_mean_is_the_count(epsilon: object, answers: int) -> None:
    """By search through all numbers, odd and even; a mean of exactly ½ does not count."""
    e, n = float(epsilon), 1  # type: ignore[arg-type]  # cases are objects
    while by_convolution((n + 1) // 2 - 1, n, e) < 0.95:
        n += 1
    assert averaged_after(epsilon) == n == answers  # type: ignore[arg-type]  # cases are objects


def test_small_epsilons_as_by_the_normal_law() -> None:
    """(2·1.95996/ε)²·2 for many answers."""
    for epsilon in (0.01, 1e-3, 1e-6):
        assert averaged_after(epsilon) == pytest.approx(
            2 * (2 * 1.959963984540054 / epsilon) ** 2, rel=1e-4
        )


@pytest.mark.parametrize("mu", ["0.1", "0.5", "1", "4"])
def test_gaussian_answers_in_closed_form(mu: str) -> None:
    """√k·μ = 2·1.64485."""
    assert told_apart_after(sf.GDP(mu)) == math.ceil((2 * 1.6448536269514722 / float(mu)) ** 2)


@pytest.mark.parametrize(
    "guarantee",
    [
        sf.Pure(1),
        sf.Pure("0.1"),
        sf.Approx("0.1", "1e-6"),
        sf.ZCDP("0.02"),
        sf.Pure("0.2") + sf.GDP("0.2"),
    ],
    ids=repr,
)
def test_one_answer_less_excludes_the_attacker(guarantee: sf.Guarantee) -> None:
    k = told_apart_after(guarantee)
    assert k is not None
    best = []
    for notion in (type(guarantee), sf.GDP, sf.ZCDP):
        try:
            statement = guarantee.to(notion)
        except sf.Refused:
            continue
        best.append([(n * statement).tradeoff("0.05") for n in (k - 1, k)])
    assert max(before for before, _ in best) > 0.05 >= max(after for _, after in best)


def test_the_best_statement_counts() -> None:
    """Added up as ε, Pure(0.1) is passed after 30 answers; as Gaussian it holds for 689."""
    assert math.ceil(math.log(19) / 0.1) == 30
    assert told_apart_after(sf.Pure("0.1")) == 690


def test_where_nothing_is_excluded_or_everything() -> None:
    assert told_apart_after(sf.Pure(0)) is None
    assert told_apart_after(sf.Pure(50)) == 1
    assert told_apart_after(sf.Approx(0, "0.4")) == 3, (
        "the third δ makes 1.2: nothing is promised any more"
    )
    assert told_apart_after(sf.Pure(1), Fraction(1, 3)) < told_apart_after(
        sf.Pure(1), Fraction(1, 100)
    )


def test_a_tiny_epsilon_is_refused_and_not_searched_for() -> None:
    assert averaged_after("1e-5") > 10**10
    with refusing("number.range"):
        averaged_after("9e-7")
