"""How far off quantiles are, by the ways to release m of them for one ε: rank errors and intervals.

*Data*      Made from a fixed seed: n rows between public bounds, spread evenly, in a narrow hump
            (a normal law), skewed (a log-normal law), or on 20 values with ties.
*Ways*      choose     the exponential mechanism for each quantile, ε/m each, half of it for the
                       ends of an interval; `alone` leaves the interval out
            library    the same at sensitivity 1, the rule of diffprivlib, without an interval
            recursive  Kaplan, Schnapp and Stemmer (2022): the middle quantile first, then each half
                       of the rows by itself; log m levels instead of m shares, without an interval
            prefix     one tree of counts; a quantile adds the nodes to its left, and Chernoff's
                       bound for the worst leaf makes its interval
            squares    the same tree, all levels combined by least squares; each leaf has the bound
                       of its own sum (as a normal one would have), and weight counts as spread
                       evenly inside a leaf
            root       least squares on the tree with two levels (the square-root strategy)
            hybrid     values by `choose` alone, intervals from one tree, equal shares
*Error*     In rows: how many are missing for the answer to be a quantile. RMSE and 95 % point over
            quantiles and repetitions; beside them the mean number of rows in the 95 % interval.
*Peers*     OpenDP and diffprivlib are no dependencies; `library` draws from diffprivlib's law.

Noise here is in doubles: the script measures, it protects nothing. `--markdown` prints for a page.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.geometric import Geometric
from telling import as_columns, as_pipes

Doubles = NDArray[np.float64]
BITS, LEAF_BITS = 16, 12
LEVEL = 0.95
SPREADS: dict[str, Callable[[np.random.Generator, int], Doubles]] = {
    "even": lambda random, n: random.uniform(0, 1, n),
    "hump": lambda random, n: random.normal(0.5, 0.05, n),
    "skewed": lambda random, n: random.lognormal(-5, 1, n),
    "ties": lambda random, n: random.integers(0, 20, n) / 20,
}


class Counts:
    """Rows on the grid, and how many of them lie below each point."""

    def __init__(self, points: NDArray[np.int64], size: int) -> None:
        self.size, self.n = size, len(points)
        self.cells = np.bincount(points, minlength=size).astype(np.float64)
        self.upto = np.cumsum(self.cells)
        self.below = self.upto - self.cells

    def distance(self, q: float, shift: float = 0.0) -> Doubles:
        """Return the rows that are missing for each point to be a quantile."""
        over, under = self.below - q * self.n + shift, q * self.n - self.upto - shift
        over[0], under[-1] = 0, 0
        return np.maximum(np.maximum(over, under), 0)

    def choose(
        self, q: float, rate: float, random: np.random.Generator, draws: int, shift: float = 0.0
    ) -> NDArray[np.int64]:
        """Draw points by the exponential mechanism."""
        sums = np.cumsum(np.exp(-rate * self.distance(q, shift)))
        return np.searchsorted(sums, random.uniform(0, sums[-1], draws)).clip(0, self.size - 1)


Released = tuple[NDArray[np.int64], "NDArray[np.int64] | None", "NDArray[np.int64] | None"]
"""Values, lower and upper ends: a row for each quantile, a column for each repetition."""


def _rate(q: float, epsilon: float) -> float:
    return epsilon / (2 * max(q, 1 - q))


def choose(
    data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
) -> Released:
    each, values, low, high = epsilon / len(qs), [], [], []
    for q in qs:
        values.append(data.choose(q, _rate(q, each / 2), random, draws))
        rate = _rate(q, each / 4)
        shift = math.log(data.size / ((1 - LEVEL) / 2)) / rate
        low.append(data.choose(q, rate, random, draws, shift))
        high.append(data.choose(q, rate, random, draws, -shift))
    return np.array(values), np.array(low), np.array(high)


def alone(
    data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
) -> Released:
    each = epsilon / len(qs)
    return np.array([data.choose(q, _rate(q, each), random, draws) for q in qs]), None, None


def library(
    data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
) -> Released:
    each = epsilon / len(qs)
    return np.array([data.choose(q, each / 2, random, draws) for q in qs]), None, None


def _recursive_points(
    points: NDArray[np.int64], size: int, qs: Doubles, epsilon: float, random: np.random.Generator
) -> list[int]:
    """Return one point for each q, by halving rows and quantiles. A level costs its share once."""
    share = epsilon / (math.floor(math.log2(len(qs))) + 1)

    def halve(rows: NDArray[np.int64], first: int, last: int, part: Doubles) -> list[int]:
        # `part` are probabilities among the rows of [first, last]
        if not len(part):
            return []
        middle = len(part) // 2
        q = part[middle]
        if last <= first:
            return [first] * len(part)
        counts = Counts(rows - first, last - first + 1)
        point = first + int(counts.choose(q, _rate(q, share), random, 1)[0])
        left, right = rows[rows < point], rows[rows > point]
        return [
            *halve(left, first, point - 1, part[:middle] / q if q else part[:middle]),
            point,
            *halve(right, point + 1, last, (part[middle + 1 :] - q) / (1 - q)),
        ]

    return halve(points, 0, size - 1, qs)


def recursive(
    data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
) -> Released:
    rows = np.repeat(np.arange(data.size), data.cells.astype(np.int64))
    several = [_recursive_points(rows, data.size, qs, epsilon, random) for _ in range(draws)]
    return np.array(several).T, None, None


class Tree:
    """A full tree with noise on every node, read by prefix sums or by least squares."""

    def __init__(self, branching: int, levels: int, *, combine: bool) -> None:
        self.branching, self.levels, self.combine = branching, levels, combine
        self.leaves = branching**levels

    def noisy_levels(
        self, leaves: Doubles, scale: float, random: np.random.Generator
    ) -> list[Doubles]:
        sums = [
            leaves.reshape(-1, self.branching**up).sum(axis=1)
            for up in reversed(range(self.levels))
        ]
        return [level + random.laplace(0, scale, level.shape) for level in sums]

    def below(self, noisy: list[Doubles]) -> Doubles:
        """Return the estimate of the rows below every leaf, and of all rows."""
        b = self.branching
        if self.combine:
            leaves = np.zeros(self.leaves)
            ones = [b**level for level in range(self.levels)]
            # (AᵀA)⁻¹Aᵀy, by averages over the blocks of each level
            image = sum(
                np.repeat(level, b ** (self.levels - 1 - i)) for i, level in enumerate(noisy)
            )
            before = image
            for up in range(self.levels):
                after = (
                    np.repeat(before.reshape(-1, b).mean(axis=1), b)
                    if up == 0
                    else np.repeat(image.reshape(-1, b ** (up + 1)).mean(axis=1), b ** (up + 1))
                )
                keep = before - after if up + 1 < self.levels else before
                leaves = leaves + keep / sum(ones[: up + 1])
                before = after
            return np.concatenate([[0.0], np.cumsum(leaves)])
        out = np.zeros(self.leaves + 1)
        for i, level in enumerate(noisy):
            nodes = level.reshape(-1, b)
            before = (np.cumsum(nodes, axis=1) - nodes).ravel()
            out[:-1] += np.repeat(before, b ** (self.levels - 1 - i))
        out[-1] = noisy[0].sum()
        return out

    def deviations(self, q: float) -> Doubles:
        """Return the standard deviation of (rows at or below a leaf) − q·(all rows), for every
        leaf, where a node has variance 1.
        """
        b, h, n = self.branching, self.levels, self.leaves
        z = np.arange(1, n + 1)
        # |Q_up w|² of w = 1[leaf < z] − q, by the blocks that lie left of z, hold its end, or right
        squares = []
        for up in range(h):
            size = b**up
            full, part = z // size, z % size
            squares.append(
                full * size * (1 - q) ** 2
                + np.where(part > 0, (part - q * size) ** 2 / size, 0)
                + (n // size - full - (part > 0)) * size * q**2
            )
        variance = np.zeros(n)
        for up in range(h):
            above = squares[up + 1] if up + 1 < h else 0
            variance += (squares[up] - above) / sum(b**i for i in range(up + 1))
        return np.sqrt(variance)

    def half_widths(self, q: float, scale: float) -> Doubles:
        """Bound the noise of (rows at or below a leaf) − q·(all rows), for every leaf."""
        if self.combine:
            return 1.96 * math.sqrt(2) * scale * self.deviations(q)
        weights = np.concatenate(
            [
                np.full(self.branching, max(q, 1 - q)),
                np.ones((self.levels - 1) * (self.branching - 1)),
            ]
        )
        law = Geometric(scale=Fraction(scale))
        return np.full(self.leaves, law.linear_error(weights, Fraction(1, 20)))

    def release(
        self, data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
    ) -> Released:
        width = data.size // self.leaves
        exact = data.cells.reshape(-1, width).sum(axis=1)
        scale = self.levels / epsilon
        values, low, high = (np.zeros((len(qs), draws), dtype=np.int64) for _ in range(3))
        halves = [self.half_widths(q, scale) for q in qs]
        for draw in range(draws):
            below = self.below(self.noisy_levels(exact, scale, random))
            total = below[-1]
            for i, q in enumerate(qs):
                target, half = q * total, halves[i]
                first, last = _first(below[1:] >= target), _last(below[:-1] <= target)
                parts = 1.0
                if self.combine:
                    parts = _crossing(below, first, target) + _crossing(below, last, target)
                middle = (first + last + parts) * width / 2
                values[i, draw] = np.clip(middle if total > 0 else data.size / 2, 0, data.size - 1)
                side = np.concatenate([[half[0]], half[:-1]])
                first = _first(below[1:] >= target - half)
                last = _last(below[:-1] <= target + side)
                low[i, draw] = min(first, last) * width
                high[i, draw] = (max(first, last) + 1) * width - 1
        return values, low, high


def _crossing(below: Doubles, leaf: int, target: float) -> float:
    weight = below[leaf + 1] - below[leaf]
    return float(np.clip((target - below[leaf]) / weight, 0, 1)) if weight > 0 else 0.5


def _first(holds: NDArray[np.bool_]) -> int:
    return int(holds.argmax()) if holds.any() else len(holds) - 1


def _last(holds: NDArray[np.bool_]) -> int:
    return len(holds) - 1 - int(holds[::-1].argmax()) if holds.any() else 0


PREFIX, SQUARES, ROOT = (
    Tree(16, 3, combine=False),
    Tree(16, 3, combine=True),
    Tree(64, 2, combine=True),
)


def hybrid(
    data: Counts, qs: Doubles, epsilon: float, random: np.random.Generator, draws: int
) -> Released:
    part = epsilon / (len(qs) + 1)
    values, *_ = alone(data, qs, epsilon - part, random, draws)
    _, low, high = SQUARES.release(data, qs, part, random, draws)
    return values, low, high


WAYS: dict[str, Callable[..., Released]] = {
    "choose": choose,
    "alone": alone,
    "library": library,
    "recursive": recursive,
    "prefix": PREFIX.release,
    "squares": SQUARES.release,
    "root": ROOT.release,
    "hybrid": hybrid,
}


def measure(
    way: str, data: Counts, m: int, epsilon: float, draws: int, seed: int
) -> tuple[float, float, float, float]:
    """Return RMSE, 95 % point, rows in the interval, and coverage."""
    random = np.random.default_rng(seed)
    qs = np.arange(1, m + 1) / (m + 1)
    values, low, high = WAYS[way](data, qs, epsilon, random, draws)
    errors = np.array([data.distance(q)[row] for q, row in zip(qs, values, strict=True)]).ravel()
    rmse, point = float(np.sqrt((errors**2).mean())), float(np.quantile(errors, LEVEL))
    if low is None or high is None:
        return rmse, point, math.nan, math.nan
    low, high = np.minimum(low, high), np.maximum(low, high)
    held = [
        (a <= np.searchsorted(data.upto, q * data.n))
        & (np.searchsorted(data.upto, q * data.n) <= b)
        for q, a, b in zip(qs, low, high, strict=True)
    ]
    return rmse, point, float((data.upto[high] - data.below[low]).mean()), float(np.mean(held))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--quantiles", type=int, nargs="*", default=[1, 3, 9, 99])
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.1, 1.0])
    parser.add_argument("--spreads", nargs="*", default=list(SPREADS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    titles = ["spread", "n", "ε", "m", *options.ways]
    rows = []
    for spread in options.spreads:
        for n in options.rows:
            values = SPREADS[spread](np.random.default_rng(7), n)
            points = np.clip(values * ((1 << BITS) - 1), 0, (1 << BITS) - 1).astype(np.int64)
            data = Counts(points, 1 << BITS)
            for epsilon in options.epsilon:
                for m in options.quantiles:
                    cells = []
                    for way in options.ways:
                        draws = max(3, options.draws // (8 if m > 20 else 1))
                        rmse, point, wide, held = measure(way, data, m, epsilon, draws, m)
                        interval = "" if math.isnan(wide) else f" [{wide:.3g}, {held:.0%}]"
                        cells.append(f"{rmse:.3g} {point:.3g}{interval}")
                    rows.append([spread, f"{n:,}", f"{epsilon:g}", str(m), *cells])
    table = [titles, *rows]
    print(as_pipes(table, titles[:1]) if options.markdown else as_columns(table))


if __name__ == "__main__":
    main()
