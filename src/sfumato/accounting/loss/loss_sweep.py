"""The curve of a composition for searches that ask at hundreds of ε: a few sums are made once, and
every question is answered from the nearest.

*Sums*     One upper curve of the certificate at each of a few δ, made when first asked for. Each is
           an upper bound everywhere and a tight one around its own place; whichever is taken, what
           it says is not below the truth.
*Coarse*   Lattices have at most 2^16 numbers and are not refined: the bound may be some
           ten-thousandths larger than the certified one.
*Depends*  on the composition and ε alone, never on what was asked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .certificate import Curve
from .compose_fourier import add
from .compose_plan import Saddle, at_delta, plan
from .loss_lattice import halves, upper
from .loss_laws import Law, reverse

PLACES = (0.1, 1e-4, 1e-9)
"""The δ around which the curve is known well."""
_MOST = 1 << 16
Laws = tuple[tuple[Law, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The directions of a composition, and where in each the sums are made."""

    directions: tuple[tuple[Laws, tuple[Saddle, ...]], ...]

    def delta(self, epsilon: float) -> float:
        """δ at ε, not below the truth."""
        return max(
            self._curve(which, epsilon).delta(epsilon) for which in range(len(self.directions))
        )

    def epsilon(self, delta: float) -> float:
        """Roughly an ε at which δ is no more, by Chernoff's bound."""
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
            at_delta(uses, delta).epsilon if found is None else found
            for (uses, _), found in zip(self.directions, near, strict=True)
        )

    def _curve(self, which: int, epsilon: float) -> Curve:
        uses, saddles = self.directions[which]
        nearest = min(saddles, key=lambda saddle: abs(saddle.epsilon - epsilon))
        return _made(uses, nearest)


def sweep(laws: Laws) -> Sweep:
    """The sweep of a composition."""
    both = (
        [laws]
        if all(law.symmetric for law, _ in laws)
        else [laws, tuple((reverse(law), count) for law, count in laws)]
    )
    return Sweep(tuple((uses, tuple(at_delta(uses, delta) for delta in PLACES)) for uses in both))


@lru_cache(maxsize=16)
def _made(uses: Laws, saddle: Saddle) -> Curve:
    chosen = plan(uses, saddle, most=_MOST)
    measures = tuple(
        (upper(halves(law, nodes)), count)
        for (law, count), nodes in zip(uses, chosen.nodes, strict=True)
    )
    return Curve("up", chosen, add(measures, chosen.mesh))
