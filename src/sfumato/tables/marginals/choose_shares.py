"""Choose which tables to measure, and with which share of the promise.

*Variance*  A table with the share s has noise of precision s (of ρ or μ²), or of s² (of ε).
*Objective* The sum of the variances of all cells that were asked for, each times the weight of its
            table. In s it is Σ_A c_A/τ_A(s): convex for ρ and μ², where the updates below fall to
            the optimum. For ε several starts are tried.
*Updates*   s ← s·√(gradient), scaled to the sum 1: no share becomes negative.
*Few*       Tables with a negligible share are not measured, if the rest determines all that was
            asked for.
*Fair*      With `fair`, weights of tables grow until none has a larger error than it would have if
            every table were measured by itself with an equal share.
*Exact*     Shares are whole millionths that sum to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .parts import Domain, Keys, closure, subsets

Doubles = NDArray[np.float64]

MILLION = 1_000_000
_NEGLIGIBLE = 2e-3  # of an equal share: below it a table tells nothing
_ROUNDS, _EVERY, _CLOSE = 20_000, 50, 1e-10
_FAIR_ROUNDS, _FAIR = 60, 1.0005
_MOST_TABLES = 3000  # candidates; beyond, only tables that were asked for


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The measured tables with their shares, and the errors that follow: the deviation of a cell of
    each requested table, in that of a table with the whole promise. `apart` is the deviation of
    tables that are measured by themselves with equal shares.
    """

    measured: Mapping[Keys, Fraction]
    deviations: Mapping[Keys, float]
    apart: float

    @property
    def ratios(self) -> dict[Keys, float]:
        """Return the error of each table, relative to that of separate answers."""
        return {keys: deviation / self.apart for keys, deviation in self.deviations.items()}

    def rms(self, domain: Domain) -> float:
        """Return the root mean square error over all requested cells."""
        cells = np.array([domain.cells(keys) for keys in self.deviations], dtype=np.float64)
        squares = np.array(list(self.deviations.values())) ** 2
        return float(np.sqrt((cells * squares).sum() / cells.sum()))


def choose_shares(
    domain: Domain,
    requested: Sequence[Keys],
    *,
    power: int = 1,
    fair: bool = False,
    weights: Mapping[Keys, float] | None = None,
) -> Shares:
    """Choose the measured tables and their shares for all tables that were asked for. `power` is 1
    for shares of ρ or μ², 2 for shares of ε.
    """
    chooser = _Chooser(domain, tuple(dict.fromkeys(requested)), power)
    importance = np.array(
        [1.0 if weights is None else weights.get(keys, 1.0) for keys in chooser.requested]
    )
    shares = chooser.solve(importance)
    for _ in range(_FAIR_ROUNDS if fair else 0):
        ratios = chooser.variances(shares) / chooser.apart
        if float(ratios.max()) <= _FAIR:
            break
        importance = importance * np.maximum(ratios, 1.0) ** 1.5
        shares = chooser.solve(importance, shares)
    return chooser.finish(shares)


class _Chooser:
    """The convex problem of one workload, as arrays."""

    def __init__(self, domain: Domain, requested: tuple[Keys, ...], power: int) -> None:
        from scipy.sparse import csr_matrix

        self.domain, self.requested, self.power = domain, requested, power
        self.parts = closure(requested)
        self.candidates = self.parts if len(self.parts) <= _MOST_TABLES else requested
        at = {part: i for i, part in enumerate(self.parts)}
        entries = [
            (at[part], j, 1 / domain.beyond(keys, part))
            for j, keys in enumerate(self.candidates)
            for part in subsets(keys)
        ]
        rows, columns, values = zip(*entries, strict=True)
        self.overlap = csr_matrix(
            (values, (rows, columns)), (len(self.parts), len(self.candidates))
        )
        spread = [
            (i, at[part], float(domain.part_variance(keys, part)))
            for i, keys in enumerate(requested)
            for part in subsets(keys)
        ]
        rows, columns, values = zip(*spread, strict=True)
        self.spread = csr_matrix((values, (rows, columns)), (len(requested), len(self.parts)))
        self.cells = np.array([domain.cells(keys) for keys in requested], dtype=np.float64)
        self.apart = float(len(requested)) ** power

    def solve(self, importance: Doubles, start: Doubles | None = None) -> Doubles:
        """Return the best shares found for weights of the requested tables."""
        goal = self.spread.T @ (importance * self.cells)
        starts = (
            [np.full(len(self.candidates), 1 / len(self.candidates))] if start is None else [start]
        )
        if self.power == 2:
            few = np.array([keys in self.requested for keys in self.candidates], dtype=np.float64)
            largest = np.array(
                [
                    not any(set(keys) < set(larger) for larger in self.requested)
                    for keys in self.candidates
                ]
            ).astype(np.float64)
            starts += [(each + 1e-6) / (each + 1e-6).sum() for each in (few, largest)]
        return min(
            (self._descend(goal, each) for each in starts), key=lambda s: self._value(goal, s)
        )

    def _value(self, goal: Doubles, shares: Doubles) -> float:
        return float((goal / (self.overlap @ shares**self.power)).sum())

    def _descend(self, goal: Doubles, shares: Doubles) -> Doubles:
        last, least = np.inf, 1e-300
        for step in range(_ROUNDS):
            sums = self.overlap @ shares**self.power
            gradient = self.overlap.T @ (goal / sums**2)
            if self.power == 2:
                gradient = gradient * shares
            shares = np.maximum(shares * np.sqrt(gradient), least)
            shares = shares / shares.sum()
            if step % _EVERY == 0:
                value = self._value(goal, shares)
                if last - value < _CLOSE * value:
                    break
                last = value
        return shares

    def variances(self, shares: Doubles) -> Doubles:
        """Return the variance of a cell of each requested table."""
        variances: Doubles = self.spread @ (1 / (self.overlap @ shares**self.power))
        return variances

    def finish(self, shares: Doubles) -> Shares:
        """Leave out negligible tables, and round to whole millionths."""
        least = _NEGLIGIBLE / len(self.candidates)
        used = {
            keys: share
            for keys, share in zip(self.candidates, shares.tolist(), strict=True)
            if share >= least
        }
        for keys in self.requested:
            if not any(set(keys) <= set(measured) for measured in used):
                used[keys] = least  # the only table that tells its largest part
        total = sum(used.values())
        millionths = {keys: max(1, int(MILLION * share / total)) for keys, share in used.items()}
        largest = max(millionths, key=lambda keys: millionths[keys])
        millionths[largest] += MILLION - sum(millionths.values())
        rounded = np.array([millionths.get(keys, 0) / MILLION for keys in self.candidates])
        deviations = np.sqrt(self.variances(rounded)).tolist()
        return Shares(
            {keys: Fraction(share, MILLION) for keys, share in millionths.items()},
            dict(zip(self.requested, deviations, strict=True)),
            self.apart**0.5,
        )
