"""How much can be proven: the published table of shares, and the ceiling."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.mechanism_laws import law_pair_at
from sfumato.auditing.power import best_expected, ceiling, expected_bound, sure_bound
from sfumato.errors import Refused

LEVELS = (0.1, 0.5, 1, 2, 5)
N = 10**6

TABLE = {
    "geometric": (0.902, 0.980, 0.989, 0.992, 0.988),
    "binary response": (0.902, 0.980, 0.989, 0.992, 0.988),
    "response of 4": (0.83, 0.97, 0.98, 0.99, 0.99),
    "response of 10": (0.71, 0.95, 0.98, 0.99, 0.99),
    "response of 100": (0.05, 0.83, 0.92, 0.97, 0.98),
    "symmetric unary": (0.83, 0.97, 0.98, 0.99, 0.98),
    "optimised unary": (0.83, 0.97, 0.98, 0.99, 0.98),
    "Gaussian, ε at δ = 1e-6": (0.20, 0.47, 0.54, 0.60, 0.60),
    "Gaussian, μ": (0.56, 0.90, 0.95, 0.97, 0.99),
}
"""Shares of the claim that a million draws a side prove at α = 10⁻⁶ with the best event: the
project's theory, 9.3.
"""


def share(law: str, e: float) -> float:
    match law.split():
        case ["geometric"]:
            return best_expected(mech.Laplace(sensitivity=1, epsilon=e), 0, 1, samples=N) / e
        case ["binary", _]:
            return best_expected(mech.RandomizedResponse(epsilon=e), "yes", "no", samples=N) / e
        case ["response", _, k]:
            return (
                best_expected(
                    mech.RandomizedResponse(epsilon=e, categories=range(int(k))), 0, 1, samples=N
                )
                / e
            )
        case [kind, "unary"]:
            return (
                best_expected(
                    sf.local.Unary(epsilon=e, categories="abcd", symmetric=kind == "symmetric"),
                    "a",
                    "b",
                    samples=N,
                )
                / e
            )
        case ["Gaussian,", "μ"]:
            m = mech.Gaussian(sensitivity=1000, epsilon=e, delta="1e-6")
            return best_expected(m, 0, 1000, samples=N) / float(m.promise.parameters["mu"])
        case _:
            return (
                best_expected(
                    mech.Gaussian(sensitivity=1000, epsilon=e, delta="1e-6"),
                    0,
                    1000,
                    samples=N,
                    claim=sf.Approx(e, "1e-6"),
                )
                / e
            )


@pytest.mark.parametrize(("law", "place"), list(product(TABLE, range(5))))
def test_the_table_of_shares(law: str, place: int) -> None:
    printed = TABLE[law][place]
    digits = 3 if len(str(TABLE[law][0])) > 4 else 2
    assert share(law, LEVELS[place]) == pytest.approx(
        printed, abs=1.01 * 10**-digits / (1 if digits == 2 else 2)
    )


def test_with_750_tests_less() -> None:
    assert best_expected(
        mech.Laplace(sensitivity=1, epsilon=0.1), 0, 1, samples=N, events=750
    ) / 0.1 == pytest.approx(0.879, abs=5e-4)


def test_an_exponential_mechanism_of_two_candidates_loses_half() -> None:
    m = mech.Exponential(sensitivity=1, epsilon=1)
    r = sf.audit(m, [Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)], exact=True)
    assert r.epsilon_lower == pytest.approx(0.5, abs=1e-12)


def test_what_is_sure_is_below_what_is_expected_and_near_it_where_draws_are_many() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=1)
    laws = law_pair_at(m, 0, 1)
    assert laws is not None
    for n, least in ((10**4, 0.85), (10**6, 0.985)):
        expected = expected_bound(laws, m.promise, 0.0, samples=n, alpha=1e-6)
        assert least * expected < sure_bound(laws, m.promise, 0.0, samples=n, alpha=1e-6) < expected


def test_the_ceiling_grows_with_the_draws() -> None:
    assert ceiling(1000, 0.95) < ceiling(10_000, 0.95) < ceiling(10_000, 0.5)
    assert ceiling(10**6, 0.999999) == pytest.approx(math.log(10**6 / -math.log(5e-7)), abs=1e-4)


def test_of_an_unknown_law_nothing_is_expected() -> None:
    with pytest.raises(Refused, match=r"audit\.exact"):
        best_expected(
            mech.Hierarchy(edges=[0, 1, 2], epsilon=1, relation="add-remove"),
            [],
            [0.5],
            samples=100,
        )
