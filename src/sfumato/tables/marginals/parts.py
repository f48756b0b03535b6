"""The residual parts of marginals: the algebra behind tables that agree.

*Marginal*  The table by the keys B: a cell for each combination of their values. Keys are given by
            their positions, a set of them as a sorted tuple of positions.
*Parts*     A table by B is the sum of one part for each A ⊆ B: the part is centred along every key
            of A, and spread evenly over the other keys of B. Parts of different A are orthogonal,
            and independent noise of equal variance stays so in every part.
*Precision* A table by B with noise of precision θ tells of the part A with precision θ/N(B∖A), N
            the number of cells. So tables together know the part A with τ_A = Σ_B θ_B/N(B∖A), and
            a cell of the table by T has the variance Σ_A Π_{i∈A}(1 − 1/n_i)/(τ_A·N(T∖A)²).
*Proof*     docs/proofs/marginals.md; after Xiao, He, Zhang & Kifer 2023 (residual bases)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import prod

Keys = tuple[int, ...]
"""The keys of a table, as sorted positions."""


@lru_cache(maxsize=4096)
def subsets(keys: Keys) -> tuple[Keys, ...]:
    """Return all subsets, the smaller ones first."""
    return tuple(part for size in range(len(keys) + 1) for part in combinations(keys, size))


def closure(tables: Iterable[Keys]) -> tuple[Keys, ...]:
    """Return all subsets of the keys of these tables, the smaller ones first."""
    every = {part for keys in tables for part in subsets(keys)}
    return tuple(sorted(every, key=lambda keys: (len(keys), keys)))


@dataclass(frozen=True, slots=True)
class Domain:
    """How many values each key has."""

    sizes: tuple[int, ...]

    def cells(self, keys: Iterable[int]) -> int:
        """Return the number of cells of the table by these keys."""
        return prod(self.sizes[key] for key in keys)

    def shape(self, keys: Keys) -> tuple[int, ...]:
        """Return the shape of the table by these keys."""
        return tuple(self.sizes[key] for key in keys)

    def beyond(self, keys: Keys, part: Keys) -> int:
        """Return N(keys ∖ part)."""
        return self.cells(key for key in keys if key not in part)

    def part_variance(self, keys: Keys, part: Keys) -> Fraction:
        """Return what a part with precision 1 adds to the variance of a cell."""
        centred = prod((1 - Fraction(1, self.sizes[key]) for key in part), start=Fraction(1))
        return centred / self.beyond(keys, part) ** 2


@dataclass(frozen=True, slots=True)
class CellNoise:
    """How the draws of measured tables enter each cell of a reconciled table: the measured table,
    the weight of its draws, and how many draws have that weight.
    """

    measured: Keys
    weight: Fraction
    count: int


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Least squares over measured tables: `precisions` are their weights. Estimates are unbiased
    for any weights, and best if these are inverse variances.
    """

    domain: Domain
    precisions: Mapping[Keys, Fraction]

    def precision_of(self, part: Keys) -> Fraction:
        """Return the precision τ with which the measured tables know a part."""
        return sum(
            (
                precision / self.domain.beyond(keys, part)
                for keys, precision in self.precisions.items()
                if set(part) <= set(keys)
            ),
            Fraction(0),
        )

    def covers(self, keys: Keys) -> bool:
        """Tell whether the measured tables determine the table by these keys."""
        return any(set(keys) <= set(measured) for measured in self.precisions)

    def noise_of(self, keys: Keys) -> tuple[CellNoise, ...]:
        """Return the draws in a cell of the table by these keys."""
        total = {part: self.precision_of(part) for part in subsets(keys)}
        return tuple(
            each
            for measured, precision in self.precisions.items()
            for each in self._draws(keys, measured, precision, total)
        )

    def _draws(
        self, keys: Keys, measured: Keys, precision: Fraction, total: Mapping[Keys, Fraction]
    ) -> Iterator[CellNoise]:
        """Yield the draws of one measured table."""
        domain = self.domain
        shares = {
            part: precision / (total[part] * domain.beyond(measured, part))
            for part in subsets(tuple(key for key in keys if key in measured))
        }
        return draws_in_cell(domain, keys, measured, shares)


def draws_in_cell(
    domain: Domain, keys: Keys, measured: Keys, shares: Mapping[Keys, Fraction]
) -> Iterator[CellNoise]:
    """Yield the draws of a measured table in a cell of the table by `keys`, if each part of the
    estimate has this share of the measured part. Cells of the measured table differ in the keys in
    which they agree with the cell.
    """
    sizes = domain.sizes
    common = tuple(key for key in keys if key in measured)
    free = domain.beyond(measured, common)
    factors = {part: share / domain.beyond(keys, part) for part, share in shares.items()}

    def centred(part: Keys, agreeing: Keys) -> Fraction:
        return prod(
            (Fraction(sizes[key] - 1 if key in agreeing else -1, sizes[key]) for key in part),
            start=Fraction(1),
        )

    for agreeing in subsets(common):
        weight = sum(
            (factor * centred(part, agreeing) for part, factor in factors.items()), Fraction(0)
        )
        count = free * prod(sizes[key] - 1 for key in common if key not in agreeing)
        if weight and count:
            yield CellNoise(measured, weight, count)


def positions(keys: Sequence[str], among: Sequence[str]) -> Keys:
    """Return the sorted positions of named keys."""
    return tuple(sorted(among.index(key) for key in keys))
