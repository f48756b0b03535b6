"""Choose the lattice nodes of a law. A bad choice makes bounds wide, never wrong.

*Atoms*     They do not spread out, so one that falls between nodes costs about k·h/2. Each law has
            its own offset, and h is chosen, within a factor of three, so that the gaps between
            atoms are as nearly multiples of it as can be; atoms that are then near enough count as
            on their nodes.
*Spread*    Dense where the tilted law is, and cells that double in width as what lies beyond them
            becomes rare. A law that is used less often than another gets wider cells from the
            start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .loss_lattice import Nodes
from .loss_laws import FARTHEST, Doubles, Law
from .loss_sketch import LossSketch

_CELLS = 1 << 15
_RARE = 2e-2
_ATOMS = 65
WIDEST = 100.0
"""The largest spacing of a lattice: e^(2h) is still a double."""


def spacing(
    laws: Sequence[tuple[Law, int]], h: float, *, spread: bool, smallest: float, aim: float
) -> float:
    """Choose a spacing not above h that atoms fit; if no law has a spread part, the largest that
    they fit exactly.
    """
    gaps = [
        (at[-1] - at[:-1], law.atoms.p[:-1], count)
        for law, count in laws
        if 1 < (at := law.atoms.loss).size <= _ATOMS
    ]
    wide = [gap for gap in gaps if gap[0].min() > smallest]
    if not wide:
        return h
    base = float(max(wide, key=lambda gap: gap[2] * float(gap[1].sum()))[0].min())
    if not spread and all(law.atoms.loss.size <= _ATOMS for law, _ in laws):
        exact = (
            base / m
            for m in range(1, 65)
            if smallest < base / m <= WIDEST
            and _misfit(gaps, np.array([base / m]))[0] < 1e-13 * aim
        )
        if (fitting := next(exact, None)) is not None:
            return fitting
    first = max(1, math.ceil(base / h))
    numbers = np.arange(first, min(3 * first + 16, first + 20_000))
    return float(
        base / numbers[int(np.argmin(_misfit(gaps, base / numbers) + 1e-7 * aim * numbers / first))]
    )


def _misfit(gaps: Sequence[tuple[Doubles, Doubles, int]], spacings: Doubles) -> Doubles:
    """Add up the distances of atoms from multiples of each spacing, weighted by mass and count."""
    total = np.zeros(spacings.size)
    for gap, p, count in gaps:
        steps = gap[None, :] / spacings[:, None]
        total += count * (np.abs(steps - np.rint(steps)) @ p) * spacings
    return total


def nodes(
    law: Law, rough: LossSketch, *, h: float, tilt: float, budget: float, aim: float
) -> Nodes:
    """Choose the nodes of a law so that they change ε by about `budget`."""
    atoms = law.atoms
    near_ends = np.abs(atoms.loss) <= FARTHEST
    offset = float(atoms.loss[near_ends][-1]) if near_ends.any() else 0.0
    nearest = np.rint((np.clip(atoms.loss, -FARTHEST, FARTHEST) - offset) / h)
    fits = near_ends & (np.abs(atoms.loss - offset - h * nearest) * rough.count <= 1e-6 * aim)
    loose = np.floor((np.clip(atoms.loss[~fits], -FARTHEST, FARTHEST) - offset) / h)
    numbers = np.unique(
        np.concatenate(
            (nearest[fits], _graded(rough, h, tilt, budget, offset), loose, loose + 1)
        ).astype(np.int64)
    )
    numbers = (
        numbers
        if numbers.size > 1
        else np.array([0, 1])
        if not numbers.size
        else np.append(numbers, numbers[-1] + 1)
    )
    on = np.where(fits, np.searchsorted(numbers, np.where(fits, nearest, 0).astype(np.int64)), -1)
    return Nodes(offset, h, numbers, on.astype(np.int64))


def breaks(rough: LossSketch, tilt: float) -> float:
    """Return the density at which the spread part of a law breaks off, times the number of uses."""
    if not rough.cells:
        return 0.0
    density = rough.tilted(tilt)[: rough.cells] / np.diff(rough.edges)
    return rough.count * float(max(density[0], density[-1]))


def _graded(rough: LossSketch, h: float, tilt: float, budget: float, offset: float) -> Doubles:
    """Choose the numbers of nodes for the spread part: multiples of a power of two, which grows as
    the mass there and beyond becomes rarer.
    """
    if not rough.cells:
        return np.zeros(0)
    p = np.maximum(rough.tilted(tilt)[: rough.cells], 1e-300)
    beyond = np.minimum(np.cumsum(p), np.cumsum(p[::-1])[::-1])
    core = np.flatnonzero(beyond >= _RARE * p.sum())
    # the root, so that the costs of farther and farther cells have a finite sum
    beyond = np.sqrt(beyond * p.sum())
    beyond[core] = p.sum()
    density = p / np.diff(rough.edges)
    dense = np.sqrt(budget / max(float(p.sum()) * rough.count * (tilt + 1) / 4, 1e-300))
    wide = np.sqrt(
        budget / np.maximum(rough.count * np.maximum(beyond * (tilt + 1) / 4, 4 * density), 1e-300)
    )
    away = np.maximum(
        rough.edges[core[0]] - rough.edges[1:], rough.edges[:-1] - rough.edges[core[-1] + 1]
    )
    wide = np.clip(
        np.minimum(wide, np.maximum(dense, away / 64)),
        h,
        max(h, float(rough.edges[-1] - rough.edges[0]) / 64),
    )
    wide *= max(1.0, float((np.diff(rough.edges) / wide).sum()) / _CELLS)
    power = np.floor(np.log2(np.maximum(1.0, np.minimum(wide / h, 2.0**40)))).astype(np.int64)
    starts = np.flatnonzero(np.diff(power, prepend=-1))
    ends = np.append(starts[1:], rough.cells)
    runs = [
        np.arange(
            math.floor((rough.edges[a] - offset) / h) >> e,
            (math.ceil((rough.edges[b] - offset) / h) >> e) + 2,
        )
        << e
        for a, b, e in zip(starts.tolist(), ends.tolist(), power[starts].tolist(), strict=True)
    ]
    return np.concatenate(runs).astype(np.float64)
