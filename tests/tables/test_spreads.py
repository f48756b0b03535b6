"""Sample variance and deviation: the factor n/(n − 1), over a box and of data."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.aggregates import KINDS

from .paired import covariance, data, end, protected, without_noise

NUMBERS = {"low": F(0), "high": F(64)}


@given(
    q=st.tuples(st.integers(-20, 400), st.integers(0, 60)),
    s=st.tuples(st.integers(-40, 40), st.integers(0, 20)),
    n=st.tuples(st.integers(1, 40), st.integers(0, 12)),
    step=st.sampled_from([F(1), F(1, 8), F(3, 10)]),
)
def test_the_sample_variance_holds_every_point(q: Any, s: Any, n: Any, step: F) -> None:
    kind = KINDS["sample_variance"]
    low, high = (end(kind, [q, s, n], [F(1), F(1), step], side) for side in ("low", "high"))
    assert low is not None
    assert high is not None
    for a in (q[0], q[0] + q[1]):
        for b in range(s[0], s[0] + s[1] + 1):
            for c in range(n[0], n[0] + n[1] + 1):
                rows = c * step
                factor = rows / (rows - 1) if rows >= 2 else F(2)
                assert low <= factor * (a / rows - (b / rows) ** 2) <= high


def test_limits() -> None:
    assert KINDS["sample_variance"].limits(NUMBERS) == (0, 2 * 32**2)
    most = KINDS["sample_std"].limits(NUMBERS)[1]
    assert most is not None
    assert 2 * 32**2 < most**2 < 2 * 32**2 + F(1, 10**9)


def test_the_values_are_those_of_the_clipped_rows() -> None:
    frame = data().dropna(subset=["x"])
    answer = without_noise(
        protected(frame),
        "SELECT VAR_POP(x) AS p, VAR_SAMP(x) AS s, VARIANCE(x) AS v, VAR(x) AS w, "
        "STDDEV_POP(x) AS dp, STDDEV_SAMP(x) AS ds, STDDEV(x) AS d FROM t",
    )
    values = [(F(min(max(int(x), 0), 20)),) * 2 for x in frame["x"]]
    population, sample = covariance(values), covariance(values, 1)
    assert answer["p"][0] == float(population)
    assert {float(answer[name][0]) for name in "svw"} == {float(sample)}
    assert answer["dp"][0] == pytest.approx(float(population) ** 0.5, rel=1e-14)
    for name in ("ds", "d"):
        assert answer[name][0] == pytest.approx(float(sample) ** 0.5, rel=1e-14)


def test_the_sample_version_errs_more() -> None:
    widths = [F(10), F(5), F(1)]
    for kind in ("variance", "std"):
        plain, sample = (
            KINDS[name].error(NUMBERS, widths, 11) for name in (kind, f"sample_{kind}")
        )
        assert plain is not None
        assert sample == plain * F(11, 10)
