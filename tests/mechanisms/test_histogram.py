"""Histograms: bins with a closed end, both relations by enumeration, the promise by arithmetic, and what follows from what was released."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.relations import RELATIONS
from sfumato.mechanisms.moments import linear_error
from sfumato.testing.bits import SeededBits

from .untouchable import Untouchable, refusal


def histogram(**given: Any) -> mech.Histogram:
    return mech.Histogram(**({"edges": [0, 1, 2, 3], "epsilon": 1, "relation": "replace"} | given))


def test_the_interface() -> None:
    h = histogram(unit="student")
    released = h.perturb([0.5, 1.5, 1.7, 3])
    assert released.counts.dtype == np.int64
    assert released.counts.shape == (3,)
    assert not released.counts.flags.writeable
    assert released.edges == (0, 1, 2, 3)
    assert released.promise == sf.Pure(1, relation="replace", unit="student")
    assert h.noise.scale == 2
    assert histogram(relation="add-remove").noise.scale == 1
    assert released.error() == h.noise.error(0.95)
    assert released.error(simultaneous=True) == h.noise.error(0.95, values=3)
    assert h == histogram(unit="student")


def test_bins_are_half_open_and_the_last_is_closed() -> None:
    h = histogram()
    assert h.tally([0, 0.999, 1, 2, 2.5, 3]).tolist() == [2, 1, 3]
    assert h.tally(np.array([0, 1, 2, 3])).tolist() == [1, 1, 2]


def test_what_is_outside_and_what_is_no_number() -> None:
    values = [-5, 0.5, 3.0001, float("inf"), -float("inf"), float("nan"), None]
    assert histogram().tally(values).tolist() == [3, 0, 2]
    assert histogram(outside="drop").tally(values).tolist() == [1, 0, 0]
    names = mech.Histogram(categories=["a", "b"], epsilon=1, relation="replace")
    assert names.tally(["a", "c", None, "b", "a"]).tolist() == [2, 1]
    assert names.tally(np.array(["a", "c", "b", "a"])).tolist() == [2, 1]


def test_edges_are_met_by_equal_doubles() -> None:
    h = histogram(edges=["0", "0.1", "0.2", "0.3", "0.4"])
    assert h.tally([0.1, 0.2, 0.3]).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("name", ["replace", "add-remove"])
@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_sensitivity_by_enumeration(name: str, outside: Any) -> None:
    """Every pair of neighbours over values in every bin, at the ends, outside and missing: 1 or 2 in L1, 1 or √2 in L2, and no less."""
    h = histogram(relation=name, outside=outside)
    moved = [h.tally(x) - h.tally(y) for x, y in RELATIONS[name].pairs((0.0, 1.5, 3.0, 9.0, None), 2)]
    expected = 1 if name == "add-remove" else 2
    assert max(np.abs(m).sum() for m in moved) == expected == h.noise.sensitivity
    assert max(np.square(m).sum() for m in moved) == expected


@pytest.mark.parametrize("name", ["replace", "add-remove"])
def test_several_columns_move_no_more(name: str) -> None:
    h = mech.Histogram(edges=[[0, 1, 2], [0, 1, 2]], epsilon=1, relation=name)
    domain = tuple(itertools.product((0.5, 1.5), repeat=2))
    moved = [h.tally(np.array(x, dtype=float).reshape(-1, 2)) - h.tally(np.array(y, dtype=float).reshape(-1, 2)) for x, y in RELATIONS[name].pairs(domain, 2)]
    assert max(np.abs(m).sum() for m in moved) == (1 if name == "add-remove" else 2)
    assert h.shape == (2, 2)


def ratio(scale: Fraction, moves: tuple[int, ...]) -> arb:
    """The largest |ln| ratio of the joint law of the noise and its shift, over a window that holds the extremes."""
    worst = arb(0)
    for z in itertools.product(range(-3, 4), repeat=len(moves)):
        loss = sum((abs(a - m) - abs(a) for a, m in zip(z, moves, strict=True)), 0)
        worst = max(worst, abs(ball(Fraction(loss) / scale)), key=lambda value: float(value.mid()))
    return worst


@pytest.mark.parametrize(("name", "moves"), [("add-remove", (1, 0)), ("replace", (1, -1))])
def test_the_promise_by_arithmetic(name: str, moves: tuple[int, ...]) -> None:
    h = histogram(relation=name)
    with precision(128):
        assert abs(ratio(h.noise.scale, moves) - 1) < arb(2) ** -100


def test_E_13_noise_for_one_count_keeps_twice_epsilon_under_replace() -> None:
    """The sources' Laplace(1/ε) for a histogram whose neighbours differ in a row: ε = 2, and at ε = 1 a δ of 0.24, on integers 0.34."""
    with precision(128):
        assert abs(ratio(Fraction(1), (1, -1)) - 2) < arb(2) ** -100
    q = float(np.exp(-1))
    mass = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-60, 61)}
    delta = sum(max(mass[a] * mass[b] - np.e * mass.get(a - 1, 0) * mass.get(b + 1, 0), 0) for a, b in itertools.product(range(-50, 51), repeat=2))
    assert delta == pytest.approx(0.33783, abs=1e-4)
    assert histogram().promise.delta(1) == 0


