"""A law of the loss on a lattice, twice: one law that dominates it and one that it dominates.

*Nodes*     o + h·j for whole j, where o is the law's own offset; cells lie between neighbouring
            nodes, which need not be neighbours on the lattice.
*Upper*     A cell with masses P and Q between nodes g < g' is split to its ends so that both masses
            are kept: (P − e^g·Q)/(1 − e^(g−g')) of P goes up. The curve then runs along the chords
            of the true one (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). What lies below
            all nodes goes up to the first, what lies above goes to infinity.
*Lower*     Outcomes are joined, which is processing: the upper half of the cell below a node with
            the lower half of the cell above it. If together P ≥ e^g·Q, the joint outcome has a loss
            of at least g, and counts as g. The halves are first traded across the middles of cells
            so that excess and deficit nearly cancel at every node; where a deficit is left, a share
            of what came from below goes to the node below instead.
*Gain*      Joining takes h²/12 off the variance of the loss, splitting adds h²/6: both are of
            second order in h.
*Errors*    Masses are true to a relative `error`; shares are moved to the safe side by what their
            own errors may be.
*Proof*     docs/proofs/certified-composition.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .loss_laws import UNIT, Atoms, Doubles, Law, sum_by_bin

Integers = NDArray[np.int64]

_ROUNDS = 4
FAINTEST = 1e-290
"""Masses below this count as infinite losses in an upper bound and as zero in a lower one: weights
on them could overflow a double.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes of a law: offset, spacing, ascending numbers of nodes, and the atoms that lie on
    nodes.
    """

    offset: float
    h: float
    numbers: Integers
    on: Integers
    """The node of each atom, as an index into `numbers`; −1 for an atom between nodes."""

    @property
    def places(self) -> Doubles:
        return np.asarray(self.offset + self.h * self.numbers, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """Masses at nodes and at infinity. `error` bounds their relative error, `slack` the unintended
    distance of a loss from its node.
    """

    numbers: Integers
    mass: Doubles
    infinite: float
    error: float
    slack: float


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """A law on nodes: P and Q in the lower and in the upper half of every cell, the masses outside
    all nodes, and e^g at the nodes.
    """

    law: Law
    nodes: Nodes
    pl: Doubles
    ql: Doubles
    pu: Doubles
    qu: Doubles
    below: float
    above: float
    growth: Doubles
    doubt: Doubles
    """The relative error of e^g·Q against P, at each node."""


def upper(half: Halves) -> Measure:
    """Return a lattice law that dominates the law."""
    law, nodes = half.law, half.nodes
    p, q = half.pl + half.pu, half.ql + half.qu
    mass = _at_nodes(law, nodes)
    if p.size:
        width = nodes.h * np.diff(nodes.numbers)
        floor = half.growth[:-1] * q
        up = np.clip(
            (p - floor + half.doubt[:-1] * (p + floor)) / -np.expm1(-width) * (1 + 16 * UNIT),
            0.0,
            p,
        )
        mass[1:] += up
        mass[:-1] += p - up
    mass[0] += half.below
    faint = mass < FAINTEST
    infinite = (
        law.only_p * (1 + 4 * UNIT + law.error)
        + (half.above + float(mass[faint].sum())) * (1 + law.error)
        + law.unseen
    )
    return Measure(
        nodes.numbers,
        np.where(faint, 0.0, mass),
        infinite,
        law.error + 16 * UNIT,
        _slack(law, nodes),
    )


def lower(half: Halves) -> Measure:
    """Return a lattice law that the law dominates."""
    law, nodes = half.law, half.nodes
    mass = _at_nodes(law, nodes)
    if half.pl.size:
        here, there = half.growth[:-1], half.growth[1:]
        doubt_here, doubt_there = half.doubt[:-1], half.doubt[1:]
        excess_l = _least(half.pl, here * half.ql, doubt_here)
        excess_u = _least(half.pu, here * half.qu, doubt_here)
        deficit_l = _most(half.pl, there * half.ql, doubt_there)
        deficit_u = _most(half.pu, there * half.qu, doubt_there)
        up, down = _trades(excess_l, excess_u, deficit_l, deficit_u)
        from_above = half.pl * (1 - up) + half.pu * down
        from_below = half.pu * (1 - down) + half.pl * up
        # at the node above each cell
        excess = np.append(excess_l * (1 - up) + excess_u * down, 0.0)[1:]
        deficit = deficit_u * (1 - down) + deficit_l * up
        staying = np.ones_like(deficit)
        np.divide(
            excess * (1 - 64 * UNIT), deficit, out=staying, where=deficit > excess * (1 - 64 * UNIT)
        )
        mass[:-1] += from_above + (1 - staying) * from_below
        mass[1:] += staying * from_below
    mass[-1] += half.above
    mass[mass < FAINTEST] = 0.0
    return Measure(
        nodes.numbers,
        mass,
        law.only_p * (1 - 4 * UNIT - law.error),
        law.error + 64 * UNIT,
        _slack(law, nodes),
    )


def cut_tail(measure: Measure, cut: float) -> Measure:
    """Return a dominated law: the largest losses, together rarer than `cut`, count as the largest
    loss that is left. Rare jumps would otherwise reach farther than the sum.
    """
    last = max(0, int(np.searchsorted(-np.cumsum(measure.mass[::-1])[::-1], -cut)) - 1)
    mass = np.append(measure.mass[:last], measure.mass[last:].sum())
    return Measure(
        measure.numbers[: last + 1],
        mass,
        measure.infinite,
        measure.error + 16 * UNIT,
        measure.slack,
    )


@np.errstate(over="ignore")  # an empty half may be sent in any proportion
def _trades(
    excess_l: Doubles, excess_u: Doubles, deficit_l: Doubles, deficit_u: Doubles
) -> tuple[Doubles, Doubles]:
    """Choose the shares of a cell's lower half to send up and of its upper half to send down, so
    that excess and deficit nearly cancel.

    A lower half that is sent up takes a quarter of the cell's width off the excess below it and
    adds three quarters to the deficit above. Each round spreads what is left over in these
    proportions, which multiplies its slow changes along the lattice by almost zero, its fastest by
    three quarters.
    """
    tiny = np.finfo(np.float64).tiny
    span_l, span_u = excess_l + deficit_l + tiny, excess_u + deficit_u + tiny
    share = np.zeros_like(excess_l)
    for _ in range(_ROUNDS):
        up, down = np.maximum(share, 0.0), np.maximum(-share, 0.0)
        left = np.append(excess_l * (1 - up) + excess_u * down, 0.0)
        left[1:] -= deficit_u * (1 - down) + deficit_l * up
        here, there = left[:-1], left[1:]
        share += np.where(
            here + there > 0, (here + 3 * there) / (4 * span_l), (3 * here + there) / (4 * span_u)
        )
        np.clip(share, -0.9, 0.9, out=share)
    up, down = np.maximum(share, 0.0), np.maximum(-share, 0.0)
    lacking = (
        deficit_u * (1 - down)
        + deficit_l * up
        - np.append(excess_l * (1 - up) + excess_u * down, 0.0)[1:]
    )
    # take back what was sent up too much, and bring mass down from above
    back = np.clip(lacking / (deficit_l + tiny), 0.0, up)
    up -= back
    lacking = np.maximum(0.0, lacking - back * deficit_l)
    down[1:] = np.where(
        up[1:] > 0, down[1:], np.minimum(1.0, down[1:] + lacking[:-1] / (excess_u[1:] + tiny))
    )
    return up, down


def _least(p: Doubles, floor: Doubles, doubt: Doubles) -> Doubles:
    """Return a lower bound on P − e^g·Q."""
    return np.maximum(0.0, p - floor - doubt * (p + floor))


def _most(p: Doubles, floor: Doubles, doubt: Doubles) -> Doubles:
    """Return an upper bound on e^g·Q − P."""
    return np.maximum(0.0, floor - p + doubt * (p + floor))


def halves(law: Law, nodes: Nodes) -> Halves:
    """Compute the masses of a law in each half of each cell."""
    places = nodes.places
    edges = np.empty(2 * places.size - 1)
    edges[::2] = places
    edges[1::2] = (places[:-1] + places[1:]) / 2
    p, q = law.cells(edges)
    loose = _between(law.atoms, nodes)
    if loose.loss.size:
        where = np.searchsorted(edges, loose.loss, side="right")
        p = p + sum_by_bin(where, loose.p, p.size)
        q = q + sum_by_bin(where, loose.q, q.size)
    doubt = law.error + _slack(law, nodes) + (np.abs(places) + 24) * UNIT * 2
    return Halves(
        law,
        nodes,
        p[1:-1:2],
        q[1:-1:2],
        p[2:-1:2],
        q[2:-1:2],
        float(p[0]),
        float(p[-1]),
        np.exp(places),
        doubt,
    )


def _between(atoms: Atoms, nodes: Nodes) -> Atoms:
    loose = nodes.on < 0
    return Atoms(atoms.loss[loose], atoms.p[loose], atoms.q[loose])


def _at_nodes(law: Law, nodes: Nodes) -> Doubles:
    on = nodes.on >= 0
    return sum_by_bin(nodes.on[on], law.atoms.p[on], nodes.numbers.size)


def _slack(law: Law, nodes: Nodes) -> float:
    """Add up the law's slack, the rounding of the nodes, and the distance of atoms from their
    nodes.
    """
    places, on = nodes.places, nodes.on >= 0
    off = np.abs(law.atoms.loss[on] - places[nodes.on[on]]).max(initial=0.0)
    return float(law.slack + off + 4 * UNIT * np.abs(places).max())
