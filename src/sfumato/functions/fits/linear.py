"""Linear regression with a ridge: w = argmin (1/(2n))·Σ (y_i − w·φ_i)² + (λ/2)·‖w‖², φ = (1, x)
with x scaled to [0, 1]^d; the function is w·φ, clipped to the interval of y.

*Sensitivity*  ‖w‖ ≤ B/(2√λ), so a record pulls at w with at most G = R·(B + R·‖w‖), R² = 1 + d, |y|
               ≤ B; replacing it moves w by at most 2G/(n·λ), because the objective is λ-strongly
               convex (Chaudhuri, Monteleoni & Sarwate 2011). On the lattice that is at most ‖φ(p)‖
               times as much at each point.
*Without λ*    one record can turn the line around: there is no sensitivity, so there is no such fit
               here.
*Relation*     replace; of more records than declared only the first are used.
*Proof*        docs/proofs/bernstein.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import ArrayLike

from ...exact.balls import sqrt_up
from ...exact.numbers import positive
from ...records import record
from ...sensitivity.kinds import Global
from ..lattice import Lattice
from ..polynomial import Floats
from .fit_records import (
    UNIT,
    Ends,
    box_of,
    check_dimensions,
    check_ends,
    check_record_count,
    check_replace,
    check_table,
    clip,
    require_records,
    rows,
)

TOLERANCE = Fraction(1, 2**33)
"""The largest gradient at which the search for w ends."""


@record(kw_only=True, repr=True)
class LinearRegression:
    """Data: rows (x_1, …, x_d, y), clipped to `inputs=` and `values=`."""

    ridge: Fraction = field(default=Fraction(1, 10), converter=positive)
    inputs: tuple[Ends, ...] = field(default=(UNIT,), converter=box_of)
    values: Ends = field(default=(Fraction(-1), Fraction(1)), converter=check_ends)
    records: int | None = field(default=None, converter=check_record_count)

    @property
    def box(self) -> tuple[Ends, ...]:
        return self.inputs

    def accepts(self, data: object) -> None:
        """Refuse data that are no table for this fit, by type and public shape."""
        check_table(data, len(self.inputs) + 1)

    def __call__(self, data: object) -> Callable[[ArrayLike], Floats]:
        records = rows(data, len(self.inputs) + 1)[: self.records]
        phi, y = features(records[:, :-1], self.inputs), clip(records[:, -1], self.values)
        n = self.records or max(1, len(records))
        w = _weights(phi, y, n, float(self.ridge))
        return lambda points: clip(
            features(
                np.asarray(points, dtype=np.float64).reshape(-1, len(self.inputs)), self.inputs
            )
            @ w,
            self.values,
        )

    def sensitivity(self, lattice: Lattice, relation: str | None = "replace") -> Global:
        """Bound how far a neighbour moves the values on the lattice."""
        check_replace(relation, "LinearRegression")
        n = require_records(self.records, "LinearRegression")
        most = max(abs(self.values[0]), abs(self.values[1]))
        long = sqrt_up(Fraction(1 + len(self.inputs)))
        weight = most / 2 * sqrt_up(1 / self.ridge)
        pull = long * (most + long * weight)
        # of the search, and of the sums
        error = (TOLERANCE * max(Fraction(1), most) + Fraction(n, 2**52) * pull) / self.ridge
        widest = self.values[1] - self.values[0]
        return on_lattice(
            lattice,
            self.inputs,
            2 * pull / (n * self.ridge) + 2 * error,
            widest,
            "2G/(n·λ) for the weights",
        )


def _weights(phi: Floats, y: Floats, n: int, ridge: float) -> Floats:
    """Minimise the objective, to a gradient below the tolerance. For collinear records a ridge may
    be too small for doubles: then the weights are NaN, and `clip` returns the lower end of the
    values, so that no dataset leaves their interval.
    """
    matrix = phi.T @ phi / n + ridge * np.eye(phi.shape[1])
    target = phi.T @ y / n
    bound = float(TOLERANCE) * max(1.0, float(np.abs(y).max(initial=0.0)))
    try:
        w = np.linalg.solve(matrix, target)
        for _ in range(20):
            rest = target - matrix @ w
            if np.linalg.norm(rest) <= bound:
                break
            w = w + np.linalg.solve(matrix, rest)
    except np.linalg.LinAlgError:
        return np.full(phi.shape[1], np.nan)
    return np.asarray(w, dtype=np.float64)


def features(x: Floats, box: tuple[Ends, ...]) -> Floats:
    """Return (1, x) with x scaled to [0, 1]^d."""
    columns = [
        (clip(column, ends) - float(ends[0])) / float(ends[1] - ends[0])
        for column, ends in zip(x.T, box, strict=True)
    ]
    return np.stack([np.ones(len(x)), *columns], axis=1)


def on_lattice(
    lattice: Lattice,
    box: tuple[Ends, ...],
    move: Fraction,
    widest: Fraction,
    formula: str,
    rounding: Fraction = Fraction(0),
) -> Global:
    """Bound the move of w·φ on the lattice from the move of w: ‖φ‖² = 1 + Σ x_j² at each point,
    summed exactly; plus the rounding of two values at each point; and never more than the range of
    the values at each.
    """
    check_dimensions(lattice, box)
    shares = [Fraction(i, lattice.degree) for i in range(lattice.degree + 1)]
    squares = [
        [_scaled(low + (high - low) * share, ends) ** 2 for share in shares]
        for (low, high), ends in zip(lattice.bounds, box, strict=True)
    ]
    longest = 1 + sum((max(column) for column in squares), Fraction(0))
    total = lattice.size * (
        1
        + sum((sum(column, Fraction(0)) / (lattice.degree + 1) for column in squares), Fraction(0))
    )
    lengths = np.ones(1)
    for column in squares:
        lengths = (lengths[:, None] + np.array([float(c) for c in column])[None, :]).reshape(-1)
    l1 = Fraction(float(np.sqrt(lengths).sum())) * (1 + Fraction(1, 10**9))
    root = sqrt_up(Fraction(lattice.size))
    return Global(
        l1=min(move * l1 + lattice.size * rounding, lattice.size * widest),
        l2=min(move * sqrt_up(total) + root * rounding, root * widest),
        sup=min(move * sqrt_up(longest) + rounding, widest),
        relation="replace",
        formula=formula,
    )


def _scaled(value: Fraction, ends: Ends) -> Fraction:
    return min(Fraction(1), max(Fraction(0), (value - ends[0]) / (ends[1] - ends[0])))
