"""Laws multiplied out: the same composition, to the errors that are stated, and much closer bounds
where atoms fit no lattice.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.loss import certificate
from sfumato.accounting.loss.certificate import epsilon_bounds
from sfumato.accounting.loss.loss_families import (
    GaussianLaw,
    LaplaceLaw,
    laplace_law,
    response_law,
)
from sfumato.accounting.loss.loss_laws import Atoms, Law, PointLaw
from sfumato.accounting.loss.loss_products import MOST, _points, _power, _product, multiply_out
from sfumato.accounting.subsampling import PoissonLaw

ROOTS = [math.sqrt(n) for n in (2, 3, 5)]
UNEVEN = PointLaw(
    Atoms(np.log([0.4, 1.25, 5 / 3]), np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.4, 0.18])),
    1e-15,
    1e-16,
    0.0,
    0.0,
)


def curve(law: Law, epsilon: float) -> float:
    a = law.atoms
    return law.only_p + float(np.maximum(0.0, a.p - math.exp(epsilon) * a.q).sum())


def by_hand(laws: list[Law], epsilon: float) -> float:
    """Every way the answers may come out, one by one."""
    ways = [(1.0, 1.0)]
    for law in laws:
        outcomes = [
            *zip(law.atoms.p.tolist(), law.atoms.q.tolist(), strict=True),
            (law.only_p, 0.0),
        ]
        ways = [(p * a, q * b) for p, q in ways for a, b in outcomes]
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in ways)


LAWS: dict[str, Law] = {
    "response": response_law(0.3, 3),
    "telling all": response_law(0.3, 2, 1e-3),
    "steps": laplace_law(0.7, 4.0),
    "uneven": UNEVEN,
    "sampled": PoissonLaw(laplace_law(1.0, 3.0), 0.2),
}


@pytest.mark.parametrize("name", LAWS)
def test_powers(name: str) -> None:
    law = LAWS[name]
    power, size = _power(_points(law), 5)
    assert size == 5
    assert power.symmetric == law.symmetric
    assert (np.diff(power.points.loss) > 0).all()
    assert power.error < 1e-11
    for epsilon in (0.0, 0.2, 1.0):
        assert curve(power, epsilon) == pytest.approx(by_hand([law] * 5, epsilon), rel=1e-12)


def test_products_of_different_laws() -> None:
    first, second = response_law(0.3, 2, 1e-3), laplace_law(0.7, 4.0)
    product = _product(_points(first), _points(second))
    for epsilon in (0.0, 0.2, 0.9):
        assert curve(product, epsilon) == pytest.approx(
            by_hand([first, second], epsilon), rel=1e-12
        )


def test_gathering_keeps_the_counts_and_the_bound() -> None:
    laws = [(response_law(root / 100, 2), 10**4) for root in ROOTS]
    products = multiply_out(laws)
    assert all(law.atoms.loss.size <= MOST for law, _ in products)
    mean = sum(count * float(law.atoms.p @ law.atoms.loss) for law, count in laws)
    assert sum(
        count * float(law.atoms.p @ law.atoms.loss) for law, count in products
    ) == pytest.approx(mean, rel=1e-9)


def test_what_fits_is_left_alone() -> None:
    for laws in (
        [(response_law(0.1, 2), 100), (response_law(0.3, 2), 5)],
        [(GaussianLaw(1.0), 3)],
        [(laplace_law(0.1, math.inf), 3), (GaussianLaw(1.0), 1)],
    ):
        assert multiply_out(laws) is laws


def test_bounds_come_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand uses of each of three laws without a common lattice; without multiplying out the
    interval is twenty times as wide, and holds the other.
    """
    laws = [(response_law(root / 100, 2), 1000) for root in ROOTS]
    near = epsilon_bounds(laws, Fraction(1, 10**6), 1 << 16)
    monkeypatch.setattr(certificate, "multiply_out", lambda uses: uses)
    wide = epsilon_bounds(laws, Fraction(1, 10**6), 1 << 16)
    assert wide[0] <= near[0] <= near[1] <= wide[1]
    assert near[1] - near[0] < 0.05 * (wide[1] - wide[0])


def test_laws_with_a_spread_part_are_left_alone_though_their_atoms_fit_no_lattice() -> None:
    uses = tuple((LaplaceLaw(root, math.inf), 3) for root in ROOTS)
    assert all(law.spread and law.atoms.loss.size == 2 for law, _ in uses)
    assert multiply_out(uses) is uses
