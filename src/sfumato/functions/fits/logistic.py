"""Logistic regression with a ridge: w = argmin (1/n)·Σ ln(1 + e^(−z_i·w·φ_i)) + (λ/2)·‖w‖², z = ±1,
φ = (1, x) with x scaled to [0, 1]^d; the function is the probability 1/(1 + e^(−w·φ)).

*Sensitivity*  a record pulls at w with at most ‖φ‖ ≤ R, R² = 1 + d, so replacing it moves w by at
               most 2R/(n·λ) (Chaudhuri, Monteleoni & Sarwate 2011), and the probability at p by at
               most a quarter of ‖φ(p)‖ times as much.
*Search*       Newton's method with steps halved until the objective falls; it ends when the
               gradient is below a public tolerance, so w is within tolerance/λ of the least point
               whatever the data.
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
    check_record_count,
    check_replace,
    check_table,
    require_records,
    rows,
)
from .linear import TOLERANCE, features, on_lattice

CHANCE = Fraction(1, 2**51)
"""The rounding error of a probability computed from w·φ: an exponential, a sum and a quotient, each
rounded, of a number up to 1.
"""


@record(kw_only=True, repr=True)
class LogisticRegression:
    """Data: rows (x_1, …, x_d, label), x clipped to `inputs=`; a label from ½ on is a yes."""

    ridge: Fraction = field(default=Fraction(1, 10), converter=positive)
    inputs: tuple[Ends, ...] = field(default=(UNIT,), converter=box_of)
    records: int | None = field(default=None, converter=check_record_count)

    @property
    def box(self) -> tuple[Ends, ...]:
        return self.inputs

    def accepts(self, data: object) -> None:
        """Refuse data that are no table for this fit, by type and public shape."""
        check_table(data, len(self.inputs) + 1)

    def __call__(self, data: object) -> Callable[[ArrayLike], Floats]:
        records = rows(data, len(self.inputs) + 1)[: self.records]
        sign = np.where(records[:, -1] >= 0.5, 1.0, -1.0)
        w = _weights(
            features(records[:, :-1], self.inputs) * sign[:, None],
            self.records or max(1, len(records)),
            float(self.ridge),
        )
        return lambda points: _chance(
            features(
                np.asarray(points, dtype=np.float64).reshape(-1, len(self.inputs)), self.inputs
            )
            @ w
        )

    def sensitivity(self, lattice: Lattice, relation: str | None = "replace") -> Global:
        """Bound how far a neighbour moves the values on the lattice."""
        check_replace(relation, "LogisticRegression")
        n = require_records(self.records, "LogisticRegression")
        long = sqrt_up(Fraction(1 + len(self.inputs)))
        # of the search, and of the sums
        error = (TOLERANCE + Fraction(n, 2**52) * long) / self.ridge
        move = (2 * long / (n * self.ridge) + 2 * error) / 4
        return on_lattice(
            lattice,
            self.inputs,
            move,
            Fraction(1),
            "a quarter of 2R/(n·λ) for the weights",
            2 * CHANCE,
        )


def _chance(z: Floats) -> Floats:
    """Return 1/(1 + e^(−z)) without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, small) / (1.0 + small)


def _weights(signed: Floats, n: int, ridge: float) -> Floats:
    """Minimise the objective, to a gradient below the tolerance."""
    w = np.zeros(signed.shape[1])
    margins = signed @ w
    value = _objective(margins, w, n, ridge)
    for _ in range(200):
        miss = _chance(-margins)
        gradient = ridge * w - signed.T @ miss / n
        if np.linalg.norm(gradient) <= float(TOLERANCE):
            return w
        curved = (signed * (miss * (1.0 - miss))[:, None]).T @ signed / n + ridge * np.eye(len(w))
        step, size = np.linalg.solve(curved, gradient), 1.0
        while True:
            trial = w - size * step
            margins = signed @ trial
            now = _objective(margins, trial, n, ridge)
            if now <= value - 0.25 * size * float(gradient @ step) + 1e-15 or size < 2.0**-40:
                break
            size /= 2.0
        w, value = trial, now
    smooth = ridge + float((signed * signed).sum()) / (4 * n)
    while np.linalg.norm(gradient := ridge * w - signed.T @ _chance(-(signed @ w)) / n) > float(
        TOLERANCE
    ):
        w = w - gradient / smooth  # slower, and surely downhill
    return w


def _objective(margins: Floats, w: Floats, n: int, ridge: float) -> float:
    return float(np.logaddexp(0.0, -margins).sum() / n + 0.5 * ridge * (w @ w))
