"""The algebra of tables that agree: against dense weighted least squares, and by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.tables.marginals.choose_shares import choose_shares
from sfumato.tables.marginals.parts import Domain, Keys, Reconciliation, closure, subsets
from sfumato.tables.marginals.reconcile import reconcile, round_together

Table = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def cube(count: int) -> list[Keys]:
    return list(subsets(tuple(range(count))))


def sums(table: Table, keys: Keys) -> Table:
    """The table by these keys, of a table by all keys."""
    return np.asarray(table.sum(axis=tuple(i for i in range(table.ndim) if i not in keys)))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Domain, dict[Keys, F], int]:
    """A small domain, measured tables with precisions (the full one among them), and a seed."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    every = cube(len(sizes))
    chosen = draw(st.lists(st.sampled_from(every), unique=True, max_size=len(every)))
    measured = dict.fromkeys([*chosen, tuple(range(len(sizes)))])
    precisions = {keys: F(draw(st.integers(1, 40)), 8) for keys in measured}
    return Domain(sizes), precisions, draw(st.integers(0, 2**32 - 1))


def dense(
    domain: Domain, precisions: dict[Keys, F], noisy: dict[Keys, Table]
) -> tuple[Table, Table]:
    """Weighted least squares with one unknown for each cell: estimates, and their covariance."""
    rows, values, weights = [], [], []
    for keys, table in noisy.items():
        for cell in np.ndindex(*domain.shape(keys)):
            mask = np.zeros(domain.sizes)
            at = dict(zip(keys, cell, strict=True))
            mask[tuple(at.get(i, slice(None)) for i in range(len(domain.sizes)))] = 1
            rows.append(mask.ravel())
            values.append(table[cell])
            weights.append(float(precisions[keys]))
    matrix, weight = np.array(rows), np.array(weights)
    covariance = np.linalg.inv(matrix.T @ (weight[:, None] * matrix))
    estimate = covariance @ matrix.T @ (weight * np.array(values))
    return estimate.reshape(domain.sizes), covariance


@settings(max_examples=40, deadline=None)
@given(problems())
def test_equals_dense_least_squares(problem: tuple[Domain, dict[Keys, F], int]) -> None:
    domain, precisions, seed = problem
    random = np.random.default_rng(seed)
    exact = random.integers(0, 50, domain.sizes).astype(float)
    noisy = {
        keys: sums(exact, keys) + random.normal(0, float(p) ** -0.5, domain.shape(keys))
        for keys, p in precisions.items()
    }
    best, covariance = dense(domain, precisions, noisy)
    by = Reconciliation(domain, precisions)
    for keys, estimate in reconcile(noisy, by, cube(len(domain.sizes))).items():
        assert np.allclose(estimate, sums(best, keys))
        first = np.zeros(domain.sizes)
        first[tuple(0 if i in keys else slice(None) for i in range(len(domain.sizes)))] = 1
        variance = first.ravel() @ covariance @ first.ravel()
        draws = by.noise_of(keys)
        assert np.isclose(
            variance, float(sum(d.weight**2 * d.count / precisions[d.measured] for d in draws))
        )
        parts = (domain.part_variance(keys, part) / by.precision_of(part) for part in subsets(keys))
        assert np.isclose(variance, float(sum(parts)))


@settings(max_examples=40, deadline=None)
@given(problems())
def test_draws_are_those_of_the_estimate(problem: tuple[Domain, dict[Keys, F], int]) -> None:
    """The weights of the draws in the first cell, from the estimate of unit tables."""
    domain, precisions, _ = problem
    by, full = Reconciliation(domain, precisions), tuple(range(len(domain.sizes)))
    for measured in precisions:
        weights = []
        for cell in np.ndindex(*domain.shape(measured)):
            noisy = {keys: np.zeros(domain.shape(keys)) for keys in precisions}
            noisy[measured][cell] = 1
            weights.append(reconcile(noisy, by, [full])[full].ravel()[0])
        listed = [
            float(draw.weight)
            for draw in by.noise_of(full)
            if draw.measured == measured
            for _ in range(draw.count)
        ]
        listed += [0.0] * (len(weights) - len(listed))
        assert np.allclose(sorted(weights), sorted(listed))


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([1.0, 0.125]))
def test_rounded_tables_add_up(problem: tuple[Domain, dict[Keys, F], int], step: float) -> None:
    domain, _, seed = problem
    table = np.random.default_rng(seed).normal(0, 30, domain.sizes)
    every = cube(len(domain.sizes))
    estimates = {keys: sums(table, keys) for keys in every}
    rounded = round_together(estimates, step)
    for keys in every:
        assert (rounded[keys] == sums(rounded[every[-1]], keys)).all()
        most = 2.0 ** (len(keys) - 1) + 1e-6
        assert np.abs(rounded[keys] - estimates[keys] / step).max() <= most


def test_rounding_keeps_whole_tables() -> None:
    for table in (
        np.array([[3.0, -2.0], [0.0, 7.0]]),
        np.array([[2.0**63, 0], [2.0**63, 2.0**63]]),
    ):
        rounded = round_together({keys: sums(table, keys) for keys in cube(2)})
        assert (rounded[0, 1] == table).all()
        assert int(rounded[()]) == int(table.sum())


def optimum(domain: Domain, requested: list[Keys]) -> float:
    """The least root mean square error of any unbiased method for unit μ: with c_A what a part adds
    to the sum of variances for precision 1 and p_A its cost, Σ c/τ at Σ p·τ = 1 is (Σ √(c·p))².
    """
    total = 0.0
    for part in closure(requested):
        cost = prod((1 - F(1, domain.sizes[key]) for key in part), start=F(1))
        worth = sum(
            domain.cells(keys) * domain.part_variance(keys, part)
            for keys in requested
            if set(part) <= set(keys)
        )
        total += sqrt(worth * cost)
    return total / sqrt(sum(map(domain.cells, requested)))


ROLLUP: list[Keys] = [(), (0,), (0, 1), (0, 1, 2)]
WORKLOADS: dict[str, tuple[tuple[int, ...], list[Keys], float, float]] = {
    # sizes, tables, most error relative to the optimum, least gain over separate answers
    "cube": ((20, 12, 2), cube(3), 1.0, 1.85),
    "rollup": ((50, 60, 30), ROLLUP, 1.0, 1.7),
    "pl94": ((8, 2, 2, 63), cube(4), 1.0, 2.4),
    "pairs": (
        (10,) * 8,
        [k for n in range(3) for k in itertools.combinations(range(8), n)],
        1.1,
        1.2,
    ),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_shares_are_best(name: str) -> None:
    sizes, requested, most, least = WORKLOADS[name]
    domain = Domain(sizes)
    shares = choose_shares(domain, requested)
    assert sum(shares.measured.values()) == 1
    assert shares.rms(domain) <= most * optimum(domain, requested) * (1 + 1e-4)
    assert shares.apart / shares.rms(domain) >= least


@pytest.mark.parametrize("power", [1, 2])
def test_fair_shares_make_no_table_worse(power: int) -> None:
    domain = Domain((50, 60, 30))
    plain, fair = (choose_shares(domain, ROLLUP, power=power, fair=fair) for fair in (False, True))
    assert max(plain.ratios.values()) > 3
    assert max(fair.ratios.values()) < 1.01
    assert plain.rms(domain) < fair.rms(domain) < fair.apart


def test_one_table_gets_everything() -> None:
    shares = choose_shares(Domain((3,)), [(0,)], power=2)
    assert dict(shares.measured) == {(0,): 1}
    assert shares.ratios == {(0,): 1.0}
