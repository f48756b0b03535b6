"""One count, or many counts about the same people.

*Law*        The noise of `Laplace` or of `Gaussian`, whichever has the smaller exact variance at
             the promise asked for.
*Promise*    One person changes each of k counts by at most 1, under either relation: L1 sensitivity
             k, L2 sensitivity √k. So pure ε by Laplace noise of scale k/ε, or (ε, δ) by the
             analytic Gaussian; without δ only the first. At (1, 10⁻⁶) the second has less noise
             from k = 9 on.
*Error*      that of the mechanism returned.
*Proof*      docs/proofs/counting.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import Unpack

from ...exact.balls import sqrt_up
from ...exact.numbers import Number
from ...guarantees.guarantee import NoiseTarget
from ...keywords import spell_out
from ..gaussian import Gaussian
from ..laplace import Laplace
from .additive import check_size
from .better_law import Norm, better_law, fit_noise, norms_for
from .mechanism import Neighbours


@spell_out(Neighbours)
def counts(
    *, k: int = 1, epsilon: Number, delta: Number | None = None, **neighbours: Unpack[Neighbours]
) -> Laplace | Gaussian:
    """Return the mechanism with less noise for k counts, each of which one person may change by
    1.
    """
    size = check_size(k, "k") or 1
    return laplace_or_gaussian(
        l1=Fraction(size), l2_squared=Fraction(size), epsilon=epsilon, delta=delta, **neighbours
    )


@spell_out(Neighbours)
def laplace_or_gaussian(
    *,
    l1: Fraction,
    l2_squared: Fraction,
    epsilon: Number,
    delta: Number | None,
    **neighbours: Unpack[Neighbours],
) -> Laplace | Gaussian:
    """Return Laplace or, if a δ is allowed and its exact variance is smaller, Gaussian noise, for
    integers with these L1 and squared L2 sensitivities.
    """
    target = NoiseTarget(epsilon=epsilon, delta=delta)

    def fit(norm: Norm) -> Laplace | Gaussian:
        return fit_noise(norm, target, l1 if norm == "L1" else sqrt_up(l2_squared), **neighbours)

    return better_law(norms_for(target), fit)


def epsilon_of(noise: object) -> Fraction:
    """Return the ε of Laplace noise; raise TypeError for Gaussian noise, which was fitted to an ε
    and a δ that it does not state.
    """
    if not isinstance(noise, Laplace):
        raise TypeError
    return noise.sensitivity / noise.scale
