"""Linear regression: the moments of neighbours by enumeration, the solution against least squares
without noise, and how often intervals hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

import sfumato as sf
from sfumato.learn.linear_models import LinearSolution
from sfumato.learn.model_plan import ModelPlan
from sfumato.learn.moment_steps import SCALE, MomentTrainer, NoisyMoments
from sfumato.tables.plan.codes.coded_rows import CodedRows

from .small_tables import Row, base_rows, table_of, tally_of, units_of_interest

Matrix = np.ndarray


def plan_of(rows: list[Row], relation: str = "add-remove") -> ModelPlan:
    model = sf.learn.LinearRegression(epsilon=1, delta=1e-6, bounds={"vip": (0, 1)})
    return model.plan(table_of(rows, relation=relation), target="x", features=["vip"])


def sums_of(plan: ModelPlan) -> list[int]:
    assert isinstance(plan.trainer, MomentTrainer)
    (sums,) = plan.trainer._add_products(tally_of(plan))
    return [int(value) for value in sums]


def test_no_unit_moves_further_than_the_noise_covers() -> None:
    base = base_rows(5)
    before = plan_of(base)
    assert isinstance(before.trainer, MomentTrainer)
    exact, most = sums_of(before), 0
    for unit in list(units_of_interest())[1::3]:
        moved = [b - a for a, b in zip(exact, sums_of(plan_of([*base, *unit])), strict=True)]
        most = max(most, sum(value * value for value in moved))
    assert most == before.trainer.move  # reached
    scale = before.noise[0].sigma ** 2
    assert most / scale <= before.noise[0].promise.parameters["mu"] ** 2


def test_replacing_a_unit_stays_within_its_bound() -> None:
    plans = [plan_of([*base_rows(2), *unit], "replace") for unit in list(units_of_interest())[::4]]
    sums = [sums_of(plan) for plan in plans]
    trainer = plans[0].trainer
    assert isinstance(trainer, MomentTrainer)
    for first in sums:
        for second in sums:
            moved = (b - a for a, b in zip(first, second, strict=True))
            assert sum(value * value for value in moved) <= trainer.move


def test_entries_are_sums_of_products() -> None:
    rows = [
        (i, x, "Bari", vip) for i, (x, vip) in enumerate([(0.0, True), (10.0, False), (2.5, True)])
    ]
    count, vip, x, vip2, both, x2 = sums_of(plan_of([*rows, (9, None, "Bari", True)]))
    weight = 1 << 10
    unit = weight * SCALE**2
    assert count == 3 * unit
    assert vip == (1 - 1 + 1) * unit
    assert x == (-1 + 1 - 0.5) * unit
    assert vip2 == 1.5 * unit
    assert both == (-1 - 1 - 0.5) * unit
    assert x2 == (0.5 + 0.5 + 0.25 - 0.5) * unit


def arrays(rows: int = 3000, seed: int = 0) -> tuple[Matrix, Matrix]:
    random = np.random.default_rng(seed)
    X = random.uniform(0, 10, (rows, 3))
    y = np.clip(20 + 3 * X[:, 0] - 2 * X[:, 1] + random.normal(0, 3, rows), 0, 60)
    return X, y


BOUNDS = {"x0": (0, 10), "x1": (0, 10), "x2": (0, 10), None: (0, 60)}


def test_much_budget_gives_least_squares() -> None:
    X, y = arrays()
    model = sf.learn.LinearRegression(promise=sf.GDP(500), bounds=BOUNDS).fit(X, y)
    design = np.column_stack([np.ones(len(y)), X])
    exact = np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.allclose([model.intercept_, *model.coef_], exact, atol=0.02)
    assert np.allclose(model.covariance_, np.cov(np.column_stack([X, y]).T), atol=0.1)
    assert np.allclose(model.correlation_, np.corrcoef(np.column_stack([X, y]).T), atol=0.01)
    assert model.score(X, y) == pytest.approx(1 - np.var(y - design @ exact) / np.var(y), abs=1e-3)
    ridge = sf.learn.Ridge(alpha=5000, promise=sf.GDP(500), bounds=BOUNDS).fit(X, y)
    centred = X - X.mean(0)
    penalised = np.linalg.solve(centred.T @ centred + 5000 * np.eye(3), centred.T @ (y - y.mean()))
    assert np.allclose(ridge.coef_, penalised, atol=0.02)


def draw(matrix: Matrix, sigma: float, random: np.random.Generator) -> NoisyMoments:
    """Return moments with noise of the law that the door adds, in units of a row."""
    entries = matrix.copy()
    size = len(matrix)
    entries[np.arange(1, size), np.arange(1, size)] -= matrix[0, 0] / 2
    flat = entries[np.triu_indices(size)]
    noisy = (flat + random.normal(0, sigma, len(flat))) * SCALE**2
    return NoisyMoments.of(noisy.tolist(), sigma * SCALE**2, 1)


def coverage(shrink: float, runs: int = 400) -> float:
    """Return how often intervals at 95 % hold the coefficients without noise; `shrink` narrows
    them, for the twin.
    """
    X, y = arrays()
    units = np.column_stack([np.ones(len(y)), X / 5 - 1, y / 30 - 1])
    matrix, sigma = units.T @ units, 40.0
    penalty = np.array([0.0, *[0.5 * sigma * len(matrix) ** 0.5] * 3])
    exact = LinearSolution(NoisyMoments(matrix, sigma), penalty).coefficients
    random, held = np.random.default_rng(11), 0
    for _ in range(runs):
        solution = LinearSolution(draw(matrix, sigma, random), penalty)
        half = shrink * 1.96 * np.sqrt(solution.noise_covariance.diagonal())
        held += int((np.abs(solution.coefficients - exact) <= half).sum())
    return held / (runs * len(exact))


def test_intervals_hold_as_often_as_they_say() -> None:
    """Of 400 runs the share of one coefficient has a deviation of 0.011, that of all four less;
    92.5 to 97.5 % is wider than 5 deviations of four independent ones: below 10⁻⁶.
    """
    assert 0.925 <= coverage(1.0) <= 0.975
    assert not 0.925 <= coverage(0.8) <= 0.975  # the twin


def test_moments_of_very_many_rows_do_not_turn_over() -> None:
    """From 2^29 rows of a table with units on, the count in its units is beyond 64 bits. Sums that
    turned over there would show a single row.
    """

    class ManyRows:
        def batches(self, _: object) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
            for _ in range(1 << 12):  # each as heavy as 2^18 rows, and still exact in doubles
                yield [np.zeros(4, dtype=np.intp)], np.full(4, 1 << 26)

    values = (np.array([SCALE, 0]),)
    trainer = MomentTrainer(cast("CodedRows", ManyRows()), values)
    (sums,) = trainer._add_products([(None,)])
    assert sums.tolist() == [1 << 64, 1 << 64, 1 << 63]
