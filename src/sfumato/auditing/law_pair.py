"""A pair of known laws: of an output under x and under y, on finitely many cells.

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
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import ball, evaluate
from ..guarantees import GDP, Approx, Guarantee, Pure
from ..guarantees.finite.finite_laws import RatioStep, pair, steps
from ..mechanisms.stated.stated_laws import FiniteLaws
from .bounds import breaks, expected_bounds, mu_bound
from .canonical_outputs import Outputs, read_outputs
from .clopper_pearson import expected_limits
from .output_events import DIRECTIONS, Event

DOUBT = 1e-14
"""Error of ln of a ratio where every mass is within a relative 2⁻⁵³. A law with less exact masses
states its own error.
"""
EQUAL = 1e-12
"""Tolerance for rounding, so that a law that meets the claim exactly is not refuted: sums of four
thousand masses in doubles are off by less than half of this.
"""
_POINTS = np.linspace(0.02, 0.98, 25)  # of a trade-off that is a curve


class StrongestEvent(NamedTuple):
    """The strongest event against a claim, whether it refutes the claim, and its chances: at least
    `low` at one input, at most `high` at the other.
    """

    event: Event
    low: float
    high: float
    broken: bool


class _Prefix(NamedTuple):
    bound: float
    direction: str
    inside: NDArray[np.int64]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LawPair:
    """The masses of the cells under x and under y, the names of the cells, and the cell of each
    output.
    """

    p: tuple[float | Fraction, ...]
    q: tuple[float | Fraction, ...]
    names: tuple[str, ...]
    cell: Callable[[Outputs], NDArray[np.int64]] | None = None
    doubt: float = DOUBT
    # absolute error of a mass, where doubles underflow: a mass written as zero may be positive
    least: float = 0.0

    def masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both laws in doubles; a positive mass stays positive."""
        p, q = (
            np.array([max(float(v), 5e-324) if v else 0.0 for v in masses])
            for masses in (self.p, self.q)
        )
        return p, q

    def best_event(
        self, claim: Guarantee, delta: float, *, samples: int, alpha: float
    ) -> tuple[float, Event, float, float]:
        """Find the event with the largest expected bound at a sample size, each limit at `alpha`/2:
        the bound, the event, and its chances.
        """
        candidates: list[tuple[float, str, NDArray[np.int64], float, float]] = []
        x, y = self.masses()
        for direction, p, q in ((DIRECTIONS[0], x, y), (DIRECTIONS[1], y, x)):
            order, high, low = likelihood_prefixes(p, q)
            limits = expected_limits(high, low, samples, alpha / 2)
            bounds = expected_bounds(claim, *limits, delta)
            at = int(np.argmax(bounds))
            candidates.append(
                (float(bounds[at]), direction, order[: at + 1], float(high[at]), float(low[at]))
            )
        bound, direction, inside, p_chance, q_chance = max(
            candidates, key=lambda candidate: candidate[0]
        )
        return bound, self._event(inside, direction), p_chance, q_chance

    def epsilon(self, delta: float | Fraction) -> tuple[float, str]:
        """Compute D_∞^δ in the worse direction, rounded down, and that direction."""
        p, q = pair(self.p, self.q)
        pairs = zip(DIRECTIONS, ((p, q), (q, p)), strict=True)
        return max((self._divergence(steps(a, b), Fraction(delta)), name) for name, (a, b) in pairs)

    def _divergence(self, ratios: tuple[RatioStep, ...], delta: Fraction) -> float:
        """Compute the largest ln((P(S) − δ)/Q(S)), or 0 if negative. P(S) is lowered and Q(S)
        raised by the rounding error of the masses.
        """
        lost, few = (Fraction(v) for v in self._rounding_loss())
        best = Fraction(1)
        for event in accumulate(ratios, lambda s, t: RatioStep(s.p + t.p, s.q + t.q)):
            top, bottom = event.p * (1 - lost) - few - delta, event.q * (1 + lost) + few
            if top > 0 and not bottom:
                return math.inf
            best = max(best, top / bottom) if top > 0 else best
        return evaluate(lambda: ball(best).log(), "down") if best > 1 else 0.0

    def _rounding_loss(self) -> tuple[float, float]:
        """Return the relative and the absolute rounding error of a sum of masses; zero where all
        masses are rational.
        """
        exactly = all(isinstance(v, Fraction | int) for v in (*self.p, *self.q))
        return (0.0, 0.0) if exactly else (self.doubt, len(self.p) * self.least)

    def mu(self) -> float:
        """Compute the largest μ that an event of the largest ratios refutes, after rounding
        errors.
        """
        worst = max(self._prefixes(GDP(1), 0.0), key=lambda prefix: prefix.bound)
        return mu_bound(worst.low, worst.high)

    def strongest_event(self, claim: Guarantee, delta: float) -> StrongestEvent:
        """Find the strongest event against the promise, and whether it breaks the promise by more
        than rounding. For ε at the claim's δ, and for μ, the divergence decides; for other curves ε
        at the caller's δ, and events spread over the curve. Of several events that break the
        promise, return the one whose chances differ most.
        """
        if isinstance(claim, GDP):
            return self._clearest_event(claim, 0.0, self.mu(), float(claim.mu))
        if isinstance(claim, Pure | Approx):
            claimed_delta = Fraction(claim.parameters.get("delta", 0))
            return self._clearest_event(
                claim,
                claimed_delta,
                self.epsilon(claimed_delta)[0],
                float(claim.parameters["epsilon"]),
            )
        strongest = self._clearest_event(
            claim, Fraction(delta), self.epsilon(delta)[0], claim.epsilon(delta)
        )
        if strongest.broken:
            return strongest
        others = [
            StrongestEvent(event, low, high, broken=True)
            for event, low, high in self._spread_events()
            if breaks(claim, low, high)
        ]
        return max(
            others,
            key=lambda candidate: claim.tradeoff(candidate.high) - (1 - candidate.low),
            default=strongest,
        )

    def _clearest_event(
        self, claim: Guarantee, delta: float | Fraction, proven: float, claimed: float
    ) -> StrongestEvent:
        """Of the events that break the claim, or else of the strongest ones, find the one whose
        chances differ most.
        """
        broken = proven > claimed * (1 + EQUAL) + EQUAL
        tried = list(self._prefixes(claim, float(delta)))
        most = max(prefix.bound for prefix in tried)
        least = claimed * (1 + EQUAL) + EQUAL if broken else most - 1e-9 * abs(most)
        shown = max(
            (prefix for prefix in tried if prefix.bound >= min(least, most)),
            key=lambda prefix: prefix.low - prefix.high,
        )
        return StrongestEvent(
            self._event(shown.inside, shown.direction), shown.low, shown.high, broken
        )

    def _prefixes(self, claim: Guarantee, delta: float) -> Iterator[_Prefix]:
        """Yield the events of the largest ratios, their chances, and the bound that each proves: on
        μ for a claim in μ, else on ε at δ.
        """
        for direction, order, low, high in self._cells_by_ratio():
            with np.errstate(divide="ignore", invalid="ignore"):
                follows = (
                    expected_bounds(claim, low, high, 0.0)
                    if isinstance(claim, GDP)
                    else np.log(np.maximum(low - delta, 0)) - np.log(high)
                )
            # an event that neither input gives
            follows = np.where(np.isnan(follows), -np.inf, follows)
            yield from (
                _Prefix(f, direction, order[: i + 1], p, q)
                for i, (f, p, q) in enumerate(
                    zip(follows.tolist(), low.tolist(), high.tolist(), strict=True)
                )
            )

    def _spread_events(self) -> Iterator[tuple[Event, float, float]]:
        for direction, order, low, high in self._cells_by_ratio():
            chosen = {
                int(i)
                for chances in (low, high)
                for i in np.searchsorted(chances, _POINTS).clip(max=len(order) - 1)
            }
            yield from (
                (self._event(order[: i + 1], direction), float(low[i]), float(high[i]))
                for i in sorted(chosen)
            )

    def _cells_by_ratio(
        self,
    ) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
        """Order cells by falling ratio, in both directions, with the chances of the first cell, of
        the first two, …, rounded down and up by the error of doubles.
        """
        x, y = self.masses()
        lost, few = max(EQUAL, self.doubt), self._rounding_loss()[1]
        for direction, p, q in ((DIRECTIONS[0], x, y), (DIRECTIONS[1], y, x)):
            order, high, low = likelihood_prefixes(p, q)
            yield (
                direction,
                order,
                np.maximum(high * (1 - lost) - few, 0.0),
                np.minimum(low * (1 + lost) + few, 1.0),
            )

    def _event(self, inside: NDArray[np.int64], direction: str) -> Event:
        return Event(self._describe_cells(inside), direction, self._contains(inside))

    def _describe_cells(self, inside: NDArray[np.int64]) -> str:
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

    def _contains(self, inside: NDArray[np.int64]) -> Callable[[Outputs], NDArray[np.bool_]]:
        # the last place: an output that the law does not know
        member = np.zeros(len(self.names) + 1, dtype=np.bool_)
        member[inside] = True

        def holds(drawn: Outputs) -> NDArray[np.bool_]:
            assert self.cell is not None
            return member[self.cell(drawn)]

        return holds


