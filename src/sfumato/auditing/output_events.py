"""Events: sets of outputs that are likelier under one input than under the other. The audit chooses
them on some draws and counts them on other draws.

*Choice*     Some of the draws do not count. Scores are fitted on half of these; on the other half
             every score, threshold and direction is tried, and the one whose limits would prove
             most is taken. The draws that count have had no part in the choice, so one event is
             tried on them, and no more.
*Caution*    Of many events that are tried, the luckiest looks best, and that is a rare one. So each
             is judged by chances that it has at the worst of what its own trial leaves open, not by
             those that were seen.
*Direction*  is part of the choice: S is likelier under x, or under y. So an event needs two limits,
             one from below and one from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee
from .bounds import expected_bounds
from .canonical_outputs import Outputs
from .clopper_pearson import expected_limits, lower_limit, upper_limit
from .output_features import Score, fit_scores

_TRIED = 200  # thresholds of a score


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs, its description, and which of the two inputs makes it likelier."""

    words: str
    direction: str
    holds: Callable[[Outputs], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """An event, how often it occurred under the input that makes it likelier and under the other
    input, and the limits of both chances.
    """

    event: Event
    hits: tuple[int, int]
    trials: tuple[int, int]
    low: float
    high: float


DIRECTIONS = ("x over y", "y over x")
Candidate = tuple[float, float, Event]
Values = NDArray[np.float64]
"""The expected bound of an event, its probability, and the event."""


def count_event(event: Event, x: Outputs, y: Outputs, alpha: float) -> CountedEvent:
    """Count an event and compute limits of P(S) under both inputs, each wrong with probability at
    most `alpha`/2.
    """
    likely, unlikely = (x, y) if event.direction == DIRECTIONS[0] else (y, x)
    likely_hits, unlikely_hits = int(event.holds(likely).sum()), int(event.holds(unlikely).sum())
    return CountedEvent(
        event,
        (likely_hits, unlikely_hits),
        (len(likely), len(unlikely)),
        lower_limit(likely_hits, len(likely), alpha / 2),
        upper_limit(unlikely_hits, len(unlikely), alpha / 2),
    )


def learn_event(
    x: Outputs, y: Outputs, claim: Guarantee, delta: float, *, counting: int, alpha: float
) -> Event:
    """Choose the event with the largest expected bound, on draws that do not count."""
    half_x, half_y = len(x) // 2, len(y) // 2
    fit_x, fit_y = x.part(0, half_x), y.part(0, half_y)
    try_x, try_y = x.part(half_x, len(x)), y.part(half_y, len(y))
    best: Candidate = (
        -1.0,
        1.0,
        Event("any output", DIRECTIONS[0], lambda d: np.ones(len(d), dtype=np.bool_)),
    )
    for score in fit_scores(fit_x, fit_y):
        best = max(
            best,
            _best_threshold(score, score(try_x), score(try_y), claim, delta, counting, alpha),
            key=_rank,
        )
    return best[2]


def _best_threshold(
    score: Score, a: Values, b: Values, claim: Guarantee, delta: float, counting: int, alpha: float
) -> Candidate:
    """Choose the threshold and direction of one score with the largest expected bound."""
    levels = np.unique(np.concatenate([a, b]))
    levels = levels[levels > -np.inf]
    if len(levels) < 1:
        return -1.0, 1.0, Event("", DIRECTIONS[0], lambda d: np.ones(len(d), dtype=np.bool_))
    if len(levels) > _TRIED:
        levels = np.unique(np.quantile(np.concatenate([a, b]), _SHARES, method="nearest"))
        levels = levels[levels > -np.inf]
    a, b = np.sort(a), np.sort(b)
    p = 1 - np.searchsorted(a, levels, side="left") / len(a)
    q = 1 - np.searchsorted(b, levels, side="left") / len(b)
    both = []
    for direction, likely, unlikely in ((DIRECTIONS[0], p, q), (DIRECTIONS[1], q, p)):
        low, high = expected_limits(
            _wilson_end(likely, len(a), -1), _wilson_end(unlikely, len(b), 1), counting, alpha / 2
        )
        bound = expected_bounds(claim, low, high, delta)
        at = int(np.argmax(bound))
        both.append((float(bound[at]), float(likely[at]), direction, float(levels[at])))
    promised, chance, direction, level = max(both, key=_rank)
    return promised, chance, Event(score.words(level), direction, lambda d: score(d) >= level)


def _rank(candidate: tuple[float, float, *tuple[object, ...]]) -> tuple[float, float]:
    """Rank an event by its bound, then by rarity: an event and its complement have the same
    bound.
    """
    return round(candidate[0], 9), -candidate[1]


def _wilson_end(rate: Values, trials: int, side: int) -> Values:
    """Compute one end of Wilson's interval for a chance."""
    spread = _CAUTION**2 / trials
    ends = (rate + spread / 2 + side * np.sqrt(rate * (1 - rate) * spread + spread**2 / 4)) / (
        1 + spread
    )
    return np.asarray(np.clip(ends, 0.0, 1.0))


_CAUTION = 2.0  # standard deviations
_TAILS = np.geomspace(1e-5, 0.02, 40)
_SHARES = np.concatenate([_TAILS, np.linspace(0.02, 0.98, 120), 1 - _TAILS])
