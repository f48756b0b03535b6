"""Compare the variances of the strategies for prefix sums and ranges.

*Flat*         noise on each of n values; a sum of k of them adds k noises.
*Tree*         noise on the sums of all blocks of b^i values, root and leaves included: a value lies
               in `levels` blocks, so the noise grows with their number; a prefix or a range is put
               together from at most `nodes` of them (Hay et al. 2010; Qardaji, Yang & Li 2013).
*Square root*  `PrefixSums`: variance (Σ_{j<n} c_j²)² for a prefix, c_j = C(2j, j)/4^j, under
               Gaussian noise.
*Unit*         variances are those of the worst sum, in multiples of (Δ/ε)² for Laplace noise and of
               (Δ/μ)² for Gaussian noise, one value changing by Δ. Trees are taken as they are;
               consistency, which `Hierarchy` adds, lowers their error further.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from flint import arb

from ...exact.balls import evaluate, precision
from ...exact.numbers import is_whole
from . import mechanism_refusals as refusals

_WIDEST = 64  # the largest branching that is tried, apart from n itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to answer, and its largest variance."""

    name: str
    variance: float
    branching: int | None = None
    levels: int = 1
    nodes: int = 1


def strategies(
    length: int,
    *,
    noise: Literal["gaussian", "laplace"] = "gaussian",
    query: Literal["prefix", "range"] = "prefix",
    width: int | None = None,
) -> tuple[Strategy, ...]:
    """Return the strategies for n values, the best first. `width` is the number of values in a
    range, for the flat strategy; by default all.
    """
    if not is_whole(length, 1, 1 << 20):
        raise refusals.STREAM_LENGTH_OUT_OF_RANGE(length=length, most=1 << 20)
    if noise not in ("gaussian", "laplace") or query not in ("prefix", "range"):
        raise refusals.UNKNOWN_STRATEGY(noise=noise, query=query)
    summed = length if width is None else width
    choices = [Strategy(name="flat", variance=float(_variance(noise, 1, summed)), nodes=summed)]
    trees = [tree(length, b, noise=noise, query=query) for b in range(2, min(length, _WIDEST) + 1)]
    if trees:
        best = min(trees, key=lambda t: t.variance)
        choices += [trees[0]] if best is trees[0] else [trees[0], best]
    if query == "prefix":
        choices.append(
            Strategy(name="square root", variance=_square_root(length, noise), nodes=length)
        )
    return tuple(sorted(choices, key=lambda s: s.variance))


def tree(
    length: int,
    branching: int,
    *,
    noise: Literal["gaussian", "laplace"] = "gaussian",
    query: Literal["prefix", "range"] = "prefix",
) -> Strategy:
    """A tree over n values: its levels, the most blocks that a query takes, and the variance of
    that.
    """
    below = 0  # levels under the root
    while branching**below < length:
        below += 1
    nodes = (
        _prefix_nodes(length, branching)
        if query == "prefix"
        else _range_nodes(length, below, branching)
    )
    variance = _variance(noise, below + 1, nodes)
    return Strategy(
        name=f"tree of {branching}",
        variance=float(variance),
        branching=branching,
        levels=below + 1,
        nodes=nodes,
    )


def square_root_factor(length: int) -> float:
    """Σ_{j<n} c_j²: the largest deviation of a prefix sum, in multiples of Δ/μ."""
    return evaluate(lambda: _sums(length)[1])


def _variance(noise: str, levels: int, nodes: int) -> int:
    """A value in `levels` blocks has L1 sensitivity `levels`, L2 its root; Laplace noise of scale b
    has variance 2b².
    """
    return 2 * levels**2 * nodes if noise == "laplace" else levels * nodes


def _square_root(length: int, noise: str) -> float:
    def formula() -> arb:
        ones, squares = _sums(length)
        return 2 * ones**2 * squares if noise == "laplace" else squares**2

    return evaluate(formula)


@lru_cache(maxsize=64)
def _sums(length: int) -> tuple[arb, arb]:
    """Σ c_j and Σ c_j² for j < n."""
    with precision(192):
        c, ones, squares = arb(1), arb(0), arb(0)
        for j in range(length):
            ones, squares = ones + c, squares + c * c
            c = c * (2 * j + 1) / (2 * j + 2)
        return ones, squares


def _prefix_nodes(length: int, branching: int) -> int:
    """The largest sum of digits, in base b, of the numbers up to n: a prefix takes as many blocks
    of each size as its digit says.
    """
    digits: list[int] = []
    rest = length
    while rest:
        rest, digit = divmod(rest, branching)
        digits.append(digit)
    above = sum(digits)
    best = above
    for position in range(len(digits)):
        above -= digits[position]
        if digits[position]:
            best = max(best, above + digits[position] - 1 + position * (branching - 1))
    return best


def _range_nodes(length: int, below: int, branching: int) -> int:
    """The most blocks that a range takes: a suffix of one child of the root, whole children, a
    prefix of another. Attained by full trees.
    """
    if below == 0:
        return 1
    prefix = (branching - 1) * (below - 1)
    block: int = branching ** (below - 1)
    children = -(-length // block)
    return max(2 * prefix + children - 2, prefix + children - 1)
