"""Choose the law of additive noise that keeps a promise with the smaller variance.

Laplace noise follows the L1 norm and keeps ε alone. Gaussian noise follows the L2 norm and keeps ρ,
μ, or ε with a δ. So (ε, δ) and a Rényi curve have both laws to choose from, and every other promise
has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar, Unpack

from ...exact.numbers import Number
from ...guarantees.guarantee import NoiseTarget
from ..gaussian import Gaussian
from ..laplace import Laplace
from .additive import Additive, AdditiveOptions

Norm = Literal["L1", "L2"]
A = TypeVar("A", bound=Additive)


def norms_for(target: NoiseTarget | None) -> tuple[Norm, ...]:
    """Return the norms whose noise can keep a promise: L1 for Laplace, L2 for Gaussian noise."""
    if target is None:
        return ()
    if target.epsilon is None:
        return ("L2",)
    return ("L1",) if target.delta is target.mu_squared is None else ("L1", "L2")


def fit_noise(
    norm: Norm, target: NoiseTarget, sensitivity: Number, **options: Unpack[AdditiveOptions]
) -> Laplace | Gaussian:
    """Return the noise of the norm that keeps the promise, for a sensitivity in that norm."""
    if norm == "L1":
        return Laplace(sensitivity=sensitivity, epsilon=target.epsilon, **options)
    if target.mu_squared is not None:
        return Gaussian(sensitivity=sensitivity, rho=target.mu_squared / 2, **options)
    return Gaussian(sensitivity=sensitivity, epsilon=target.epsilon, delta=target.delta, **options)


def better_law(norms: Sequence[Norm], fit: Callable[[Norm], A]) -> A:
    """Fit noise of each norm; return the one with the smallest exact variance."""
    noises = [fit(norm) for norm in norms]
    return noises[0] if len(noises) == 1 else min(noises, key=lambda noise: noise.variance)
