"""Events: sets of outputs that are likelier under one input than under the other, chosen on draws that do not count, and counted on others.

*Choice*     Scores are fitted on a quarter of the draws. On the second quarter every score, threshold and direction is tried, and the one whose limits would
             prove most is taken. The other half of the draws counts: it has had no part in the choice, so one event is tried on it, and no more.
*Direction*  is part of the choice: S is likelier under x, or under y. So an event needs two limits, one from below and one from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee
from .bounds import expected_bounds
from .clopper_pearson import expected_limits, lower_limit, upper_limit
from .outputs import Outputs
from .scores import Score, fitted

_TRIED = 200  # thresholds of a score


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs, in words, and which of the two inputs makes it likelier."""

    words: str
    direction: str
    holds: Callable[[Outputs], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Counted:
    """An event, how often it was seen under the input that makes it likelier and under the other, and the limits of both chances."""

    event: Event
    seen: tuple[int, int]
    trials: tuple[int, int]
    low: float
    high: float


DIRECTIONS = ("x over y", "y over x")


def counted(event: Event, x: Outputs, y: Outputs, alpha: float) -> Counted:
    """The limits of P(S) under one input and the other: each is wrong with a chance of `alpha`/2 at most."""
    one, two = (x, y) if event.direction == DIRECTIONS[0] else (y, x)
    hits, other = int(event.holds(one).sum()), int(event.holds(two).sum())
    return Counted(event, (hits, other), (len(one), len(two)), lower_limit(hits, len(one), alpha / 2), upper_limit(other, len(two), alpha / 2))


def learned(x: Outputs, y: Outputs, claim: Guarantee, delta: float, *, counting: int, alpha: float) -> Event:
    """The event that promises most, from draws that do not count."""
    half_x, half_y = len(x) // 2, len(y) // 2
    fit_x, fit_y = x.part(0, half_x), y.part(0, half_y)
    try_x, try_y = x.part(half_x, len(x)), y.part(half_y, len(y))
    best: tuple[float, Event] = (-1.0, Event("any output", DIRECTIONS[0], lambda d: np.ones(len(d), dtype=np.bool_)))
    for score in fitted(fit_x, fit_y):
        best = max(best, _best_threshold(score, score(try_x), score(try_y), claim, delta, counting, alpha), key=lambda found: found[0])
    return best[1]


def _best_threshold(score: Score, a: Any, b: Any, claim: Guarantee, delta: float, counting: int, alpha: float) -> tuple[float, Event]:
    """The threshold and direction of one score that promise most, and what they promise."""
    levels = np.unique(np.concatenate([a, b]))
    levels = levels[levels > -np.inf]
    if len(levels) < 1:
        return -1.0, Event("", DIRECTIONS[0], lambda d: np.ones(len(d), dtype=np.bool_))
    if len(levels) > _TRIED:
        levels = np.unique(np.quantile(np.concatenate([a, b]), _SHARES, method="nearest"))
        levels = levels[levels > -np.inf]
    a, b = np.sort(a), np.sort(b)
    p = 1 - np.searchsorted(a, levels, side="left") / len(a)
    q = 1 - np.searchsorted(b, levels, side="left") / len(b)
    both = []
    for direction, likely, other in ((DIRECTIONS[0], p, q), (DIRECTIONS[1], q, p)):
        low, high = expected_limits(likely, other, counting, alpha / 2)
        bound = expected_bounds(claim, low, high, delta)
        at = int(np.argmax(bound))
        both.append((float(bound[at]), direction, float(levels[at])))
    bound_found, direction, level = max(both, key=lambda found: found[0])
    return bound_found, Event(score.words(level), direction, lambda d: score(d) >= level)


_TAILS = np.geomspace(1e-5, 0.02, 40)
_SHARES = np.concatenate([_TAILS, np.linspace(0.02, 0.98, 120), 1 - _TAILS])
