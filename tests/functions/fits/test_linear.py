"""Linear regression with a ridge: the least point, and its sensitivity against neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.fits import LinearRegression
from sfumato.functions.fits.linear import features
from sfumato.functions.guarded_call import ValueForm, call_guarded
from sfumato.functions.lattice import Lattice

LATTICE = Lattice(degree=10, bounds=[(0, 1)])


def test_the_least_point() -> None:
    """The gradient of the objective is zero there."""
    rng = np.random.default_rng(1)
    data = np.column_stack([rng.random(30), rng.random(30) * 4 - 2, rng.normal(size=30)])
    fit = LinearRegression(ridge="0.01", inputs=[(0, 1), (-2, 2)], values=(-3, 3))
    line = fit(data)
    corner, *rest = line(np.array([[0, -2], [1, -2], [0, 2]]))
    w = np.array([corner, rest[0] - corner, rest[1] - corner])
    phi = features(data[:, :2], fit.inputs)
    assert np.linalg.norm(phi.T @ (phi @ w - data[:, 2]) / 30 + 0.01 * w) < 1e-9
    assert line(np.array([[0.5, 1.0]])) == pytest.approx(
        features(np.array([[0.5, 1.0]]), fit.inputs) @ w
    )


def test_a_straight_line_is_found() -> None:
    x = np.linspace(0, 1, 200)
    assert LinearRegression(ridge="1e-9", values=(-9, 9))(np.column_stack([x, 2 * x - 1]))(
        np.array([0.0, 1.0])
    ) == pytest.approx([-1, 1], abs=1e-6)


@pytest.mark.parametrize("ridge", ["0.01", "1"])
def test_no_neighbour_moves_further(ridge: str) -> None:
    n = 20
    fit = LinearRegression(ridge=ridge, values=(-1, 1), records=n)
    limits = np.array(
        [float(fit.sensitivity(LATTICE).moves(norm, LATTICE.size)) for norm in (1, 2, "inf")]
    )
    rng, worst = np.random.default_rng(2), np.zeros(3)
    for _ in range(400):
        data = np.column_stack(
            [
                rng.choice([0, 0, 0, 1, 0.5], n) if rng.random() < 0.7 else np.zeros(n),
                rng.choice([-1, 1], n) if rng.random() < 0.5 else np.ones(n),
            ]
        )
        two = data.copy()
        two[0], data[0] = (rng.choice([0, 1]), -1), (rng.choice([0, 1]), 1)
        d = fit(data)(LATTICE.points) - fit(two)(LATTICE.points)
        worst = np.maximum(worst, [np.abs(d).sum(), math.sqrt(np.square(d).sum()), np.abs(d).max()])
    assert (worst <= limits).all()
    assert (worst >= 0.1 * limits).all()  # a bound, and not a tight one: see the proof


def test_without_a_ridge_there_is_no_bound() -> None:
    """The twin: with a tiny λ one record of twenty turns the line around, and the bound says so."""
    n = 20
    data = np.column_stack([np.zeros(n), np.ones(n)])
    data[0] = 1, 1
    two = data.copy()
    two[0] = 1, -1
    fit = LinearRegression(ridge="1e-6", values=(-1, 1), records=n)
    assert abs(float((fit(data)(np.array([1.0])) - fit(two)(np.array([1.0])))[0])) > 1.9
    assert float(fit.sensitivity(LATTICE).moves("inf", LATTICE.size)) > 1.9


def test_of_more_records_the_first_are_used() -> None:
    data = np.random.default_rng(3).random((50, 2))
    fit = LinearRegression(records=20)
    assert (fit(data)(LATTICE.points) == fit(data[:20])(LATTICE.points)).all()
    assert fit(np.zeros((0, 2)))(LATTICE.points).tolist() == [0] * 11


def test_predictions_stay_within_the_values() -> None:
    predictions = LinearRegression(ridge="1e-9", values=(0, 1))([(0.4, 0), (0.6, 1)])(
        LATTICE.points
    )
    assert (predictions.min(), predictions.max()) == (0, 1)
    assert (
        float(
            LinearRegression(ridge="1e-9", values=(0, 1), records=2)
            .sensitivity(LATTICE)
            .moves(1, 11)
        )
        == 11
    )


def test_refused() -> None:
    for code, relation, fit in (
        ("fit.relation", "add-remove", LinearRegression(records=5)),
        ("fit.records", "replace", LinearRegression()),
        ("fit.inputs", "replace", LinearRegression(inputs=[(0, 1), (0, 1)], records=5)),
    ):
        with pytest.raises(Refused) as caught:
            fit.sensitivity(LATTICE, relation)
        assert caught.value.code == code


@pytest.mark.parametrize("ridge", ["1e-16", "1e-20", "1e-300"])
def test_a_ridge_too_small_for_doubles_does_not_leave_the_values(ridge: str) -> None:
    """All records at one x: no line is the least one. The fit returns the lower end, which lies in
    the range.
    """
    line = np.array([[1.0, 5.5]] * 10)
    neighbour = line.copy()
    neighbour[0, 0] = 0.0
    fit = LinearRegression(records=10, values=(5, 6), ridge=ridge)
    form = ValueForm((LATTICE.size,), 0.0, -math.inf, math.inf)
    predictions = [
        call_guarded(lambda records: fit(records)(LATTICE.points), data, form)
        for data in (line, neighbour)
    ]
    assert min(float(curve.min()) for curve in predictions) >= 5
    assert float(np.abs(predictions[0] - predictions[1]).max()) <= fit.sensitivity(LATTICE).moves(
        "inf", LATTICE.size
    )
