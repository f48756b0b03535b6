"""Logistic regression with a ridge: the least point whatever the data, and its sensitivity against
neighbours.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.fits import LogisticRegression
from sfumato.functions.fits.linear import TOLERANCE, features
from sfumato.functions.fits.logistic import _chance, _weights
from sfumato.functions.lattice import Lattice

LATTICE = Lattice(degree=10, bounds=[(0, 1)])


@pytest.mark.parametrize("ridge", ["1e-6", "0.1", "10"])
@pytest.mark.parametrize("kind", ["mixed", "separable", "all yes", "one point", "empty"])
def test_the_least_point(ridge: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.random(60)
    labels = {
        "mixed": rng.random(60) < x,
        "separable": x > 0.5,
        "all yes": np.ones(60),
        "one point": np.ones(60),
        "empty": np.ones(60),
    }[kind]
    data = np.column_stack([x, labels])[: {"one point": 1, "empty": 0}.get(kind, 60)]
    sign = np.where(data[:, 1] >= 0.5, 1.0, -1.0)
    signed = features(data[:, :1], ((Fraction(0), Fraction(1)),)) * sign[:, None]
    n = max(1, len(data))
    w = _weights(signed, n, float(ridge))
    assert np.linalg.norm(float(ridge) * w - signed.T @ _chance(-(signed @ w)) / n) <= float(
        TOLERANCE
    )
    chances = LogisticRegression(ridge=ridge)(data)(LATTICE.points)
    assert chances == pytest.approx(_chance(w[0] + w[1] * LATTICE.points))
    assert ((chances >= 0) & (chances <= 1)).all()


def test_it_learns() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(20_000)
    data = np.column_stack([x, rng.random(20_000) < 1 / (1 + np.exp(3 - 6 * x))])
    predictions = LogisticRegression(ridge="1e-6")(data)(np.array([0.2, 0.5, 0.8]))
    assert predictions == pytest.approx(1 / (1 + np.exp([1.8, 0, -1.8])), abs=0.02)


def test_no_neighbour_moves_further() -> None:
    n, lattice = 60, Lattice(degree=5, bounds=[(0, 1), (0, 1)])
    fit = LogisticRegression(ridge="0.05", inputs=[(0, 1), (0, 1)], records=n)
    limits = np.array(
        [float(fit.sensitivity(lattice).moves(norm, lattice.size)) for norm in (1, 2, "inf")]
    )
    rng, worst = np.random.default_rng(3), np.zeros(3)
    for _ in range(150):
        data = (
            rng.choice([0.0, 1.0], (n, 3))
            if rng.random() < 0.5
            else np.column_stack([np.zeros((n, 2)), rng.choice([0.0, 1.0], n)])
        )
        two = data.copy()
        data[0], two[0] = (1, 1, 1), (1, 1, 0)
        d = fit(data)(lattice.points) - fit(two)(lattice.points)
        worst = np.maximum(worst, [np.abs(d).sum(), math.sqrt(np.square(d).sum()), np.abs(d).max()])
    assert (worst <= limits).all()
    assert (worst >= 0.1 * limits).all()


def test_refused() -> None:
    for code, relation, fit in (
        ("fit.relation", "add-remove", LogisticRegression(records=5)),
        ("fit.records", "replace", LogisticRegression()),
        ("fit.inputs", "replace", LogisticRegression(inputs=[(0, 1), (0, 1)], records=5)),
    ):
        with pytest.raises(Refused) as caught:
            fit.sensitivity(LATTICE, relation)
        assert caught.value.code == code


@pytest.mark.parametrize("ridge", ["1e9", "1e13", "1e16"])
def test_a_huge_ridge_leaves_the_rounding_of_the_probability(ridge: str) -> None:
    """The weights hardly move there: what moves is the last bit of ½."""
    n, lattice = 1000, Lattice(degree=10, bounds=[(0, 1)])
    fit, worst = LogisticRegression(records=n, ridge=ridge), 0.0
    limit = fit.sensitivity(lattice)
    for i in range(0, n, 37):
        data = np.ones((n, 2))
        data[:i, 1] = 0
        two = data.copy()
        two[i, 1] = 0
        worst = max(
            worst, float(np.abs(fit(data)(lattice.points) - fit(two)(lattice.points)).max())
        )
    assert worst <= limit.moves("inf", lattice.size)
    assert limit.moves("inf", lattice.size) >= 2**-51
    assert limit.moves(1, lattice.size) >= lattice.size * Fraction(1, 2**51)
