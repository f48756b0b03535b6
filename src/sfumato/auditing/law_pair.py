"""Two laws that are known: of an output under x, and under y, on finitely many cells.

*Cells*    Outcomes of a law; of noise on all integers, a window of them and the two tails. That is
           processing: what is proven of cells holds of outputs.
*Event*    By Neyman and Pearson the best events hold the cells of the largest likelihood ratios:
           only those are tried.
*Exact*    The least ε at δ by arithmetic: D_∞^δ, in both directions, rounded down by all that
           doubles may have lost; and the event that says most against a claim, with its two
           chances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import ball, evaluate
from ..guarantees import GDP, Approx, Guarantee, Pure
from ..guarantees.finite.finite_laws import Step, pair, steps
from .bounds import breaks, expected_bounds, mu_bound
from .canonical_outputs import Outputs, outputs
from .clopper_pearson import expected_limits
from .output_events import DIRECTIONS, Event

DOUBT = 1e-14
"""What ln of a ratio may have lost where every mass is within 2⁻⁵³ of itself. A law whose masses
are less exact says by how much.
"""
EQUAL = 1e-12
"""A law that promises exactly what is claimed is not blamed for the last bits of doubles: of sums
of four thousand masses they are less than half of this.
"""
_POINTS = np.linspace(0.02, 0.98, 25)  # of a trade-off that is a curve


class Against(NamedTuple):
    """The event that says most against a claim, whether it refutes it, and its chances: at least
    `low` at the one input, at most `high` at the other.
    """

    event: Event
    low: float
    high: float
    broken: bool


class _Prefix(NamedTuple):
    follows: float
    direction: str
    inside: NDArray[np.int64]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Known:
    """The masses of the cells under x and under y, what the cells are called, and in which cell
    each output lies.
    """

    p: tuple[float | Fraction, ...]
    q: tuple[float | Fraction, ...]
    names: tuple[str, ...]
    cell: Callable[[Outputs], NDArray[np.int64]] | None = None
    doubt: float = DOUBT
    # a mass may be off by this much where doubles end: what is written as zero may be no zero
    least: float = 0.0

    def masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """In doubles; what is no zero stays none."""
        p, q = (
            np.array([max(float(v), 5e-324) if v else 0.0 for v in masses])
            for masses in (self.p, self.q)
        )
        return p, q

    def best(
        self, claim: Guarantee, delta: float, *, samples: int, alpha: float
    ) -> tuple[float, Event, float, float]:
        """The event whose limits are expected to prove most at a sample size, each limit at
        `alpha`/2: the bound, the event, and its chances.
        """
        found: list[tuple[float, str, NDArray[np.int64], float, float]] = []
        x, y = self.masses()
        for direction, p, q in ((DIRECTIONS[0], x, y), (DIRECTIONS[1], y, x)):
            order, high, low = prefixes(p, q)
            limits = expected_limits(high, low, samples, alpha / 2)
            bounds = expected_bounds(claim, *limits, delta)
            at = int(np.argmax(bounds))
            found.append(
                (float(bounds[at]), direction, order[: at + 1], float(high[at]), float(low[at]))
            )
        bound, direction, inside, p_chance, q_chance = max(found, key=lambda one: one[0])
        return bound, self._event(inside, direction), p_chance, q_chance

    def epsilon(self, delta: float | Fraction) -> tuple[float, str]:
        """D_∞^δ in the worse direction, rounded down, and that direction."""
        p, q = pair(self.p, self.q)
        pairs = zip(DIRECTIONS, ((p, q), (q, p)), strict=True)
        return max((self._divergence(steps(a, b), Fraction(delta)), name) for name, (a, b) in pairs)

    def _divergence(self, ratios: tuple[Step, ...], delta: Fraction) -> float:
        """The largest of ln((P(S) − δ)/Q(S)), P(S) less and Q(S) more by all that the masses may
        have lost; 0 where it is below.
        """
        lost, few = (Fraction(v) for v in self._lost())
        best = Fraction(1)
        for event in accumulate(ratios, lambda s, t: Step(s.p + t.p, s.q + t.q)):
            top, bottom = event.p * (1 - lost) - few - delta, event.q * (1 + lost) + few
            if top > 0 and not bottom:
                return math.inf
            best = max(best, top / bottom) if top > 0 else best
        return evaluate(lambda: ball(best).log(), "down") if best > 1 else 0.0

    def _lost(self) -> tuple[float, float]:
        """What a sum of masses may have lost: this part of it, and this much. Nothing, where all of
        them are rational.
        """
        exactly = all(isinstance(v, Fraction | int) for v in (*self.p, *self.q))
        return (0.0, 0.0) if exactly else (self.doubt, len(self.p) * self.least)

    def mu(self) -> float:
        """The largest μ that an event of the largest ratios refutes, after all that sums of doubles
        may have lost.
        """
        worst = max(self._prefixes(GDP(1), 0.0), key=lambda one: one.follows)
        return mu_bound(worst.low, worst.high)

    def against(self, claim: Guarantee, delta: float) -> Against:
        """The event that says most against the promise, and whether it breaks it by more than the
        last bits: for ε at the claim's own δ, and for μ, by the divergence; for other curves by ε
        at the δ that is given, and at events all over. Of several that break it, the one whose
        chances differ most.
        """
        if isinstance(claim, GDP):
            return self._plainest(claim, 0.0, self.mu(), float(claim.mu))
        if isinstance(claim, Pure | Approx):
            own = Fraction(claim.parameters.get("delta", 0))
            return self._plainest(
                claim, own, self.epsilon(own)[0], float(claim.parameters["epsilon"])
            )
        found = self._plainest(claim, Fraction(delta), self.epsilon(delta)[0], claim.epsilon(delta))
        if found.broken:
            return found
        others = [
            Against(event, low, high, broken=True)
            for event, low, high in self._all_over()
            if breaks(claim, low, high)
        ]
        return max(others, key=lambda one: claim.tradeoff(one.high) - (1 - one.low), default=found)

    def _plainest(
        self, claim: Guarantee, delta: float | Fraction, proven: float, claimed: float
    ) -> Against:
        """Of the events that say as much as breaks the claim, or as any does, the one whose chances
        differ most.
        """
        broken = proven > claimed * (1 + EQUAL) + EQUAL
        tried = list(self._prefixes(claim, float(delta)))
        most = max(one.follows for one in tried)
        least = claimed * (1 + EQUAL) + EQUAL if broken else most - 1e-9 * abs(most)
        told = max(
            (one for one in tried if one.follows >= min(least, most)),
            key=lambda one: one.low - one.high,
        )
        return Against(self._event(told.inside, told.direction), told.low, told.high, broken)

    def _prefixes(self, claim: Guarantee, delta: float) -> Iterator[_Prefix]:
        """The events of the largest ratios, their chances, and what follows from each: of μ for a
        claim in μ, else of ε at δ.
        """
        for direction, order, low, high in self._outward():
            with np.errstate(divide="ignore", invalid="ignore"):
                follows = (
                    expected_bounds(claim, low, high, 0.0)
                    if isinstance(claim, GDP)
                    else np.log(np.maximum(low - delta, 0)) - np.log(high)
                )
            follows = np.where(
                np.isnan(follows), -np.inf, follows
            )  # an event that neither input gives
            yield from (
                _Prefix(f, direction, order[: i + 1], p, q)
                for i, (f, p, q) in enumerate(
                    zip(follows.tolist(), low.tolist(), high.tolist(), strict=True)
                )
            )

    def _all_over(self) -> Iterator[tuple[Event, float, float]]:
        for direction, order, low, high in self._outward():
            chosen = {
                int(i)
                for chances in (low, high)
                for i in np.searchsorted(chances, _POINTS).clip(max=len(order) - 1)
            }
            yield from (
                (self._event(order[: i + 1], direction), float(low[i]), float(high[i]))
                for i in sorted(chosen)
            )

    def _outward(
        self,
    ) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
        """Cells by falling ratio, in both directions, with the chances of the first, of the first
        two, …: less and more by what doubles may have lost.
        """
        x, y = self.masses()
        lost, few = max(EQUAL, self.doubt), self._lost()[1]
        for direction, p, q in ((DIRECTIONS[0], x, y), (DIRECTIONS[1], y, x)):
            order, high, low = prefixes(p, q)
            yield (
                direction,
                order,
                np.maximum(high * (1 - lost) - few, 0.0),
                np.minimum(low * (1 + lost) + few, 1.0),
            )

    def _event(self, inside: NDArray[np.int64], direction: str) -> Event:
        return Event(self._words(inside), direction, self._holds(inside))

    def _words(self, inside: NDArray[np.int64]) -> str:
        if len(inside) == len(self.names):
            return "any output"
        places = sorted(inside.tolist())
        names = [self.names[i] for i in places]
        run = places[-1] - places[0] == len(places) - 1
        if run and len(names) > 1 and names[0].startswith("< "):
            return f"output ≤ {names[-1].split()[-1]}"
        if run and len(names) > 1 and names[-1].startswith("≥ "):
            return f"output ≥ {names[0].split()[0]}"
        if len(names) > 6:
            names = [f"{names[0]} to {names[-1]}"] if run else [*names[:3], "…", *names[-2:]]
        return f"output in {{{', '.join(names)}}}"

    def _holds(self, inside: NDArray[np.int64]) -> Callable[[Outputs], NDArray[np.bool_]]:
        member = np.zeros(
            len(self.names) + 1, dtype=np.bool_
        )  # the last place: an output that the law does not know
        member[inside] = True

        def holds(drawn: Outputs) -> NDArray[np.bool_]:
            assert self.cell is not None
            return member[self.cell(drawn)]

        return holds


def prefixes(
    p: NDArray[np.float64], q: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Cells by falling ratio p/q, and the chances of the first, of the first two, …"""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p + q > 0, np.log(p) - np.log(q), -np.inf)
    order = np.argsort(
        -np.round(ratio, 10), kind="stable"
    )  # cells whose ratios differ by rounding alone stay together
    return order, np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)


def finite(
    laws: tuple[Mapping[Any, float | Fraction], Mapping[Any, float | Fraction]],
    doubt: float = DOUBT,
) -> Known:
    """Two laws on named outcomes."""
    outcomes = list(dict.fromkeys([*laws[0], *laws[1]]))
    p, q = (tuple(law.get(outcome, 0) for outcome in outcomes) for law in laws)
    return Known(p, q, tuple(str(outcome) for outcome in outcomes), _cell_of(outcomes), doubt)


def _cell_of(outcomes: list[Any]) -> Callable[[Outputs], NDArray[np.int64]]:
    """The cell of each output by its symbol, however the outputs were written down."""

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        symbols = outputs(
            outcomes
            if drawn.symbols.dtype == object
            else np.array(outcomes, dtype=np.float64 if drawn.floats else None)
        ).symbols
        order = np.argsort(symbols)
        known = symbols[order]
        at = np.minimum(np.searchsorted(known, drawn.symbols), len(known) - 1)
        return np.where(known[at] == drawn.symbols, order[at], len(known))

    return cell
