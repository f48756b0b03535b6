"""Events: sets of outputs that are likelier under one input than under the other, chosen on draws
that do not count, and counted on others.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..guarantees import Guarantee
from .bounds import expected_bounds
from .canonical_outputs import Outputs
from .clopper_pearson import expected_limits, lower_limit, upper_limit
from .output_features import Score, fitted

_TRIED = 200  # thresholds of a score


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs, in words, and which of the two inputs makes it likelier."""

    words: str
    direction: str
    holds: Callable[[Outputs], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Counted:
    """An event, how often it was seen under the input that makes it likelier and under the other,
    and the limits of both chances.
    """

    event: Event
    seen: tuple[int, int]
    trials: tuple[int, int]
    low: float
    high: float


DIRECTIONS = ("x over y", "y over x")
Tried = tuple[float, float, Event]
"""What an event promises, how likely it is, and the event."""


def counted(event: Event, x: Outputs, y: Outputs, alpha: float) -> Counted:
    """The limits of P(S) under one input and the other: each is wrong with a chance of `alpha`/2 at
    most.
    """
    one, two = (x, y) if event.direction == DIRECTIONS[0] else (y, x)
    hits, other = int(event.holds(one).sum()), int(event.holds(two).sum())
    return Counted(
        event,
        (hits, other),
        (len(one), len(two)),
        lower_limit(hits, len(one), alpha / 2),
        upper_limit(other, len(two), alpha / 2),
    )


def learned(
    x: Outputs, y: Outputs, claim: Guarantee, delta: float, *, counting: int, alpha: float
) -> Event:
    """The event that promises most, from draws that do not count."""
    half_x, half_y = len(x) // 2, len(y) // 2
    fit_x, fit_y = x.part(0, half_x), y.part(0, half_y)
    try_x, try_y = x.part(half_x, len(x)), y.part(half_y, len(y))
    best: Tried = (
        -1.0,
        1.0,
        Event("any output", DIRECTIONS[0], lambda d: np.ones(len(d), dtype=np.bool_)),
    )
    for score in fitted(fit_x, fit_y):
        best = max(
            best,
            _best_threshold(score, score(try_x), score(try_y), claim, delta, counting, alpha),
            key=_best,
        )
    return best[2]


def _best_threshold(
    score: Score, a: Any, b: Any, claim: Guarantee, delta: float, counting: int, alpha: float
) -> Tried:
    """The threshold and direction of one score that promise most."""
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
    for direction, likely, other in ((DIRECTIONS[0], p, q), (DIRECTIONS[1], q, p)):
        low, high = expected_limits(
            _at_worst(likely, len(a), -1), _at_worst(other, len(b), 1), counting, alpha / 2
        )
        bound = expected_bounds(claim, low, high, delta)
        at = int(np.argmax(bound))
        both.append((float(bound[at]), float(likely[at]), direction, float(levels[at])))
    promised, chance, direction, level = max(both, key=_best)
    return promised, chance, Event(score.words(level), direction, lambda d: score(d) >= level)


def _best(found: tuple[Any, ...]) -> tuple[float, float]:
    """What is compared of two events. One and its complement promise the same: the rarer is
    taken.
    """
    return round(found[0], 9), -found[1]


def _at_worst(seen: Any, trials: int, side: int) -> Any:
    """The end of Wilson's interval for a chance."""
    spread = _CAUTION**2 / trials
    found = (seen + spread / 2 + side * np.sqrt(seen * (1 - seen) * spread + spread**2 / 4)) / (
        1 + spread
    )
    return np.clip(found, 0.0, 1.0)


_CAUTION = 2.0  # standard deviations
_TAILS = np.geomspace(1e-5, 0.02, 40)
_SHARES = np.concatenate([_TAILS, np.linspace(0.02, 0.98, 120), 1 - _TAILS])
