"""A distribution from reports: unbiased by arithmetic, the fit is a distribution, intervals
hold.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Distribution, Ordinal
from sfumato.local.ordered.ordinal_estimate import (
    chances,
    cumulative_scores,
    weights,
    worst_variances,
)
from sfumato.testing import SeededBits

ORACLE = Ordinal(epsilon=1, edges=range(0, 101, 10))
PEOPLE = np.random.default_rng(8).beta(2, 4, size=20_000) * 100
TRUE = np.histogram(PEOPLE, bins=range(0, 101, 10))[0] / len(PEOPLE)


def run_survey(seed: int = 1, n: int = 20_000) -> Distribution:
    return ORACLE.estimate(ORACLE.perturb(PEOPLE[:n], bits=SeededBits(seed)))


@pytest.mark.parametrize("epsilon", ["1/10", 1, 4])
def test_the_scores_are_unbiased_by_arithmetic(epsilon: int | str) -> None:
    """W·T = 1, so for every distribution the expectation of the estimate is that distribution; sums
    of a column of W are 1, so the frequencies sum to 1.
    """
    oracle = Ordinal(epsilon=epsilon, edges=range(13))
    assert weights(oracle) @ chances(oracle) == pytest.approx(np.eye(12), abs=1e-7)
    assert weights(oracle).sum(axis=0) == pytest.approx(np.ones(oracle.cells), abs=1e-7)


def test_errors_of_many_surveys() -> None:
    """Unbiased within 5 standard errors, and the variance of 300 seeded surveys is that of the law
    within 3; a third more is seen.
    """
    runs = np.array([run_survey(seed, 500).cumulative[:-1] for seed in range(300)])
    true = np.cumsum(np.histogram(PEOPLE[:500], bins=range(0, 101, 10))[0] / 500)[:-1]
    off = runs - true
    assert (np.abs(off.mean(axis=0)) < 5 * off.std(axis=0, ddof=1) / 300**0.5).all()
    scores, design = cumulative_scores(ORACLE), chances(ORACLE)
    shares = np.histogram(PEOPLE[:500], bins=range(0, 101, 10))[0] / 500
    exact = ((scores**2 @ design - (scores @ design) ** 2) @ shares / 500).sum()
    total = (off**2).sum(axis=1)
    standard = total.std(ddof=1) / 300**0.5
    assert abs(total.mean() - exact) < 3 * standard
    assert abs(total.mean() - exact * 4 / 3) > 3 * standard
    assert (
        worst_variances(ORACLE, scores)
        >= (scores**2 @ design - (scores @ design) ** 2) @ shares * (1 - 1e-12)
    ).all()
    assert ORACLE.variance(500) >= off.var(axis=0, ddof=1).max() * 0.8


def test_the_fit_is_a_distribution_and_near_the_truth() -> None:
    fit = run_survey().frequencies
    assert fit.sum() == pytest.approx(1)
    assert (fit >= 0).all()
    assert np.abs(np.cumsum(fit) - np.cumsum(TRUE)).max() < 0.06
    assert np.abs(fit - TRUE).sum() < np.abs(run_survey().unbiased - TRUE).sum()
    smooth = run_survey().fit(smooth=True)
    assert smooth.sum() == pytest.approx(1)
    assert np.abs(np.diff(smooth)).max() < np.abs(np.diff(fit)).max()


def test_the_fit_of_exact_shares_is_the_truth() -> None:
    """Where the shares of cells are those of a distribution, the most likely distribution is that
    one.
    """
    oracle = Ordinal(epsilon=3, edges=range(6))
    shares = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    counts = np.rint(chances(oracle) @ shares * 1e12).astype(np.int64)
    assert Distribution(oracle, counts, int(counts.sum())).fit() == pytest.approx(shares, abs=1e-3)


@pytest.mark.parametrize("of", ["cumulative", "frequencies"])
def test_intervals_hold_together(of: Literal["cumulative", "frequencies"]) -> None:
    """100 seeded surveys at 90 %, all ends at once: fewer than 74 would come once in 10⁶."""
    true = np.cumsum(TRUE) if of == "cumulative" else TRUE
    hits = 0
    for seed in range(100):
        ends = run_survey(seed).interval("0.9", of=of, simultaneous=True)
        hits += bool(((ends[:, 0] <= true + 1e-9) & (true - 1e-9 <= ends[:, 1])).all())
    assert hits >= 74
    single, joint = run_survey().interval(of=of), run_survey().interval(of=of, simultaneous=True)
    assert (joint[:, 1] - joint[:, 0] >= single[:, 1] - single[:, 0]).all()


def test_quantiles() -> None:
    estimate = run_survey()
    assert estimate.quantile(0.5) == "30 to 40"
    low, high = estimate.quantile_interval(0.5)
    names = list(ORACLE.categories)
    assert names.index(low) <= names.index("30 to 40") <= names.index(high)
    assert estimate.quantile_interval("0.999999")[1] == "90 to 100"


def test_no_such_interval() -> None:
    with pytest.raises(Refused) as refused:
        run_survey(n=10).interval(of="mean")  # type: ignore[arg-type]  # on purpose
    assert refused.value.code == "response.interval"


def test_record() -> None:
    record = run_survey(n=100).record()
    assert record["oracle"] == "Ordinal"
    assert len(record["frequencies"]) == len(record["cumulative"]) == len(record["interval"]) == 10
    assert len(repr(run_survey(n=10)).splitlines()) == 12
