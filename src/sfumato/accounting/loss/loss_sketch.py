"""A law of the loss at a few hundred points, to plan with: nothing that is reported depends on its
accuracy.

*Cut*     Losses so large that all of them together happen less often than `cut` are left out: an
          upper bound will count them as infinite, a lower one as the largest that is left. Without
          this a rare jump would rule the moments of many small steps.
*Tilt*    Weights e^(λL), under which the sum's mean is where the answer is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .loss_laws import FARTHEST, NOTHING, Doubles, Law


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Cells of the spread part, ascending: their edges, mean losses and probabilities; then the
    atoms; and how often the law is used.
    """

    edges: Doubles
    loss: Doubles
    p: Doubles
    count: int

    @property
    def cells(self) -> int:
        return max(0, self.edges.size - 1)

    def moments(self, tilts: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """The logarithm of the moment generating function, its first and its second derivative,
        k-fold, at each tilt.
        """
        exponent = np.log(self.p) + tilts[:, None] * self.loss
        top = exponent.max(axis=1, keepdims=True)
        weight = np.exp(exponent - top)
        whole = weight.sum(axis=1)
        mean = weight @ self.loss / whole
        square = weight @ (self.loss * self.loss) / whole
        return (
            self.count * (top[:, 0] + np.log(whole)),
            self.count * mean,
            self.count * np.maximum(square - mean * mean, 0.0),
        )

    def tilted(self, tilt: float) -> Doubles:
        exponent = np.log(self.p) + tilt * self.loss
        weight = np.exp(exponent - exponent.max())
        found: Doubles = weight / weight.sum()
        return found


def sketch(law: Law, count: int, cut: float) -> Sketch:
    """A law, cut."""
    edges, atoms = law.rough(max(cut / 100, NOTHING)), law.atoms
    edges = np.unique(
        edges[np.abs(edges) <= FARTHEST]
    )  # far below zero a sampled loss no longer changes, to a double
    edges = edges if edges.size > 1 else edges[:0]
    p, q = law.cells(edges) if edges.size else (np.zeros(1), np.zeros(1))
    p, q = p[1:-1], q[1:-1]
    seen = np.flatnonzero(np.cumsum(p[::-1])[::-1] > cut)
    edges, p, q = (
        (edges[: seen[-1] + 2], p[: seen[-1] + 1], q[: seen[-1] + 1])
        if seen.size
        else (np.zeros(0), np.zeros(0), np.zeros(0))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(p / q)
    loss = np.where(
        np.isfinite(ratio), np.clip(ratio, edges[:-1], edges[1:]), (edges[1:] + edges[:-1]) / 2
    )
    there = atoms.p > 0
    if not seen.size and not there.any():  # all of it is too far out to be told from infinity
        return Sketch(np.zeros(0), np.zeros(1), np.ones(1), count)
    joined = np.concatenate((p, atoms.p[there]))
    return Sketch(
        edges,
        np.concatenate((loss, np.clip(atoms.loss[there], -FARTHEST, FARTHEST))),
        np.maximum(joined, 1e-320),
        count,
    )


def moments(sketches: Sequence[Sketch], tilts: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Those of the sum."""
    log, mean, square = (
        np.sum(parts, axis=0) for parts in zip(*(s.moments(tilts) for s in sketches), strict=True)
    )
    return log, mean, square
