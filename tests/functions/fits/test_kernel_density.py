"""Kernel density: its values, that it is a density, and its sensitivity against neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.functions.fits import KernelDensity
from sfumato.functions.guarded_call import ValueForm, call_guarded
from sfumato.functions.lattice import Lattice

LATTICE = Lattice(degree=25, bounds=[(0, 1)])
PLANE = Lattice(degree=8, bounds=[(0, 1), (0, 2)])


def test_by_its_formula() -> None:
    rng = np.random.default_rng(1)
    x, points = rng.random((30, 2)), rng.random((7, 2))
    fit = KernelDensity("0.2", inputs=[(0, 1), (0, 1)])
    slow = [
        np.exp(-np.square((p - x) / 0.2).sum(axis=1) / 2).mean() / (0.04 * 2 * math.pi)
        for p in points
    ]
    assert fit(x)(points) == pytest.approx(np.array(slow), abs=1e-7)
    assert KernelDensity("0.1", records=60)(x[:, 0])(points[:, 0]) == pytest.approx(
        KernelDensity("0.1")(x[:, 0])(points[:, 0]) / 2, abs=1e-7
    )


def test_it_is_a_density() -> None:
    t = np.linspace(-1, 2, 3001)
    density = KernelDensity("0.1", inputs=(-1, 2))(np.random.default_rng(2).random(50))(t)
    assert density.min() >= 0
    assert density.sum() * 0.001 == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_no_neighbour_moves_further(relation: str, dimensions: int) -> None:
    lattice = LATTICE if dimensions == 1 else PLANE
    fit = KernelDensity("0.2", inputs=lattice.bounds, records=5)
    stated = fit.sensitivity(lattice, relation)
    limits = np.array([float(stated.moves(norm, lattice.size)) for norm in (1, 2, "inf")])
    rng, worst = np.random.default_rng(3), np.zeros(3)
    for _ in range(400):
        data = rng.choice([0, 0.04, 0.25, 0.5, 0.75, 1], (5, dimensions)) * [1, 2][:dimensions]
        two = data.copy()
        two[0] = rng.choice([0, 0.04, 0.25, 0.5, 0.75, 1], dimensions) * [1, 2][:dimensions]
        d = fit(data)(lattice.points) - fit(two if relation == "replace" else data[1:])(
            lattice.points
        )
        worst = np.maximum(worst, [np.abs(d).sum(), math.sqrt(np.square(d).sum()), np.abs(d).max()])
    assert (worst <= limits).all()
    assert (worst >= (0.7 if relation == "replace" else 0.98) * limits).all()


def test_sums_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(5000)
    fit = KernelDensity("0.05", records=5000)
    assert (fit(x)(LATTICE.points) == fit(rng.permutation(x))(LATTICE.points)).all()


def test_any_data_have_a_density() -> None:
    fit = KernelDensity("0.1", records=10)
    density = fit([math.nan, math.inf, -math.inf, -3, 7])([0.0, 1.0])
    assert density == pytest.approx(fit([0, 1, 0, 0, 1])([0.0, 1.0]))
    assert fit([])([0.5]).tolist() == [0]
    crowd = fit(np.full(20_000, 0.5))([0.5])
    assert crowd == pytest.approx(
        1024 * 10 / (10 * 0.1 * math.sqrt(2 * math.pi))
    )  # far more records than declared count for 1024 times as many


def test_refused() -> None:
    with pytest.raises(Refused, match=r"fit\.records"):
        KernelDensity("0.1").sensitivity(LATTICE)
    with pytest.raises(Refused, match=r"fit\.inputs"):
        KernelDensity("0.1", records=3).sensitivity(PLANE)


def _released(fit: Any, data: Any, lattice: Lattice) -> Any:
    """As a release reads it."""
    return call_guarded(
        lambda records: np.reshape(fit(records)(lattice.points), lattice.size),
        data,
        ValueForm((lattice.size,), 0.0, -math.inf, math.inf),
    )


@pytest.mark.parametrize(
    "record",
    ["abc", 10**400, [1, 2], None, 1 + 1j, b"x", {}, np.array([1.0, 2.0])],
    ids=lambda v: repr(v)[:12],
)
def test_a_strange_record_moves_the_curve_no_further(record: Any) -> None:
    """It is one record, and the other 99 stay."""
    lattice = Lattice(degree=10, bounds=[(0, 1)])
    fit = KernelDensity("0.1", records=100)
    plain = [0.5] * 100
    moved = np.abs(_released(fit, plain, lattice) - _released(fit, [*plain[:-1], record], lattice))
    assert 0 < float(moved.sum()) <= fit.sensitivity(lattice, "replace").moves(1, lattice.size)


def test_rows_that_are_too_wide_are_one_record_each() -> None:
    lattice = Lattice(degree=10, bounds=[(0, 1)])
    fit = KernelDensity("0.1", records=100)
    wide = np.full((100, 2), 0.5)
    moved = np.abs(_released(fit, wide, lattice) - _released(fit, wide[1:], lattice))
    assert float(moved.max()) <= fit.sensitivity(lattice, "add-remove").moves("inf", lattice.size)
    assert (fit(wide)(lattice.points) == fit(wide[:, 0])(lattice.points)).all()


@pytest.mark.parametrize("records", [2**22, 2**23, 2**30])
def test_many_declared_records(records: int) -> None:
    """2^40 times as many are beyond 64 bits: the clamp is not."""
    lattice = Lattice(degree=4, bounds=[(0, 1)])
    few, many = (KernelDensity("0.1", records=n) for n in (1, records))
    assert _released(many, [0.5], lattice) * records == pytest.approx(
        _released(few, [0.5], lattice)
    )
    assert _released(many, [0.5], lattice).max() > 0
