"""A law on a lattice, once from above and once from below: its curve against the true one, at every
ε.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.accounting.loss.loss_families import GaussianLaw, LaplaceLaw, laplace_law, response_law
from sfumato.accounting.loss.loss_lattice import Measure, Nodes, cut_tail, halves, lower, upper
from sfumato.accounting.loss.loss_laws import Atoms, Law, PointLaw, reverse
from sfumato.accounting.subsampling import FixedLaw, PoissonLaw

LAWS: dict[str, Law] = {
    "gaussian": GaussianLaw(0.3),
    "laplace": LaplaceLaw(0.7, math.inf),
    "geometric": laplace_law(0.7, 1000.0),
    "steps": laplace_law(0.7, 5.0),
    "response": response_law(0.6, 3, 1e-3),
    "removal": PoissonLaw(GaussianLaw(1.0), 0.05),
    "addition": reverse(PoissonLaw(GaussianLaw(1.0), 0.05)),
    "sampled laplace": PoissonLaw(LaplaceLaw(2.0, math.inf), 0.3),
    "fixed": FixedLaw(PoissonLaw(LaplaceLaw(2.0, 7000.0), 0.3)),
}


def curve(law: Law, epsilon: float) -> float:
    """H from the law itself: one edge decides."""
    p, q = law.cells(np.array([epsilon]))
    above = law.atoms.loss > epsilon
    return (
        float(
            p[1]
            - math.exp(epsilon) * q[1]
            + (law.atoms.p[above] - math.exp(epsilon) * law.atoms.q[above]).sum()
        )
        + law.only_p
    )


def on_lattice(measure: Measure, places: np.ndarray, epsilon: float) -> float:
    return measure.infinite + float(
        (measure.mass * np.maximum(0.0, -np.expm1(epsilon - places))).sum()
    )


def nodes(law: Law, h: float, step: int = 1) -> Nodes:
    low = math.floor(-3.0 / h) // step * step
    numbers = np.arange(low, math.ceil(3.0 / h), step)
    atoms = law.atoms.loss
    return Nodes(0.0, h, numbers, np.full(atoms.size, -1))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("h", "step"), [(0.03, 1), (0.011, 2), (0.25, 1)])
def test_the_truth_is_between(name: str, h: float, step: int) -> None:
    law, at = LAWS[name], nodes(LAWS[name], h, step)
    half = halves(law, at)
    down, up = lower(half), upper(half)
    for epsilon in np.linspace(-1.5, 2.5, 173):
        truth = curve(law, epsilon)
        assert on_lattice(down, at.places, epsilon + down.slack) <= truth + 1e-14
        assert on_lattice(up, at.places, epsilon - up.slack) >= truth - 1e-14


def test_a_share_too_small_would_be_seen() -> None:
    law, at = LAWS["removal"], nodes(LAWS["removal"], 0.03)
    half = halves(law, at)
    up = upper(half)
    moved = np.append(up.mass[1:], 0.0) * 0.01
    wrong = Measure(
        up.numbers, up.mass + moved - np.append(0.0, moved[:-1]), up.infinite, up.error, up.slack
    )
    assert any(
        on_lattice(wrong, at.places, e) < curve(law, e) - 1e-9 for e in np.linspace(0, 1, 50)
    )
    down = lower(half)
    lifted = (
        np.append(0.0, down.mass[:-1] * 0.05) + down.mass - np.append(down.mass[:-1] * 0.05, 0.0)
    )
    wrong = Measure(down.numbers, lifted, down.infinite, down.error, down.slack)
    assert any(
        on_lattice(wrong, at.places, e) > curve(law, e) + 1e-9 for e in np.linspace(0, 1, 50)
    )


def test_what_is_lost_is_of_second_order() -> None:
    """Splitting adds h²/6 to the variance, joining takes h²/12 off it; so halving h quarters
    both.
    """
    law = GaussianLaw(1.0)
    for h in (0.1, 0.05, 0.025):
        at = Nodes(
            0.0, h, np.arange(math.floor(-9 / h), math.ceil(10 / h)), np.zeros(0, dtype=np.int64)
        )
        half = halves(law, at)
        for measure, factor in ((upper(half), 1 / 6), (lower(half), -1 / 12)):
            mean = float(measure.mass @ at.places)
            variance = float(measure.mass @ (at.places - mean) ** 2)
            assert abs((variance - 1) / h**2 - factor) < 0.01


def test_atoms_on_nodes_cost_nothing() -> None:
    law = response_law(0.5, 2)
    at = Nodes(0.5, 0.25, np.arange(-4, 1), np.array([0, 4]))
    half = halves(law, at)
    assert lower(half).mass.tolist() == upper(half).mass.tolist()
    assert curve(law, 0.2) == pytest.approx(on_lattice(upper(half), at.places, 0.2), rel=1e-14)


def test_a_shortened_law_loses_less() -> None:
    law, at = LAWS["removal"], nodes(LAWS["removal"], 0.03)
    down = lower(halves(law, at))
    short = cut_tail(down, 1e-6)
    assert short.numbers.size < down.numbers.size
    assert short.mass.sum() == pytest.approx(down.mass.sum(), rel=1e-14)
    for epsilon in (0.0, 0.5, 1.0):
        assert on_lattice(short, at.places[: short.mass.size], epsilon) <= on_lattice(
            down, at.places, epsilon
        )


def test_a_law_of_one_loss_on_one_node_is_bounded_by_itself() -> None:
    law = PointLaw(Atoms(np.zeros(1), np.ones(1), np.ones(1)), 1e-15, 0.0)
    half = halves(law, Nodes(0.0, 0.1, np.array([0]), np.array([0])))
    for measure in (upper(half), lower(half)):
        assert (measure.mass.tolist(), measure.infinite) == ([1.0], 0.0)
