"""Combine estimates from several releases of the same tables into one, by least squares.

*Source*    A release knows each part A of the tables (`parts`) with a precision τ_A of its own: the
            sum over the tables that it measured. Its estimate of the part holds all that its noisy
            numbers tell of it.
*Estimate*  The average of the parts of all sources, by τ_A. That is the best linear unbiased
            estimate from all noisy numbers together, as if they had been released at once.
*Noise*     A draw of a source enters with the share of that source in the part. So the law of every
            combined cell is known exactly.
*Proof*     docs/proofs/marginals.md#stored
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...mechanisms.shared.additive import Additive
from .parts import Domain, Keys, Reconciliation, closure, draws_in_cell, subsets
from .reconcile import Doubles, add_parts
from .reconciled_noise import MeasuredDraws

_PRECISION = 24  # bits of the weight of a source


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTable:
    """The noise of a table that a release measured: the draws in each cell with the value of one
    step, and the table's weight among those of its release.
    """

    keys: Keys
    draws: tuple[tuple[Additive, Fraction], ...]
    precision: Fraction = Fraction(1)

    @property
    def variance(self) -> Fraction:
        """The variance of a cell."""
        return sum(
            (Fraction(mechanism.law.variance) * step**2 for mechanism, step in self.draws),
            Fraction(0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class NoisyRelease:
    """A release: its estimated tables, an axis for each key, and what it measured for them."""

    tables: Mapping[Keys, Doubles]
    measured: tuple[MeasuredTable, ...]

    def precisions(self, domain: Domain, scale: Fraction) -> dict[Keys, Fraction]:
        """Return the precision of every part that the estimated tables show."""
        by = self._reconciliation(domain)
        return {
            part: scale * by.precision_of(part) for part in closure(self.tables) if by.covers(part)
        }

    def part(self, domain: Domain, part: Keys) -> Doubles:
        """Return a part of the estimate, from the smallest table that has it."""
        keys = min((keys for keys in self.tables if set(part) <= set(keys)), key=domain.cells)
        dropped = tuple(axis for axis, key in enumerate(keys) if key not in part)
        values: Doubles = self.tables[keys].sum(axis=dropped)
        for axis in range(len(part)):
            values = values - values.mean(axis=axis, keepdims=True)
        return values

    def variance(self, domain: Domain, keys: Keys) -> float:
        """Return the variance of a cell of an estimated table."""
        by = self._reconciliation(domain)
        variances = {measured.keys: measured.variance for measured in self.measured}
        noise = by.noise_of(keys)
        return float(sum(each.weight**2 * each.count * variances[each.measured] for each in noise))

    def _reconciliation(self, domain: Domain) -> Reconciliation:
        return Reconciliation(domain, {each.keys: each.precision for each in self.measured})


@dataclass(frozen=True, slots=True, eq=False)
class CombinedTables:
    """The combined estimate of every table, and the draws in a cell of each requested one, with
    weights in units of values.
    """

    tables: Mapping[Keys, Doubles]
    draws: Mapping[Keys, tuple[MeasuredDraws, ...]]


def combine_sources(
    domain: Domain, sources: Sequence[NoisyRelease], requested: Sequence[Keys]
) -> CombinedTables:
    """Estimate the requested tables from all sources. Some source has to know each of their
    parts.
    """
    scales = _scales(sources)
    by_source = [
        source.precisions(domain, scale) for source, scale in zip(sources, scales, strict=True)
    ]
    parts = closure(requested)
    total = {
        part: sum((each[part] for each in by_source if part in each), Fraction(0)) for part in parts
    }
    estimate: dict[Keys, Doubles] = {}
    for part in parts:
        estimate[part] = sum(
            (
                float(precisions[part] / total[part]) * source.part(domain, part)
                for source, precisions in zip(sources, by_source, strict=True)
                if part in precisions
            ),
            start=np.zeros(domain.shape(part)),
        )
    draws = {
        keys: tuple(
            _draws(domain, keys, measured, shares, step, mechanism)
            for source, scale, precisions in zip(sources, scales, by_source, strict=True)
            for measured in source.measured
            if (shares := _shares(domain, keys, measured, scale, precisions, total))
            for mechanism, step in measured.draws
        )
        for keys in requested
    }
    return CombinedTables({keys: add_parts(estimate, domain, keys) for keys in parts}, draws)


def _scales(sources: Sequence[NoisyRelease]) -> list[Fraction]:
    """Weigh sources by the inverse of their variances, relative to the most precise one."""
    variances = [
        min(each.variance * each.precision for each in source.measured) for source in sources
    ]
    least = min(variances)
    return [
        Fraction(max(1, round((1 << _PRECISION) * least / variance)), 1 << _PRECISION)
        for variance in variances
    ]


def _shares(
    domain: Domain,
    keys: Keys,
    measured: MeasuredTable,
    scale: Fraction,
    precisions: Mapping[Keys, Fraction],
    total: Mapping[Keys, Fraction],
) -> dict[Keys, Fraction]:
    """Return how much of each part of the combined table comes from a measured one."""
    return {
        part: scale * measured.precision / (total[part] * domain.beyond(measured.keys, part))
        for part in subsets(tuple(key for key in keys if key in measured.keys))
        if part in precisions
    }


def _draws(
    domain: Domain,
    keys: Keys,
    measured: MeasuredTable,
    shares: Mapping[Keys, Fraction],
    step: Fraction,
    mechanism: Additive,
) -> MeasuredDraws:
    return MeasuredDraws(
        mechanism,
        tuple(
            (each.weight * step, each.count)
            for each in draws_in_cell(domain, keys, measured.keys, shares)
        ),
    )
