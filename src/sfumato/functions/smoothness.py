"""Bounds on the distance between a function and its Bernstein polynomial of degree k, on a box with
sides of width at most w, in d dimensions.

*Hölder*     |f(x) − f(x')| ≤ L·max|x_j − x'_j|^γ, 0 < γ ≤ 1:  L·(w²·d/(4k))^(γ/2), because B_k f(t)
             is the mean of f at a binomial point, of variance t(1 − t)/k.
*Smooth*     second derivatives at most T:  d·T·w²/(8k). For t² on [0, 1] this is 1/(4k), and it is
             attained.
*Iterated*   with derivatives of order 2, 3 and 4 at most T and h ≥ 2:  (d·(17/8 + 1/(3k))/8 + d(d −
             1)/64)·T·w'/k², w' = max(w², w⁴), the second correction; every further one at most
             doubles it (in truth they help where f is smoother still). With less smoothness,
             2^(h−1) times the first bound.
*Proof*      docs/proofs/bernstein.md (Aldà & Rubinstein 2017 state the orders k^(−γ/2) and k^(−h),
             without constants)
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.balls import ball, evaluate, up
from ..exact.numbers import Number, exact, is_whole, positive
from . import function_refusals as refusals
from .lattice import Lattice


def hoelder_error(
    lattice: Lattice, iterations: int, *, exponent: Number, constant: Number
) -> float:
    """Bound the distance for a (γ, L)-Hölder function."""
    gamma, height = exact(exponent, "exponent"), positive(constant, "constant")
    if not 0 < gamma <= 1:
        raise refusals.EXPONENT_OUT_OF_RANGE(exponent=exponent)
    spread = _width(lattice) ** 2 * lattice.dimensions / (4 * lattice.degree)
    return evaluate(
        lambda: 2 ** (iterations - 1) * ball(height) * ball(spread) ** (ball(gamma) / 2), "up"
    )


def smooth_error(lattice: Lattice, iterations: int, *, order: int, bound: Number) -> float:
    """Bound the distance for a function whose partial derivatives up to `order` are at most
    `bound`.
    """
    most, d, k, w = positive(bound, "bound"), lattice.dimensions, lattice.degree, _width(lattice)
    if not is_whole(order):
        raise refusals.DERIVATIVES_BELOW_ONE(order=order)
    # Lipschitz in the largest coordinate, constant d·T
    bounds = [Fraction(evaluate(lambda: ball(most * d) * ball(w**2 * d / (4 * k)).sqrt(), "up"))]
    if order >= 2:
        bounds.append(d * most * w**2 / (8 * k))
    first = min(bounds) * 2 ** (iterations - 1)
    if order < 4 or iterations < 2:
        return up(first)
    second = (
        (d * (Fraction(17, 8) + Fraction(1, 3 * k)) / 8 + Fraction(d * (d - 1), 64))
        * most
        * max(w**2, w**4)
        / k**2
    )
    return up(min(first, second * 2 ** (iterations - 2)))


def _width(lattice: Lattice) -> Fraction:
    return max(high - low for low, high in lattice.bounds)