def test_a_delta_may_buy_less_noise() -> None:
    assert isinstance(histogram(delta=1e-6).noise, mech.Laplace), "two counts are too few for a Gaussian at ε = 1"
    g = histogram(delta="0.01", epsilon="1/2").noise
    assert isinstance(g, mech.Gaussian)
    assert g.moves_squared == 2
    assert g.variance < histogram(epsilon="1/2").noise.variance


def test_both_directions_of_accuracy() -> None:
    h = histogram(epsilon=None, error=10, confidence="0.95", edges=range(11))
    assert h.error(0.95, simultaneous=True) == 10
    assert h.promise.epsilon() == pytest.approx(1.005, abs=2e-2)


MIXED = mech.Histogram(axes=[mech.Edges([0, 10, 20]), mech.Labels(["f", "m"])], epsilon=1, relation="add-remove")


def test_numbers_and_categories_together() -> None:
    assert MIXED.tally([[5, 15, 20, None], ["m", "f", "m", "f"]]).tolist() == [[0, 1], [1, 1]]
    released = MIXED.perturb([[5, 15, 20, 3], ["m", "f", "m", "x"]])
    assert released.counts.shape == (2, 2)
    age, sex = released.synthetic(50, bits=SeededBits(1))
    assert set(sex.tolist()) <= {"f", "m"}
    assert 0 <= age.min() <= age.max() < 20
    assert released.moment((1, 0)).interval()[0] >= -1e-12


def released(counts: Any, **given: Any) -> Any:
    h = histogram(**given)
    return type(h.perturb([]))(h, np.array(counts))


def test_S_056_the_mean_from_bins() -> None:
    """[−4, 4] in four bins with counts (1, 3, 4, 2): 0.4; no bin is farther from its rows than h/2."""
    m = released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(1, rows=10)
    assert m.value == pytest.approx(0.4, abs=1e-15)
    assert m.binning == 1
    assert released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(1).value == pytest.approx(0.4, abs=1e-15)
    assert released([1, 3, 4, 2], edges=[-4, -2, 0, 2, 4]).moment(2, rows=10).value == pytest.approx((9 * 3 + 7) / 10)


@pytest.mark.parametrize("k", [16, 50])
def test_S_056_its_noise_is_worse_than_that_of_the_mean(k: int) -> None:
    """By (k² − 1)/(3k), up to what the integer law has less."""
    edges = np.linspace(-4, 4, k + 1)
    m = released([20] * k, edges=edges).moment(1, rows=1000)
    mean = mech.Mean(low=-4, high=4, epsilon=1, relation="replace", rows=1000)
    assert m.noise_variance * 8 / histogram().noise.variance == pytest.approx({16: 0.00068, 50: 0.00213248}[k], rel=1e-12)
    assert mean.variance == pytest.approx(0.000128, rel=1e-9)
    assert m.noise_variance / mean.variance * 8 / histogram().noise.variance == pytest.approx((k * k - 1) / (3 * k), rel=1e-9)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("delta", [None, "0.01"])
def test_moments_cover(public: bool, power: int, delta: Any) -> None:
    """Of 100 intervals at 80 % all but 20 are expected to cover, and these bounds are wide: below 57 comes with probability below 1e-6 at exactly 80 %."""
    x = np.random.default_rng(3).normal(size=2000)
    h = histogram(edges=np.linspace(-4, 4, 21), epsilon="1/2", delta=delta)
    bits = SeededBits(2)
    intervals = [h.perturb(x, bits=bits).moment(power, rows=2000 if public else None).interval(0.8) for _ in range(100)]
    truth = float((np.clip(x, -4, 4) ** power).mean())
    assert sum(low <= truth <= high for low, high in intervals) >= 57
    assert np.mean([high - low for low, high in intervals]) < {1: 0.8, 2: 1.6, 3: 6}[power]


