"""The mean on a range: exact integers, sensitivities by enumeration, the promise by arithmetic,
intervals that cover.
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.neighbour_relations import RELATIONS
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

REPLACE = mech.Mean(low=-1, high=1, epsilon="1/2", relation="replace", rows=1000)
ADD = mech.Mean(low=-1, high=1, epsilon="1/2", relation="add-remove")


def test_the_numbers_of_the_textbook() -> None:
    """[−1, 1], n = 1000, ε = 1/2: scale 2c/(nε) = 0.004, noise 3.2e-5, in all 1/3/n + 3.2e-5."""
    assert REPLACE.noise.scale * REPLACE.grid / 1000 == Fraction(1, 250)
    assert REPLACE.variance == pytest.approx(3.2e-5, rel=1e-9)
    assert REPLACE.mse("1/3") == pytest.approx(1 / 3000 + 3.2e-5, rel=1e-9)
    assert REPLACE.promise == sf.Pure("1/2", relation="replace")
    assert ADD.promise == sf.Pure("1/2", relation="add-remove")


@pytest.mark.parametrize("name", ["replace", "add-remove"])
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 3), ("-0.3", "0.9")], ids=str)
def test_sensitivity_by_enumeration(name: str, bounds: tuple[Any, Any]) -> None:
    """Sum and count over every pair of neighbours; values beyond the range and NaN among them."""
    size = 2
    m = mech.Mean(
        low=bounds[0],
        high=bounds[1],
        epsilon=1,
        relation=name,
        rows=size if name == "replace" else None,
        grid="1/4",
    )
    sums, counts = [], []
    for x, y in RELATIONS[name].pairs((-9.0, 0.1, 0.6, 9.0, None), size):
        (s, n), (t, k) = m.tally(x), m.tally(y)
        sums.append(abs(s - t))
        counts.append(abs(n - k))
    assert max(sums) == m.noise.sensitivity
    assert max(counts) == (0 if name == "replace" else 1)


@pytest.mark.parametrize(
    "m",
    [
        mech.Mean(low=0, high=1, epsilon=1, relation="add-remove", grid="1/2", share=s)
        for s in ("1/4", "1/2", "9/10")
    ],
    ids=repr,
)
def test_add_remove_keeps_epsilon_by_arithmetic(m: mech.Mean) -> None:
    """The largest ratio of the joint law of noisy sum and count, over all moves of one row and a
    window of answers; the laws factor.
    """
    assert m.counting is not None
    far, worst = m.ends[1] - m.middle, arb(0)
    assert far == 1
    with precision(200):
        for move, z, w in itertools.product((-1, 0, 1), range(-4, 5), range(-4, 5)):
            p = m.noise.law._mass(abs(z)) * m.counting.law._mass(abs(w))
            q = m.noise.law._mass(abs(z - move)) * m.counting.law._mass(abs(w - 1))
            worst = max(worst, abs((p / q).log()), key=lambda value: float(value.mid()))
        assert not worst > ball(m.epsilon) + arb(2) ** -150
        assert worst > ball(m.epsilon) - arb(2) ** -150


def test_clip_nan_and_rounding() -> None:
    m = mech.Mean(low=0, high=1, epsilon=1, relation="replace", rows=4, grid="1/8")
    assert m.tally([0, 1, 2, -5]) == (-4 + 4 + 4 - 4, 4)
    assert m.tally([None, float("nan"), float("inf"), -float("inf")]) == (0, 4)
    assert m.tally(np.array([True, False, True, True])) == (8, 4)
    assert m.tally([0.0625, 0.5, 0.5, 0.5]) == (-3, 4), "halves upward"


def test_the_order_of_rows_does_not_matter() -> None:
    x = np.linspace(-1.5, 1.5, 1000)
    assert (
        REPLACE.tally(x)
        == REPLACE.tally(x[::-1])
        == REPLACE.tally(np.random.default_rng(0).permutation(x))
    )


def test_a_fine_grid_sums_in_python_integers() -> None:
    m = mech.Mean(low=0, high=1, epsilon=1, relation="replace", rows=10, grid=Fraction(1, 2**55))
    assert m.tally([1] * 10) == (10 * 2**54, 10)


@pytest.mark.parametrize("m", [REPLACE, ADD], ids=["replace", "add-remove"])
def test_intervals_cover(m: mech.Mean) -> None:
    """Of 400 intervals at 90 % at least 328 cover: with 360 expected at the least, fewer come with
    probability below 1e-6.
    """
    x = np.random.default_rng(1).uniform(-1, 1, 1000)
    bits = SeededBits(5)
    released = [m.perturb(x, bits=bits) for _ in range(400)]
    covered = sum(low <= x.mean() <= high for low, high in (r.interval(0.9) for r in released))
    assert covered >= 328
    assert max(abs(r.value - x.mean()) for r in released) <= 4 * m.error(0.9, rows=1000)
    assert sum(abs(r.value - x.mean()) <= m.error(0.9, rows=1000) for r in released) >= 328
    assert (
        sum(low <= x.mean() + 0.1 <= high for low, high in (r.interval(0.9) for r in released))
        < 200
    ), "a mean off by 0.1 would be seen"


def test_few_rows_and_none() -> None:
    assert ADD.perturb([]).interval() == (-1.0, 1.0)
    assert -1 <= ADD.perturb([]).value <= 1
    assert ADD.error(rows=1) == pytest.approx(2.0 + float(ADD.grid) / 2, rel=1e-15)  # rounded up


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"relation": None}, "mechanism.relation"),
        ({"relation": "replace"}, "mean.rows"),
        ({"relation": "add-remove", "rows": 5}, "mean.rows"),
        ({"relation": "replace", "rows": 5, "low": 1}, "mean.range"),
        ({"relation": "replace", "rows": 5, "grid": 8}, "mean.range"),
        ({"relation": "add-remove", "share": 1}, "number.not-a-probability"),
        ({"relation": "near"}, "guarantee.relation"),
    ],
    ids=str,
)
def test_parameters_are_refused(arguments: dict[str, Any], code: str) -> None:
    refusal(lambda: mech.Mean(**({"low": 0, "high": 1, "epsilon": 1} | arguments)), code)


def test_data_are_refused_before_bits_are_drawn() -> None:
    refusal(lambda: REPLACE.perturb([1.0], bits=Untouchable()), "mechanism.size")
    for wrong in (["a"], [[1.0]], 3, [object()], np.array(["1"])):
        refusal(lambda wrong=wrong: ADD.perturb(wrong, bits=Untouchable()), "value.type")
    refusal(lambda: ADD.variance, "mean.rows")
    refusal(lambda: ADD.error(), "mean.rows")


def test_an_answer_carries_the_promise_of_its_mechanism() -> None:
    answer = ADD.perturb([0.5] * 10, bits=SeededBits(1))
    assert answer.promise == ADD.promise == sf.Pure("1/2", relation="add-remove")


def test_an_answer_shows_its_value_and_an_interval_that_holds_the_exact_one() -> None:
    answer = ADD.perturb([0.25] * 500, bits=SeededBits(3))
    low, high = answer.interval()
    shown = re.fullmatch(
        r"private mean (\S+) · \[(\S+), (\S+)\] at 95 % · about (\d+) rows · ε = 0.5", repr(answer)
    )
    assert shown is not None
    assert float(shown[1]) == pytest.approx(answer.value, rel=1e-5)
    assert float(shown[2]) <= low
    assert high <= float(shown[3])
    assert int(shown[4]) == answer.rows
    assert "· 1000 rows ·" in repr(REPLACE.perturb([0.25] * 1000))