def likelihood_prefixes(
    p: NDArray[np.float64], q: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Order cells by falling ratio p/q, with the chances of the first cell, of the first two, …"""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p + q > 0, np.log(p) - np.log(q), -np.inf)
    # cells whose ratios differ by rounding alone stay together
    order = np.argsort(-np.round(ratio, 10), kind="stable")
    return order, np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)


def finite_law_pair(
    laws: tuple[Mapping[Hashable, float | Fraction], Mapping[Hashable, float | Fraction]],
) -> LawPair:
    """Build the pair from two laws on named outcomes."""
    return interpret_finite_laws(FiniteLaws.between(*laws))


def interpret_finite_laws(laws: FiniteLaws) -> LawPair:
    """Build the pair from two laws that a mechanism states."""
    names = laws.names or [str(outcome) for outcome in laws.outcomes]
    doubt = DOUBT if laws.doubt is None else laws.doubt
    return LawPair(laws.p, laws.q, tuple(names), _cell_of(laws.outcomes), doubt)


def _cell_of(outcomes: Sequence[object]) -> Callable[[Outputs], NDArray[np.int64]]:
    """Find the cell of each output by its symbol, whichever form the outputs have."""

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        symbols = read_outputs(
            outcomes
            if drawn.symbols.dtype == object
            else np.array(outcomes, dtype=np.float64 if drawn.floats else None)
        ).symbols
        order = np.argsort(symbols)
        ordered = symbols[order]
        at = np.minimum(np.searchsorted(ordered, drawn.symbols), len(ordered) - 1)
        return np.where(ordered[at] == drawn.symbols, order[at], len(ordered))

    return cell
