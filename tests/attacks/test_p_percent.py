"""The p-percent rule, the printed one, and what the second largest learns from a private total."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato.attacks.p_percent import p_percent, standard_p
from sfumato.errors import Refused

from .promises import promises_hold

X = [100, 60, 5, 3, 2]


def test_S_145_the_numbers_of_the_source() -> None:
    result = p_percent(X)
    assert result.remainder_over_largest == 0.1
    assert result.slide_ratio == 100 / 110
    assert (result.n, result.total, result.largest, result.second, result.remainder) == (
        5,
        170,
        100,
        60,
        10,
    )


@pytest.mark.parametrize(("p", "sensitive"), [(9, False), (10, False), ("10.01", True), (50, True)])
def test_the_rule(p: Any, sensitive: bool) -> None:
    assert p_percent(X, p).sensitive is sensitive


def test_E_39_the_printed_rule_is_another_p() -> None:
    """A threshold of 0.9 is the standard rule at 11.1 per cent; for every sample both forms agree,
    and 90 would say otherwise.
    """
    assert standard_p(90) == Fraction(100, 9)
    assert p_percent(X, 90, variant="slide").sensitive
    assert p_percent(X, 90, variant="slide").p == Fraction(100, 9)
    generator = np.random.default_rng(0)
    differ = 0
    for _ in range(200):
        values = generator.integers(0, 1000, generator.integers(2, 9))
        for threshold in (50, 80, 90, 95):
            printed = p_percent(values, threshold, variant="slide")
            assert printed.sensitive == (printed.slide_ratio > threshold / 100)
            differ += printed.sensitive != p_percent(values, threshold).sensitive
    assert differ > 100


@pytest.mark.parametrize("p", [1, 10, 99])
def test_the_worst_case_is_the_last_one(p: int) -> None:
    """All others together subtract themselves, S − Σ_{i>1} X_i = X_1, also where the rule lets a
    total through: it looks at one of them only.
    """
    result = p_percent([100] * 5, p)
    assert not result.sensitive
    assert result.total - 4 * Fraction(100) == result.largest
    assert "All the others together know the largest exactly, whatever p is" in str(result)


@pytest.mark.parametrize(
    ("values", "sensitive"),
    [([5], True), ([5, 5], True), ([0, 0], False), ([0.1, 0.1, 0.1], False)],
)
def test_few_values(values: list[float], sensitive: bool) -> None:
    assert p_percent(values).sensitive is sensitive


def test_a_column_of_a_table() -> None:
    frame = pd.DataFrame({"revenue": X, "city": list("abcde")})
    assert p_percent(frame, column="revenue").remainder_over_largest == 0.1


def test_words_numbers_and_a_picture() -> None:
    result = p_percent(X, 11)
    assert "too much by 10 per cent, less than 11 per cent: the total is sensitive" in str(result)
    assert result.numbers["slide_ratio"] == pytest.approx(0.9090909, abs=1e-7)
    (axes,) = result.plot().axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(
        [60 / 170, 10 / 170, 100 / 170, 110 / 170]
    )


@pytest.mark.parametrize("values", [[100, 60, 4, 3, 2], [9, 1], [7.5]], ids=str)
def test_a_private_total_keeps_its_promise(values: list[float]) -> None:
    """Wrong with probability 10⁻⁶; the exact total, the twin, is far above what is allowed."""
    exact, *private = p_percent(values, 10).against(("0.1", 1), trials=1000)
    assert exact.lower() > 0.98
    assert exact.chance == 1 / 4
    assert promises_hold(private)
    assert all(success.bound < 0.5 for success in private)


def test_a_wide_p_leaves_two_candidates() -> None:
    exact, private = p_percent(X, 40).against((1,), trials=300)
    assert exact.chance == 1 / 2
    assert exact.rate == 1
    assert private.holds


def test_the_rest_may_be_larger_than_the_bound() -> None:
    """A hundred equal firms: nothing is given away by the exact total either, and the game still
    runs.
    """
    exact, private = p_percent([10.0] * 100, 10).against((1,), trials=200)
    assert private.holds
    assert exact.trials == 200


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"values": []}, "attacks.values"),
        ({"values": [1, -1]}, "attacks.values"),
        ({"values": [1, float("nan")]}, "attacks.values"),
        ({"values": "abc"}, "attacks.values"),
        ({"values": [[1, 2]]}, "attacks.values"),
        ({"values": X, "p": 0}, "number.not-positive"),
        ({"values": X, "variant": "other"}, "attacks.variant"),
        ({"values": X, "p": 100, "variant": "slide"}, "attacks.variant"),
        ({"values": {"a": X}, "column": "b"}, "attacks.columns"),
    ],
    ids=["none", "negative", "missing", "text", "matrix", "p", "variant", "slide", "column"],
)
def test_refusals(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refusal:
        p_percent(**arguments)
    assert refusal.value.code == code


def test_nothing_to_attack() -> None:
    with pytest.raises(Refused, match=r"attacks\.values"):
        p_percent([0, 0]).against()


def test_a_total_beyond_a_double_is_refused() -> None:
    with pytest.raises(Refused, match="too large for a double"):
        p_percent([1e308] * 3)
