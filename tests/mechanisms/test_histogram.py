"""Histograms: both relations by enumeration, the promise by arithmetic, and what is refused."""

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
from sfumato.guarantees.neighbour_relations import RELATIONS
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from .histograms import histogram
from .untouchable import Untouchable


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


@pytest.mark.parametrize("name", ["replace", "add-remove"])
@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_sensitivity_by_enumeration(name: str, outside: Any) -> None:
    """Every pair of neighbours over values in every bin, at the ends, outside and missing: 1 or 2
    in L1, 1 or √2 in L2, and no less.
    """
    h = histogram(relation=name, outside=outside)
    moved = [
        h.tally(x) - h.tally(y) for x, y in RELATIONS[name].pairs((0.0, 1.5, 3.0, 9.0, None), 2)
    ]
    expected = 1 if name == "add-remove" else 2
    assert max(np.abs(m).sum() for m in moved) == expected == h.noise.sensitivity
    assert max(np.square(m).sum() for m in moved) == expected


@pytest.mark.parametrize("name", ["replace", "add-remove"])
def test_several_columns_move_no_more(name: str) -> None:
    h = mech.Histogram(edges=[[0, 1, 2], [0, 1, 2]], epsilon=1, relation=name)
    domain = tuple(itertools.product((0.5, 1.5), repeat=2))
    moved = [
        h.tally(np.array(x, dtype=float).reshape(-1, 2))
        - h.tally(np.array(y, dtype=float).reshape(-1, 2))
        for x, y in RELATIONS[name].pairs(domain, 2)
    ]
    assert max(np.abs(m).sum() for m in moved) == (1 if name == "add-remove" else 2)
    assert h.shape == (2, 2)


def ratio(scale: Fraction, moves: tuple[int, ...]) -> arb:
    """The largest |ln| ratio of the joint law of the noise and its shift, over a window that holds
    the extremes.
    """
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
    """The sources' Laplace(1/ε) for a histogram whose neighbours differ in a row: ε = 2, and at ε =
    1 a δ of 0.24, on integers 0.34.
    """
    with precision(128):
        assert abs(ratio(Fraction(1), (1, -1)) - 2) < arb(2) ** -100
    q = float(np.exp(-1))
    mass = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-60, 61)}
    delta = sum(
        max(mass[a] * mass[b] - np.e * mass.get(a - 1, 0) * mass.get(b + 1, 0), 0)
        for a, b in itertools.product(range(-50, 51), repeat=2)
    )
    assert delta == pytest.approx(0.33783, abs=1e-4)
    assert histogram().promise.delta(1) == 0


def test_a_delta_may_buy_less_noise() -> None:
    assert isinstance(histogram(delta=1e-6).noise, mech.Laplace), (
        "two counts are too few for a Gaussian at ε = 1"
    )
    g = histogram(delta="0.01", epsilon="1/2").noise
    assert isinstance(g, mech.Gaussian)
    assert g.moves_squared == 2
    assert g.variance < histogram(epsilon="1/2").noise.variance


def test_both_directions_of_accuracy() -> None:
    h = histogram(epsilon=None, error=10, confidence="0.95", edges=range(11))
    assert h.error(0.95, simultaneous=True) == 10
    assert h.promise.epsilon() == pytest.approx(1.005, abs=2e-2)


MIXED = mech.Histogram(
    axes=[mech.Edges([0, 10, 20]), mech.Labels(["f", "m"])], epsilon=1, relation="add-remove"
)


def test_numbers_and_categories_together() -> None:
    assert MIXED.tally([[5, 15, 20, None], ["m", "f", "m", "f"]]).tolist() == [[0, 1], [1, 1]]
    released = MIXED.perturb([[5, 15, 20, 3], ["m", "f", "m", "x"]])
    assert released.counts.shape == (2, 2)
    age, sex = released.synthetic(50, bits=SeededBits(1))
    assert set(sex.tolist()) <= {"f", "m"}
    assert 0 <= age.min() <= age.max() < 20
    assert released.moment((1, 0)).interval()[0] >= -1e-12


@pytest.mark.parametrize(
    ("arguments", "code"),
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
def test_parameters_are_refused(arguments: dict[str, Any], code: str) -> None:
    refusal(lambda: histogram(**arguments), code)


def test_data_are_refused_before_bits_are_drawn() -> None:
    refusal(lambda: histogram().perturb(["a"], bits=Untouchable()), "value.type")
    refusal(lambda: MIXED.perturb([[1, 2]], bits=Untouchable()), "histogram.columns")
    refusal(lambda: MIXED.perturb([[1, 2], ["f"]], bits=Untouchable()), "histogram.columns")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).moment((1, 1)), "histogram.power")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).moment(1), "histogram.power")
    refusal(lambda: MIXED.perturb([[1], ["f"]]).edges, "histogram.axes")
    refusal(lambda: histogram().perturb([1]).moment(1, rows=0), "histogram.rows")
    refusal(lambda: histogram().perturb([1]).synthetic(-1), "histogram.rows")
