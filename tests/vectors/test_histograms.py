"""Published numbers about histograms; where the source is wrong, its number fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from sfumato import mechanisms as mech
from sfumato.mechanisms.hierarchy import height
from sfumato.mechanisms.shared import error_formulas
from sfumato.mechanisms.shared.histogram_result import PrivateHistogram
from sfumato.noise.continuous import ContinuousLaplace

from . import oracles

THEME = oracles.load("histograms")


def histogram(k: int, **arguments: Any) -> mech.Histogram:
    return mech.Histogram(
        **({"edges": np.linspace(-4, 4, k + 1), "epsilon": 1, "relation": "replace"} | arguments)
    )


def exceeded(scale: Any, k: int, radius: float) -> float:
    """P(max of k real Laplace noises ≥ radius), exactly."""
    return 1 - (1 - 2 * ContinuousLaplace(scale=scale).tail(radius)) ** k


def s053(i: dict[str, Any]) -> dict[str, float]:
    scale = histogram(i["k"], epsilon=i["eps"]).noise.scale
    radius = error_formulas.laplace_radius(scale=scale, beta=i["beta"], values=i["k"])
    each = mech.for_each(1 - Fraction(str(i["beta"])), i["k"])
    return {
        "radius": radius,
        "exact_tail": exceeded(scale, i["k"], radius),
        "exact_radius": ContinuousLaplace(scale=scale).quantile((1 + each) / 2),
    }


def s056(i: dict[str, Any]) -> dict[str, float]:
    """For real noise; the integer law of the mechanism has Var Z/8 of it."""
    mean = 2 * (Fraction(2 * i["M"], i["n"]) / i["eps"]) ** 2
    variances = {}
    for k in (16, 50):
        h = histogram(k, epsilon=i["eps"])
        variances[f"k{k}"] = (
            PrivateHistogram(h, np.zeros(k, dtype=np.int64)).moment(1, rows=i["n"]).noise_variance
            * float(ContinuousLaplace(scale=h.noise.scale).variance)
            / h.noise.variance
        )
    return variances | {
        "laplace_mean": mean,
        "ratio16": variances["k16"] / mean,
        "ratio50": variances["k50"] / mean,
    }


def e13(i: dict[str, Any]) -> dict[str, float]:
    """Two Laplace noises of scale 1, shifted by 1 in opposite directions: the privacy losses are
    independent and add up.
    """
    noise = mech.Histogram(categories="ab", epsilon=i["eps"], relation="add-remove").noise
    assert noise.scale == i["scale"]
    e = i["eps"]
    lose = lambda s: 1 - math.exp(e - s)  # noqa: E731  # a formula
    both = 0.25 * lose(2)
    single = quad(lambda x: math.exp(-x) / 2 * lose(2 - 2 * x), 0, 0.5, epsabs=1e-13)[0]
    neither = quad(lambda s: s * math.exp(-s) / 4 * lose(2 - 2 * s), 0, 0.5, epsabs=1e-13)[0]
    return {"true_eps": 2 / noise.scale, "delta_at_1": both + single + neither}


def e14(i: dict[str, Any]) -> dict[str, float]:
    printed = math.log(i["k"] / i["beta"] * i["L"] / i["eps"])
    scale = Fraction(i["L"]) / i["eps"]
    return {
        "printed_radius": printed,
        "true_tail": exceeded(scale, i["k"], printed),
        "correct_radius": error_formulas.laplace_radius(scale=scale, beta=i["beta"], values=i["k"]),
    }


def e37(i: dict[str, Any]) -> dict[str, int]:
    """What the printed, half-open bins count, beside the number of rows."""
    ends = [Fraction(i["L"]) + Fraction((i["U"] - i["L"]) * j, i["k"]) for j in range(i["k"] + 1)]
    half_open = sum(any(a <= x < b for a, b in pairwise(ends)) for x in i["x"])
    closed = mech.Histogram(edges=ends, epsilon=1, relation="replace")
    assert closed.tally(i["x"]).sum() == len(i["x"])
    return {"sum_counts": half_open, "n": len(i["x"])}


def b15b(i: dict[str, Any]) -> dict[str, float]:
    variance = ContinuousLaplace(scale=1 / Fraction(i["eps"])).variance
    return {
        "flat": i["bins"] // 2 * variance,
        "tree_worst": 18 * variance * height(i["bins"], 2) ** 2,
    }


EVALUATE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "S-053": s053,
    "S-056": s056,
    "S-056b": lambda i: (
        PrivateHistogram(histogram(4), np.array(i["counts"])).moment(1, rows=sum(i["counts"])).value
    ),
    "E-13": e13,
    "E-14": e14,
    "E-37": e37,
    "B-15b": b15b,
}


@pytest.mark.parametrize("oracle", THEME, ids=lambda oracle: oracle.id)
def test_number(oracle: oracles.Oracle) -> None:
    computed = oracles.evaluate(oracle, EVALUATE)
    assert oracles.differences(computed, oracle.expected, oracle.tolerance) == []
    assert len(oracles.differences(computed, oracles.shifted(oracle), oracle.tolerance)) == len(
        dict(oracles.leaves(oracle.expected))
    )


def test_every_evaluator_is_used() -> None:
    assert set(EVALUATE) <= {oracle.id for oracle in THEME} | {oracle.name for oracle in THEME}


def test_S_054_the_density_at_the_exact_counts() -> None:
    """(ε/4)^k: ln of it is −13.862943611 for ten bins at ε = 1."""
    law = ContinuousLaplace(scale=histogram(10).noise.scale)
    assert 10 * math.log(law.pdf(0)) == pytest.approx(-13.862943611, abs=1e-9)


def test_S_055_many_cells_cost_a_logarithm() -> None:
    """8 × 8 cells: 2·ln(64/0.05) = 14.309230714; the sensitivity is that of one column."""
    h = mech.Histogram(edges=[range(9), range(9)], epsilon=1, relation="replace")
    assert h.noise == histogram(8).noise
    assert error_formulas.laplace_radius(
        scale=h.noise.scale, beta="1/20", values=h.size
    ) == pytest.approx(14.309230714, abs=1e-9)
    assert h.error(simultaneous=True) <= 15


def test_E_13_sensitivity_one_is_for_add_remove() -> None:
    assert histogram(10).noise.scale == 2 * histogram(10, relation="add-remove").noise.scale
    assert histogram(10).promise.delta(1) == 0 < 0.2418


def test_E_14_the_printed_radius_is_exceeded_eight_times_too_often() -> None:
    printed = math.log(10 / 0.05 * 2)
    assert exceeded(2, 10, printed) > 8 * 0.05
    assert histogram(10).error(simultaneous=True) <= 11


def test_S_057_the_histogram_gives_a_noisier_mean_than_the_mean() -> None:
    """The mean of a released histogram is Σ midpoint·count/n of its noisy counts, so its variance
    follows exactly; relative to that of the private mean it is (k² − 1)/(3k).
    """
    from sfumato.testing.seeded_bits import SeededBits

    x, k = np.clip(np.random.default_rng(57).normal(size=1000), -4, 4), 16
    h, m = histogram(k), mech.Mean(low=-4, high=4, epsilon=1, relation="replace", rows=1000)
    released = h.perturb(x, bits=SeededBits(57))
    moment = released.moment(1, rows=1000)
    middles = [Fraction(2 * j + 1 - k, 4) for j in range(k)]
    read = sum(c * int(count) for c, count in zip(middles, released.counts, strict=True)) / 1000
    assert moment.value == pytest.approx(float(read), abs=1e-12)
    spread = sum(c**2 for c in middles) / 1000**2
    variance = float(spread) * float(h.noise.variance)
    # the noise of whole counts has a variance a little below that of the real law
    assert 0.97 < variance / float(m.variance) / ((k**2 - 1) / (3 * k)) < 1
