"""Two laws that are known: of an output under x, and under y, on finitely many cells.

*Cells*    Outcomes of a law; of noise on all integers, a window of them and the two tails. That is processing: what is proven of cells holds of outputs.
*Event*    By Neyman and Pearson the best events hold the cells of the largest likelihood ratios: only those are tried.
*Exact*    The least ε at δ by arithmetic: D_∞^δ, in both directions, rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..guarantees import GDP, Approx, Guarantee, Pure
from ..guarantees.divergences import approx_max_divergence
from .bounds import breaks, expected_bounds, mu_bound
from .clopper_pearson import expected_limits
from .events import DIRECTIONS, Event
from .outputs import Outputs, outputs

DOUBT = 1e-14
"""What ln of a ratio may have lost where every mass is within 2⁻⁵³ of itself. A law whose masses are less exact says by how much."""
_LOST = 1e-13  # of sums of a thousand such
EQUAL = 1e-12
"""A law that promises exactly what is claimed is not blamed for the last bits of doubles."""


@dataclass(frozen=True, slots=True)
class Known:
    """The masses of the cells under x and under y, what the cells are called, and in which cell each output lies."""

    p: tuple[float | Fraction, ...]
    q: tuple[float | Fraction, ...]
    names: tuple[str, ...]
    cell: Callable[[Outputs], NDArray[np.int64]] | None = None
    doubt: float = DOUBT

    def masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array([float(v) for v in self.p]), np.array([float(v) for v in self.q])

    def best(self, claim: Guarantee, delta: float, *, samples: int, alpha: float) -> tuple[float, Event, float, float]:
        """The event whose limits are expected to prove most at a sample size, each limit at `alpha`/2: the bound, the event, and its chances."""
        found: list[tuple[float, str, NDArray[np.int64], float, float]] = []
        x, y = self.masses()
        for direction, p, q in ((DIRECTIONS[0], x, y), (DIRECTIONS[1], y, x)):
            order, high, low = prefixes(p, q)
            limits = expected_limits(high, low, samples, alpha / 2)
            bounds = expected_bounds(claim, *limits, delta)
            at = int(np.argmax(bounds))
            found.append((float(bounds[at]), direction, order[: at + 1], float(high[at]), float(low[at])))
        bound, direction, inside, p_chance, q_chance = max(found, key=lambda one: one[0])
        return bound, Event(self._words(inside), direction, self._holds(inside)), p_chance, q_chance

    def epsilon(self, delta: float | Fraction) -> tuple[float, str]:
        """D_∞^δ in the worse direction, rounded down, and that direction."""
        p, q = list(self.p), list(self.q)
        exactly = all(isinstance(v, Fraction | int) for v in (*p, *q))
        pairs = zip(DIRECTIONS, ((p, q), (q, p)), strict=True)
        value, direction = max((approx_max_divergence(a, b, delta, rounding="down"), name) for name, (a, b) in pairs)
        return max(0.0, value if exactly or math.isinf(value) else value - self.doubt * max(1.0, value)), direction

    def mu(self) -> float:
        """The largest μ that an event of the largest ratios refutes, after all that sums of doubles may have lost."""
        from scipy.special import ndtri

        x, y = self.masses()
        found = 0.0
        for p, q in ((x, y), (y, x)):
            _, high, low = prefixes(p, q)
            if (high[low == 0] > 0).any():
                return math.inf
            high, low = np.maximum(high - max(_LOST, self.doubt), 0), np.minimum(low * (1 + max(EQUAL, self.doubt)), 1)
            inside = (high > low) & (high > 0)
            if inside.any():
                at = int(np.argmax(np.where(inside, ndtri(np.where(inside, high, 0.5)) - ndtri(np.where(inside, low, 0.5)), -np.inf)))
                found = max(found, mu_bound(float(high[at]), float(low[at])))
        return found

    def refutes(self, claim: Guarantee, delta: float) -> bool:
        """Whether some event breaks the promise by more than the last bits: for ε at the claim's own δ, and for μ, by the divergence; for other curves by ε at
        the δ that is given, and at events all over."""
        if isinstance(claim, GDP):
            return self.mu() > float(claim.mu) * (1 + EQUAL)
        if isinstance(claim, Pure | Approx):
            own = Fraction(claim.parameters.get("delta", 0))
            return self.epsilon(own)[0] > float(claim.parameters["epsilon"]) * (1 + EQUAL) + EQUAL
        if self.epsilon(delta)[0] > claim.epsilon(delta) * (1 + EQUAL) + EQUAL:
            return True
        x, y = self.masses()
        lost = max(EQUAL, self.doubt)
        for p, q in ((x, y), (y, x)):
            _, high, low = prefixes(p, q)
            chosen = np.unique(np.searchsorted(high, np.linspace(0.02, 0.98, 25))).clip(max=len(high) - 1)
            if any(breaks(claim, max(0.0, float(high[i]) - lost), min(1.0, float(low[i]) + lost)) for i in chosen):
                return True
        return False

    def _words(self, inside: NDArray[np.int64]) -> str:
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
        member = np.zeros(len(self.names) + 1, dtype=np.bool_)  # the last place: an output that the law does not know
        member[inside] = True

        def holds(drawn: Outputs) -> NDArray[np.bool_]:
            assert self.cell is not None
            return member[self.cell(drawn)]

        return holds


def prefixes(p: NDArray[np.float64], q: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Cells by falling ratio p/q, and the chances of the first, of the first two, …"""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p + q > 0, np.log(p) - np.log(q), -np.inf)
    order = np.argsort(-np.round(ratio, 10), kind="stable")  # cells whose ratios differ by rounding alone stay together
    return order, np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)


def finite(laws: tuple[Mapping[Any, float | Fraction], Mapping[Any, float | Fraction]], doubt: float = DOUBT) -> Known:
    """Two laws on named outcomes."""
    outcomes = list(dict.fromkeys([*laws[0], *laws[1]]))
    p, q = (tuple(law.get(outcome, 0) for outcome in outcomes) for law in laws)
    return Known(p, q, tuple(str(outcome) for outcome in outcomes), _cell_of(outcomes), doubt)


def _cell_of(outcomes: list[Any]) -> Callable[[Outputs], NDArray[np.int64]]:
    """The cell of each output by its symbol, however the outputs were written down."""

    def cell(drawn: Outputs) -> NDArray[np.int64]:
        symbols = outputs(outcomes if drawn.symbols.dtype == object else np.array(outcomes, dtype=np.float64 if drawn.floats else None)).symbols
        order = np.argsort(symbols)
        known = symbols[order]
        at = np.minimum(np.searchsorted(known, drawn.symbols), len(known) - 1)
        return np.where(known[at] == drawn.symbols, order[at], len(known))

    return cell
