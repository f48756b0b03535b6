"""Estimates of several releases combined: against dense least squares over all noisy numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest

from sfumato.mechanisms import Gaussian
from sfumato.tables.marginals.combine_sources import MeasuredTable, NoisyRelease, combine_sources
from sfumato.tables.marginals.parts import Domain, Keys, Reconciliation, closure, subsets
from sfumato.tables.marginals.reconcile import reconcile

from .test_marginals import Table, dense, sums

DOMAIN = Domain((3, 2, 2))
ALL: Keys = (0, 1, 2)
SIGMAS: list[dict[Keys, int]] = [
    {ALL: 40, (0,): 10, (): 5},
    {(0, 1): 20, (1,): 10},
    {ALL: 30},
]
"""The deviations of what three releases measured."""


def released(sigmas: dict[Keys, int], noisy: dict[Keys, Table]) -> NoisyRelease:
    """A release: its own least squares over what it measured."""
    laws = {keys: Gaussian(sensitivity=1, sigma=sigma) for keys, sigma in sigmas.items()}
    least = min(F(law.law.variance) for law in laws.values())
    precisions = {keys: least / F(law.law.variance) for keys, law in laws.items()}
    measured = tuple(
        MeasuredTable(keys, ((laws[keys], F(1)),), precisions[keys]) for keys in sigmas
    )
    by = Reconciliation(DOMAIN, precisions)
    return NoisyRelease(reconcile(noisy, by, closure(sigmas)), measured)


def noisy_tables(seed: int) -> list[dict[Keys, Table]]:
    random = np.random.default_rng(seed)
    exact = random.integers(0, 50, DOMAIN.sizes).astype(float)
    return [
        {
            keys: sums(exact, keys) + random.normal(0, sigma, DOMAIN.shape(keys))
            for keys, sigma in sigmas.items()
        }
        for sigmas in SIGMAS
    ]


def variance_of(sigma: int) -> float:
    return Gaussian(sensitivity=1, sigma=sigma).law.variance


def joint_least_squares(noisy: list[dict[Keys, Table]]) -> tuple[Table, Table]:
    """Least squares over all numbers at once: equal tables are averaged by precision first."""
    precisions: dict[Keys, F] = {}
    weighted: dict[Keys, Table] = {}
    for sigmas, tables in zip(SIGMAS, noisy, strict=True):
        for keys, sigma in sigmas.items():
            precision = 1 / variance_of(sigma)
            precisions[keys] = precisions.get(keys, F(0)) + F(precision)
            weighted[keys] = weighted.get(keys, np.zeros(())) + precision * tables[keys]
    means = {keys: table / float(precisions[keys]) for keys, table in weighted.items()}
    return dense(DOMAIN, precisions, means)


def test_equals_least_squares_over_all_numbers_at_once() -> None:
    noisy = noisy_tables(1)
    sources = [released(sigmas, each) for sigmas, each in zip(SIGMAS, noisy, strict=True)]
    combined = combine_sources(DOMAIN, sources, list(subsets(ALL)))
    best, covariance = joint_least_squares(noisy)
    for keys in subsets(ALL):
        assert np.allclose(combined.tables[keys], sums(best, keys), rtol=1e-6, atol=1e-5)
        cell = np.zeros(DOMAIN.sizes)
        cell[tuple(0 if i in keys else slice(None) for i in range(3))] = 1
        variance = sum(
            float(weight) ** 2 * count * each.mechanism.law.variance
            for each in combined.draws[keys]
            for weight, count in each.weights
        )
        assert variance == pytest.approx(cell.ravel() @ covariance @ cell.ravel(), rel=1e-6)
    shifted = [released(sigmas, each) for sigmas, each in zip(SIGMAS, noisy_tables(2), strict=True)]
    mixed = combine_sources(DOMAIN, [sources[0], shifted[1], sources[2]], [ALL])
    assert not np.allclose(mixed.tables[ALL], best, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("hidden", [False, True])
def test_draws_are_those_of_the_estimate(hidden: bool) -> None:
    """The weight of each draw, from the estimate of a table with a single 1; also where a release
    shows fewer tables than it measured.
    """
    zeros = [{keys: np.zeros(DOMAIN.shape(keys)) for keys in sigmas} for sigmas in SIGMAS]

    def sources() -> list[NoisyRelease]:
        every = [released(sigmas, each) for sigmas, each in zip(SIGMAS, zeros, strict=True)]
        if hidden:
            shown = {keys: every[1].tables[keys] for keys in [(0,), (1,)]}
            every[1] = NoisyRelease(shown, every[1].measured)
        return every

    requested: list[Keys] = [ALL, (0, 2), (1,), ()]
    draws = combine_sources(DOMAIN, sources(), requested).draws
    measured = [(place, keys) for place, sigmas in enumerate(SIGMAS) for keys in sigmas]
    for keys in requested:
        found_weights = Counter[tuple[float, float]]()
        for place, of in measured:
            for cell in np.ndindex(*DOMAIN.shape(of)):
                zeros[place][of][cell] = 1
                weight = combine_sources(DOMAIN, sources(), [keys]).tables[keys].flat[0]
                zeros[place][of][cell] = 0
                if abs(weight) > 1e-12:
                    found_weights[variance_of(SIGMAS[place][of]), round(float(weight), 9)] += 1
        stated = Counter[tuple[float, float]]()
        for each in draws[keys]:
            for weight, count in each.weights:
                stated[each.mechanism.law.variance, round(float(weight), 9)] += count
        assert stated == found_weights