@pytest.mark.parametrize("weights", [[1.0], [0.0, -2.5], [1.0] * 30, list(np.linspace(-1, 1, 20)), [1.0, 1000.0]], ids=str)
@pytest.mark.parametrize("scale", ["1/20", 1, 100])
def test_linear_error_against_the_exact_law(weights: list[float], scale: Any) -> None:
    """Never below the quantile of 20 000 sums (its level strays by 0.0105 with probability 4e-7); at most 2.2 normal half-widths and a step above 0."""
    m = mech.Laplace(sensitivity=1, scale=scale)
    bound = linear_error(m, np.array(weights), Fraction(1, 10))
    sums = m.law.sample((20_000, len(weights)), SeededBits(9)).astype(float) @ np.array(weights)
    assert (np.abs(sums) > bound + 1e-9).mean() <= 0.1 + 0.0105
    assert bound <= 2.2 * 1.645 * np.sqrt(m.variance * np.square(weights).sum()) + 4 * np.abs(weights).max()
    assert linear_error(m, np.zeros(4), Fraction(1, 10)) == 0


def test_processing() -> None:
    r = released([-3, 5, 4])
    assert r.total == 6
    assert r.nonnegative().counts.tolist() == [0, 5, 4]
    assert r.summing_to().counts.tolist() == [0, 4, 2] or r.summing_to().counts.sum() == 6
    assert r.summing_to(12).counts.sum() == 12
    assert released([-3, -1, -2]).summing_to().counts.tolist() == [0, 0, 0]
    refusal(lambda: r.nonnegative().moment(1), "histogram.processed")
    refusal(lambda: r.summing_to(-1), "histogram.rows")


def test_a_synthetic_dataset() -> None:
    """Every row in its bin, as often as the counts say: a share of 60 000 strays by six standard deviations with probability 2e-9."""
    r = released([-3, 100, 300])
    rows = r.synthetic(60_000, bits=SeededBits(4))
    assert 1 <= rows.min() <= rows.max() < 3
    share = (rows >= 2).mean()
    assert abs(share - 0.75) < 6 * np.sqrt(0.75 * 0.25 / 60_000)
    assert r.synthetic(bits=SeededBits(4)).size == 397
    assert released([-3, -1, 0]).synthetic(100, bits=SeededBits(4)).size == 100, "nothing counted: uniform over the bins"
    assert (r.synthetic(100, bits=SeededBits(4)) == r.synthetic(100, bits=SeededBits(4))).all()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"relation": None}, "mechanism.relation"),
        ({"edges": [0]}, "histogram.edges"),
        ({"edges": [0, 0]}, "histogram.edges"),
        ({"edges": [1, 0]}, "histogram.edges"),
        ({"edges": [0, "inf"]}, "number.not-finite"),
        ({"edges": None}, "histogram.axes"),
        ({"categories": ["a"]}, "histogram.axes"),
        ({"edges": None, "axes": []}, "histogram.axes"),
        ({"edges": None, "axes": [3]}, "histogram.axes"),
        ({"edges": [range(5000), range(5000)]}, "histogram.axes"),
        ({"outside": "wrap"}, "histogram.outside"),
        ({"epsilon": None}, "mechanism.calibration"),
        ({"epsilon": None, "error": 5, "delta": "0.1"}, "mechanism.calibration"),
    ],
    ids=str,
)
def test_parameters_are_refused(given: dict[str, Any], code: str) -> None:
    refusal(lambda: histogram(**given), code)


def test_data_are_refused_before_bits_are_drawn() -> None:
    refusal(lambda: histogram().perturb(["a"], bits=Untouchable()), "value.type")
    refusal(lambda: MIXED.perturb([[1, 2]], bits=Untouchable()), "histogram.columns")
    refusal(lambda: MIXED.perturb([[1, 2], ["f"]], bits=Untouchable()), "histogram.columns")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).moment((1, 1)), "histogram.power")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).moment(1), "histogram.power")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).edges, "histogram.axes")
    refusal(lambda: histogram().perturb([1]).moment(1, rows=0), "histogram.rows")
    refusal(lambda: histogram().perturb([1]).synthetic(-1), "histogram.rows")
