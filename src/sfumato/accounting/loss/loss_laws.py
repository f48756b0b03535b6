"""Laws of the privacy loss in doubles, with stated error bounds: the input of the lattice and the
Fourier transform.

*Loss*      L = ln(dP/dQ), drawn under P. A law answers one question: how much P and how much Q
            there is where the loss lies between two numbers. Everything else follows from that,
            since outcomes of equal loss may be joined.
*Parts*     Atoms, which hold a point of loss each; a spread part, asked about by edges; what only P
            has (loss +∞) and what only Q has (loss −∞).
*Errors*    `error` bounds the relative error of every mass, `slack` the distance of a loss from
            where it is said to be. Both are counted k times in k-fold composition
            (docs/proofs/certified-composition.md).
*Assumed*   exp, expm1, log and log1p of doubles err by at most 2⁻⁵⁰ of the result: eight units in
            the last place, where one is usual. Tested against Arb.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

UNIT = 2.0**-53
"""Half a unit in the last place of 1: the relative error of one correctly rounded operation."""
FUNCTION = 8 * UNIT
"""The assumed relative error of elementary functions."""
FARTHEST = 600.0
"""Losses beyond this count as infinite in an upper bound, and as this in a lower one: their
exponentials would overflow a double.
"""
NOTHING = 2.0**-1000
"""Stands for mass that underflows a double and is left out of a law."""
BOTH = (0, 1)
"""The directions of a pair: P against Q, and Q against P."""


class Cells(NamedTuple):
    """The mass of P and of Q below the first edge, between edges, and above the last."""

    p: Doubles
    q: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Points of loss, ascending, with their mass under P and under Q."""

    loss: Doubles
    p: Doubles
    q: Doubles


EMPTY = np.zeros(0)
NO_ATOMS = Atoms(EMPTY, EMPTY, EMPTY)


def sum_by_bin(where: NDArray[np.int64], mass: Doubles, count: int) -> Doubles:
    """Add up masses by bin."""
    return np.asarray(np.bincount(where, mass, count), dtype=np.float64)


class Law(ABC):
    """The loss of one dominating pair in one direction."""

    __slots__ = ()

    @property
    def atoms(self) -> Atoms:
        return NO_ATOMS

    @property
    def spread(self) -> bool:
        """Whether the law has a part other than atoms."""
        return True

    @property
    def symmetric(self) -> bool:
        """Whether exchanging P and Q gives the same law."""
        return False

    @property
    def only_p(self) -> float:
        """The mass of P where Q has none."""
        return 0.0

    @property
    def only_q(self) -> float:
        """The mass of Q where P has none."""
        return 0.0

    @property
    def unseen(self) -> float:
        """A bound on the mass of P, and of Q, that the law leaves out. It counts as infinite loss
        in an upper bound and as zero in a lower one.
        """
        return NOTHING

    @property
    @abstractmethod
    def error(self) -> float:
        """A bound on the relative error of every mass."""

    @property
    @abstractmethod
    def slack(self) -> float:
        """A bound on the error of every loss."""

    @abstractmethod
    def rough(self, tail: float) -> Doubles:
        """Return a few hundred ascending edges that cover the spread part but for a P-mass and a
        Q-mass of `tail`; none if it is empty.
        """

    @abstractmethod
    def cells(self, edges: Doubles) -> Cells:
        """Return the masses of the spread part between the edges."""


@dataclass(frozen=True, slots=True, eq=False)
class PointLaw(Law):
    """Finitely many losses. A few count as atoms, on which the lattice places nodes; many count as
    spread.
    """

    points: Atoms
    error: float
    slack: float
    only_p: float = 0.0
    only_q: float = 0.0
    symmetric: bool = False
    unseen: float = 0.0
    most: int = 65
    """The most losses that count as atoms; with more, all of them count as spread."""

    @property
    def atoms(self) -> Atoms:
        return self.points if not self.spread else NO_ATOMS

    @property
    def spread(self) -> bool:
        return self.points.loss.size > self.most

    def rough(self, tail: float) -> Doubles:
        if not self.spread:
            return EMPTY
        enough = np.flatnonzero(
            (self.points.p > tail / self.points.p.size)
            | (self.points.q > tail / self.points.p.size)
        )
        low, high = self.points.loss[enough[0]], self.points.loss[enough[-1]]
        margin = 1e-9 * (1.0 + high - low)
        return np.linspace(low - margin, high + margin, 512)

    def cells(self, edges: Doubles) -> Cells:
        if not self.spread:
            return Cells(np.zeros(edges.size + 1), np.zeros(edges.size + 1))
        starts = np.append(0, np.searchsorted(self.points.loss, edges, side="left"))
        full = np.diff(starts, append=self.points.loss.size) > 0
        p, q = np.zeros(starts.size), np.zeros(starts.size)
        p[full], q[full] = (
            np.add.reduceat(self.points.p, starts[full]),
            np.add.reduceat(self.points.q, starts[full]),
        )
        return Cells(p, q)


@dataclass(frozen=True, slots=True, eq=False)
class Reversed(Law):
    """The law of a pair with P and Q exchanged: the other direction of add-remove."""

    base: Law

    @property
    def atoms(self) -> Atoms:
        a = self.base.atoms
        return Atoms(-a.loss[::-1], a.q[::-1], a.p[::-1])

    @property
    def spread(self) -> bool:
        return self.base.spread

    @property
    def only_p(self) -> float:
        return self.base.only_q

    @property
    def only_q(self) -> float:
        return self.base.only_p

    @property
    def unseen(self) -> float:
        return self.base.unseen

    @property
    def error(self) -> float:
        return self.base.error

    @property
    def slack(self) -> float:
        return self.base.slack

    def rough(self, tail: float) -> Doubles:
        return -self.base.rough(tail)[::-1]

    def cells(self, edges: Doubles) -> Cells:
        p, q = self.base.cells(-edges[::-1])
        return Cells(q[::-1], p[::-1])


def reverse(law: Law) -> Law:
    """Return the law of the other direction."""
    return law if law.symmetric else law.base if isinstance(law, Reversed) else Reversed(law)
