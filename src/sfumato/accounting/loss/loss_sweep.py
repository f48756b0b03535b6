"""The curve of a composition for searches that evaluate it at hundreds of ε: a few sums are
computed once, and every ε is answered from the nearest.

*Sums*     One upper curve of the certificate at each of a few δ, computed on first use. Each is
           an upper bound everywhere and tight around its own δ, so any of them is safe.
*Coarse*   Lattices have at most 2^16 numbers and are not refined: the bound may be some
           ten-thousandths larger than the certified one.
*Depends*  on the composition and ε alone, never on earlier calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .certificate import BoundCurve
from .compose_fourier import add
from .compose_plan import Saddle, at_delta, plan
from .loss_lattice import halves, upper
from .loss_laws import Law, reverse

PLACES = (0.1, 1e-4, 1e-9)
"""The δ around which the curve is tight."""
_MOST = 1 << 16
Laws = tuple[tuple[Law, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The directions of a composition, with the places of the sums in each."""

    directions: tuple[tuple[Laws, tuple[Saddle, ...]], ...]

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on δ at ε."""
        return max(
            self._curve(which, epsilon).delta(epsilon) for which in range(len(self.directions))
        )

    def epsilon(self, delta: float) -> float:
        """Estimate the ε at δ by Chernoff's bound."""
        near = [
            next(
                (
                    saddle.epsilon
                    for saddle, place in zip(saddles, PLACES, strict=True)
                    if place <= delta
                ),
                None,
            )
            for _, saddles in self.directions
        ]
        return max(
            at_delta(uses, delta).epsilon if guess is None else guess
            for (uses, _), guess in zip(self.directions, near, strict=True)
        )

    def _curve(self, which: int, epsilon: float) -> BoundCurve:
        uses, saddles = self.directions[which]
        nearest = min(saddles, key=lambda saddle: abs(saddle.epsilon - epsilon))
        return _upper_curve(uses, nearest)


def sweep(laws: Laws) -> Sweep:
    """Prepare the sweep of a composition."""
    both = (
        [laws]
        if all(law.symmetric for law, _ in laws)
        else [laws, tuple((reverse(law), count) for law, count in laws)]
    )
    return Sweep(tuple((uses, tuple(at_delta(uses, delta) for delta in PLACES)) for uses in both))


@lru_cache(maxsize=16)
def _upper_curve(uses: Laws, saddle: Saddle) -> BoundCurve:
    chosen = plan(uses, saddle, most=_MOST)
    measures = tuple(
        (upper(halves(law, nodes)), count)
        for (law, count), nodes in zip(uses, chosen.nodes, strict=True)
    )
    return BoundCurve("up", chosen, add(measures, chosen.mesh))
