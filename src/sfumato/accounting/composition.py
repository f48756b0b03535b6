"""Sequential composition: the total of k releases about the same data, by theorems in closed form.

*Basic*      (Σεᵢ, Σδᵢ): the sum, in every notion (Dwork, Kenthapadi, McSherry, Mironov & Naor
             2006). Costs may be chosen along the way.
*Advanced*   k steps of (ε, δ₀): (ε·√(2k·ln(1/δ)) + k·ε·(e^ε − 1), k·δ₀ + δ) for every δ > 0 (Dwork,
             Rothblum & Vadhan 2010).
*Rényi*      k steps of ε: (k·ε²/2 + ε·√(2k·ln(1/δ)), δ), as ε-DP has D_α ≤ α·ε²/2 (Bun & Steinke
             2016) and the order that minimises k·α·ε²/2 + ln(1/δ)/(α − 1) is α = 1 +
             √(2·ln(1/δ)/k)/ε (Mironov 2017).
*Loose*      The same from the older D_α ≤ 3α·ε²/2: (3k·ε²/2 + ε·√(6k·ln(1/δ)), δ). Printed without
             the ε before the root it is still true for ε ≥ 2/3 only by accident, and says nothing
             for small ε.

The last three need k and all parameters fixed before the first answer. `accounting.optimal` gives
the least possible ε. Each function applies its own theorem, even where a better one exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from operator import add

from flint import arb

from ..exact.balls import above, ball
from ..exact.numbers import Number, is_whole, non_negative, probability
from ..guarantees import Approx, Guarantee
from ..guarantees.guarantee import sum_of_deltas
from . import accounting_refusals as refusals


def basic(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Add up the guarantees of all releases. Parts of different notions stay separate parts."""
    parts = list(guarantees)
    if not parts:
        raise refusals.NOTHING_RELEASED(function="basic")
    return reduce(add, parts)


def advanced(epsilon: Number, k: int, delta: Number, *, step_delta: Number = 0) -> Approx:
    """Compose k steps, each (ε, step_delta)-DP, by the theorem of Dwork, Rothblum & Vadhan 2010."""
    e, n, d = _steps(epsilon, k, delta)
    lost = sum_of_deltas(
        n * probability(step_delta, "step_delta") + d,
        lambda: f"advanced({epsilon}, {k}, {delta}, step_delta={step_delta})",
    )
    return Approx(
        _rounded(e, lambda: ball(e) * _root(2 * n, d) + ball(n * e) * ball(e).expm1()), lost
    )


def advanced_renyi(epsilon: Number, k: int, delta: Number) -> Approx:
    """Compose k steps of ε-DP through Rényi divergence, from D_α ≤ α·ε²/2."""
    e, n, d = _steps(epsilon, k, delta)
    return Approx(_rounded(e, lambda: ball(n * e * e / 2) + ball(e) * _root(2 * n, d)), d)


def advanced_renyi_loose(epsilon: Number, k: int, delta: Number) -> Approx:
    """Compose k steps of ε-DP through Rényi divergence, from D_α ≤ 3α·ε²/2: three times what is
    needed, as the literature has it.
    """
    e, n, d = _steps(epsilon, k, delta)
    return Approx(_rounded(e, lambda: ball(3 * n * e * e / 2) + ball(e) * _root(6 * n, d)), d)


def count_of(value: object, name: str = "k") -> int:
    """Check a number of releases."""
    if is_whole(value):
        return value
    raise refusals.COUNT_BELOW_ONE(name=name, value=value)


def _steps(epsilon: Number, k: int, delta: Number) -> tuple[Fraction, int, Fraction]:
    return non_negative(epsilon, "epsilon"), count_of(k), probability(delta, "delta", zero=False)


def _root(factor: int, delta: Fraction) -> arb:
    """√(factor · ln(1/δ))."""
    return (-factor * ball(delta).log()).sqrt()


def _rounded(epsilon: Fraction, formula: Callable[[], arb]) -> Fraction:
    return above(formula) if epsilon else Fraction(0)
