"""The law of the loss of a release about a random sample: Poisson sampling under add-remove,
samples of a fixed size under replace.

*Poisson*   Every unit enters independently with probability q. With the unit the output is (1 −
            q)·R + q·P', without it R, and (P', R) is dominated by the base's pair (P, Q) (mixtures
            of neighbours; the hockey-stick divergence is jointly convex). As ((1 − q)R + qP' −
            t'R)₊ = q·(P' − tR)₊ with t' = 1 − q + qt, the pair ((1 − q)Q + qP, Q) dominates removal
            and its reverse dominates addition (Zhu, Dong & Wang 2022). They are two laws:
            composition takes all steps in the one direction or all in the other, and the worse
            total counts.
*Fixed*     m of n units, γ = m/n. Both outputs are (1 − γ)·R + γ·(…), and for t' ≥ 1 their
            divergence is at most γ·H_t(P‖Q) (Balle, Barthe & Gaboardi 2018). The relation is
            symmetric, so the same holds with the roles exchanged: the law is that of ((1 − γ)Q +
            γP, Q) where the loss is positive, its mirror image where it is negative, and the rest
            at zero. One of the two directions alone would not dominate (Lebeda, Regehr, Kamath &
            Steinke 2025).
*Cells*     L' = ln(1 − q + q·e^L), so a cell of L' is a cell of L, with masses (1 − q)·Q + q·P and
            Q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .loss.loss_laws import EMPTY, FARTHEST, FUNCTION, UNIT, Atoms, Cells, Doubles, Law


@dataclass(frozen=True, slots=True, eq=False)
class PoissonLaw(Law):
    """The loss of removing a unit; `reverse` gives the loss of adding one."""

    base: Law
    rate: float
    atoms: Atoms = field(init=False)
    slack: float = field(init=False)

    def __post_init__(self) -> None:
        a, q = self.base.atoms, self.rate
        loss, p_mass, q_mass = self._outside(a.loss), (1 - q) * a.q + q * a.p, a.q
        if only_q := self.base.only_q:  # answers that the base gives only without the unit
            loss = np.append(math.log1p(-q), loss)
            p_mass = np.append((1 - q) * only_q, p_mass)
            q_mass = np.append(only_q, q_mass)
        object.__setattr__(self, "atoms", Atoms(loss, p_mass, q_mass))
        # the base's own slack, which the map shrinks, and that of `_inside`: an error η of e^l' − 1
        # moves l' by at most η/(1 − q), one of l by at most as much
        far = float(
            np.abs(
                np.concatenate((loss, self.rough(1e-300)[[0, -1]] if self.spread else EMPTY))
            ).max(initial=0.0)
        )
        object.__setattr__(
            self, "slack", self.base.slack + FUNCTION * (8.0 / (1.0 - q) + far - math.log(q))
        )

    @property
    def unseen(self) -> float:
        return self.base.unseen

    @property
    def error(self) -> float:
        return self.base.error + 8 * UNIT / (1.0 - self.rate)

    @property
    def spread(self) -> bool:
        return self.base.spread

    @property
    def only_p(self) -> float:
        return self.rate * self.base.only_p

    def rough(self, tail: float) -> Doubles:
        return self._outside(self.base.rough(tail))

    def cells(self, edges: Doubles) -> Cells:
        p, q = self.base.cells(self._inside(edges))
        return Cells((1 - self.rate) * q + self.rate * p, q)

    def _outside(self, loss: Doubles) -> Doubles:
        near = np.minimum(loss, FARTHEST)
        return np.log1p(self.rate * np.expm1(near)) + (loss - near)

    def _inside(self, edges: Doubles) -> Doubles:
        """Map an edge to a loss of the base; −∞ for an edge below all losses."""
        near = np.minimum(edges, FARTHEST)
        ratio = np.expm1(near) / self.rate
        return np.where(ratio > -1.0, np.log1p(np.maximum(ratio, -1.0 + UNIT)), -np.inf) + (
            edges - near
        )


@dataclass(frozen=True, slots=True, eq=False)
class FixedLaw(Law):
    """The loss of replacing a unit, for a release about a sample of a fixed size. The base is
    symmetric.
    """

    sampled: PoissonLaw

    symmetric = True

    @property
    def unseen(self) -> float:
        return self.sampled.unseen

    @property
    def error(self) -> float:
        """The error of the atom at zero, which is the largest: its mass is a difference."""
        above, below, _ = self._parts()
        return self.sampled.error * (2.0 + (above + below) / max(above - below, UNIT)) + 16 * UNIT

    @property
    def slack(self) -> float:
        return self.sampled.slack + self._zero

    @property
    def spread(self) -> bool:
        return self.sampled.spread

    @property
    def only_p(self) -> float:
        return self.sampled.only_p

    @property
    def only_q(self) -> float:
        return self.sampled.only_p

    @property
    def atoms(self) -> Atoms:
        a = self.sampled.atoms
        up = a.loss > self.sampled._outside(np.array([self._zero]))
        zero = self._at_zero()
        loss = np.concatenate((-a.loss[up][::-1], [0.0], a.loss[up]))
        return Atoms(
            loss,
            np.concatenate((a.q[up][::-1], [zero], a.p[up])),
            np.concatenate((a.p[up][::-1], [zero], a.q[up])),
        )

    def rough(self, tail: float) -> Doubles:
        edges = self.sampled.rough(tail)
        high = edges[edges > 0]
        return np.concatenate((-high[::-1], [0.0], high)) if high.size else EMPTY

    def cells(self, edges: Doubles) -> Cells:
        high, low = self._above(edges), self._above(-edges[::-1])
        return Cells(high.p + low.q[::-1], high.q + low.p[::-1])

    def _above(self, edges: Doubles) -> Cells:
        """Return the cells of the sampled law, restricted to certainly positive losses."""
        zero = self.sampled._outside(np.array([self._zero]))
        p, q = self.sampled.cells(np.concatenate((zero, np.maximum(edges, zero))))
        return Cells(p[1:], q[1:])

    @property
    def _zero(self) -> float:
        """The largest loss of the base that counts as zero."""
        return 4 * self.sampled.base.slack + 1e-300

    def _at_zero(self) -> float:
        """Return the mass at zero loss: (1 − γ)·TV(P, Q), and the base's mass at zero."""
        above, below, level = self._parts()
        return (1 - self.sampled.rate) * (above - below) + level

    def _parts(self) -> tuple[float, float, float]:
        """Return the base's masses where its loss is positive, under P and under Q, and its mass at
        zero loss.
        """
        base = self.sampled.base
        a, (p, q) = base.atoms, base.cells(np.array([-self._zero, self._zero]))
        up, level = a.loss > self._zero, np.abs(a.loss) <= self._zero
        return (
            float(p[2] + a.p[up].sum()) + base.only_p,
            float(q[2] + a.q[up].sum()),
            float(p[1] + a.p[level].sum()),
        )
