"""Errors of many simulated surveys beside the exact formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.local import FrequencyOracle
from sfumato.testing import SeededBits

SHARES = np.array([0.4, 0.3, 0.2, 0.1, 0.0])


def people(n: int, k: int) -> NDArray[np.int64]:
    """n values with the shares above; categories beyond the fifth are nobody's."""
    return np.repeat(np.arange(min(k, 5)), np.rint(n * SHARES[:k]).astype(int))


def errors(
    oracle_of: Callable[[int], FrequencyOracle], n: int, runs: int, *, seed: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of the errors of each category, and the total squared error of each run.
    `oracle_of(run)` may differ in its public seed alone.
    """
    bits = SeededBits(seed)
    deviations, total = [], []
    for run in range(runs):
        oracle = oracle_of(run)
        values = people(n, oracle.k)
        true = np.bincount(values, minlength=oracle.k) / len(values)
        off = oracle.estimate(oracle.perturb(values, bits=bits)).frequencies - true
        deviations.append(off)
        total.append(float((off**2).sum()))
    return np.array(deviations), np.array(total)


def check(oracle_of: Callable[[int], FrequencyOracle], n: int = 2000, runs: int = 300) -> None:
    """Unbiased, and the mean squared error within 3 standard errors of the exact one; a formula
    wrong by a third is not.

    The bits are seeded, so the outcome never changes: no false alarm in the suite. Over fresh seeds
    three standard errors would alarm once in 370.
    """
    oracle = oracle_of(0)
    deviations, total = errors(oracle_of, n, runs)
    true = np.bincount(people(n, oracle.k), minlength=oracle.k)
    exact = oracle.mse([int(c) / n for c in true], n, target="data")
    standard = total.std(ddof=1) / runs**0.5
    assert abs(total.mean() - exact) < 3 * standard
    assert abs(total.mean() - exact * 4 / 3) > 3 * standard, (
        "the twin: a formula wrong by a third is seen"
    )
    spread = deviations.std(axis=0, ddof=1) / runs**0.5
    assert (np.abs(deviations.mean(axis=0)) < 5 * spread).all()
