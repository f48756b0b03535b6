"""A rough law of the loss at a few hundred points, for planning: no reported number depends on its
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
class LossSketch:
    """Cells of the spread part, ascending: their edges, mean losses and probabilities; then the
    atoms; and the number of uses of the law.
    """

    edges: Doubles
    loss: Doubles
    p: Doubles
    count: int

    @property
    def cells(self) -> int:
        return max(0, self.edges.size - 1)

    def moments(self, tilts: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return the logarithm of the moment generating function and its first and second
        derivatives, times the number of uses, at each tilt.
        """
        exponent = np.log(self.p) + tilts[:, None] * self.loss
        top = exponent.max(axis=1, keepdims=True)
        weight = np.exp(exponent - top)
        total = weight.sum(axis=1)
        mean = weight @ self.loss / total
        square = weight @ (self.loss * self.loss) / total
        return (
            self.count * (top[:, 0] + np.log(total)),
            self.count * mean,
            self.count * np.maximum(square - mean * mean, 0.0),
        )

    def tilted(self, tilt: float) -> Doubles:
        exponent = np.log(self.p) + tilt * self.loss
        weight = np.exp(exponent - exponent.max())
        shares: Doubles = weight / weight.sum()
        return shares


def sketch(law: Law, count: int, cut: float) -> LossSketch:
    """Sketch a law without its rarest large losses, which together have probability `cut`."""
    edges, atoms = law.rough(max(cut / 100, NOTHING)), law.atoms
    # far below zero a sampled loss no longer changes, to a double
    edges = np.unique(edges[np.abs(edges) <= FARTHEST])
    edges = edges if edges.size > 1 else edges[:0]
    p, q = law.cells(edges) if edges.size else (np.zeros(1), np.zeros(1))
    p, q = p[1:-1], q[1:-1]
    common = np.flatnonzero(np.cumsum(p[::-1])[::-1] > cut)
    edges, p, q = (
        (edges[: common[-1] + 2], p[: common[-1] + 1], q[: common[-1] + 1])
        if common.size
        else (np.zeros(0), np.zeros(0), np.zeros(0))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(p / q)
    loss = np.where(
        np.isfinite(ratio), np.clip(ratio, edges[:-1], edges[1:]), (edges[1:] + edges[:-1]) / 2
    )
    there = atoms.p > 0
    if not common.size and not there.any():  # all of it is too far out to be told from infinity
        return LossSketch(np.zeros(0), np.zeros(1), np.ones(1), count)
    joined = np.concatenate((p, atoms.p[there]))
    return LossSketch(
        edges,
        np.concatenate((loss, np.clip(atoms.loss[there], -FARTHEST, FARTHEST))),
        np.maximum(joined, 1e-320),
        count,
    )


def moments(sketches: Sequence[LossSketch], tilts: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return the moments of the sum of all sketches."""
    log, mean, square = (
        np.sum(parts, axis=0) for parts in zip(*(s.moments(tilts) for s in sketches), strict=True)
    )
    return log, mean, square
