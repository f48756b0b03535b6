"""Known laws of mechanisms at two inputs: a table from the type of a mechanism to the two laws of
its output.

*Noise*       On all integers: one cell for each integer of a window around both inputs, or for runs
              of them where the noise is wide, and the two tails.
*Choices*     Each candidate, with its exact probability.
*Stated*      A law is what a record of the library states, and its draws follow. Of a kind that
              derives from one and draws otherwise nothing is known here.
*Projection*  Of a vector, or of reports of several people, that differ at one place, only that
              place is looked at: the others have the same law under both, and are independent.
*Complements* A chance near one is never taken from one in doubles: what is left of it would have
lost its digits.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from numbers import Rational
from operator import index
from typing import Any, Generic, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from ..exact.balls import chance
from ..exact.numbers import Number
from ..guarantees.finite.channel import Channel
from ..local.direct import Direct
from ..local.unary import Unary
from ..mechanisms.above_threshold import AboveThreshold
from ..mechanisms.gibbs import Gibbs
from ..mechanisms.histogram import Histogram
from ..mechanisms.inverse_sensitivity import InverseSensitivity
from ..mechanisms.key_selection import KeySelection, NoisyThreshold
from ..mechanisms.mean import Mean
from ..mechanisms.optimal_selection import OptimalSelection
from ..mechanisms.quantile import Quantile
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from ..mechanisms.shared.selection import Selection
from ..mechanisms.top_k import TopK
from ..mechanisms.weighted_quantile import WeightedQuantile
from .canonical_outputs import Input
from .law_pair import LawPair, finite_law_pair
from .noise_laws import DOUBT, EACH, FARTHEST, above_threshold_law, noise_law_pair
from .response_laws import direct_law, response_law, unary_law

Losses = Sequence[Sequence[Number]]
Run = tuple[Any, Any, float]
"""The first and the last of equally likely points, numbers or one label, and their mass."""
_POINTS = 4096  # of a finite law that is written out
_LEAST = 1e-300  # what is less likely a double may have forgotten, in part or altogether


def law_pair_at(mechanism: Mechanism | Channel, x: Input, y: Input) -> LawPair | None:
    """Return the two laws of the output, or None where they are not known."""
    if not draws_as_stated(type(mechanism)):
        return None
    for kind, laws in LAWS.items():
        if isinstance(mechanism, kind):
            pair = laws(mechanism, x, y)
            return (
                pair
                if pair is None or isinstance(mechanism, Channel)
                else replace(pair, least=_LEAST)
            )
    return None


_SAYS_ONLY = {
    "promises",
    "promise",
    "__module__",
    "__qualname__",
    "__doc__",
    "__slots__",
    "__init__",
    "__repr__",
    "__annotations__",
    "__orig_bases__",
}
_SAYS_ONLY |= {
    "__abstractmethods__",
    "_abc_impl",
    "__dict__",
    "__weakref__",
    "__firstlineno__",
    "__static_attributes__",
}


def draws_as_stated(kind: type) -> bool:
    """Whether a class is the library's, or a subclass that changes at most the promise."""
    return all(
        set(vars(base)) <= _SAYS_ONLY
        for base in kind.__mro__
        if base not in (object, ABC, Generic) and not is_library_kind(base)
    )


def is_library_kind(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _as_integer(value: object) -> int:
    """Return the value as an integer. Other values have no law: a mechanism refuses them, or rounds
    them by its own rules.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
        raise TypeError
    return index(value)


def _as_fraction(value: object) -> Fraction:
    if not isinstance(value, Rational | float | Decimal | str):
        raise TypeError
    return Fraction(value)


def _additive(m: Additive, x: Input, y: Input) -> LawPair | None:
    values_x, values_y = np.asarray(x), np.asarray(y)
    if values_x.ndim or values_y.ndim:
        values_x, values_y = values_x.ravel(), values_y.ravel()
        if (
            m.grid is not None
            or values_x.shape != values_y.shape
            or (values_x != values_y).sum() != 1
        ):
            return None
        at = int(np.argmax(values_x != values_y))
        return noise_law_pair(
            m.law, _as_integer(values_x[at]), _as_integer(values_y[at]), f"[{at}]"
        )
    if m.grid is None:
        return noise_law_pair(m.law, _as_integer(x), _as_integer(y))
    steps = [_as_fraction(value) / m.grid for value in (x, y)]
    if any(
        value.denominator != 1 for value in steps
    ):  # rounding to the grid decides, and that is `perturb`'s
        return None
    return noise_law_pair(m.law, int(steps[0]), int(steps[1]), step=float(m.grid))


def _selection(m: Selection, x: Sequence[Number], y: Sequence[Number]) -> LawPair:
    names = range(len(x)) if m.candidates is None else m.candidates
    law_x, law_y = (dict(zip(names, m.probabilities(s).tolist(), strict=True)) for s in (x, y))
    return finite_law_pair((law_x, law_y))


def _top_k(m: TopK, x: Sequence[Number], y: Sequence[Number]) -> LawPair | None:
    names = range(len(x)) if m.candidates is None else m.candidates
    if len(x) ** m.k > _POINTS:
        return None

    def law(scores: Sequence[Number]) -> dict[tuple[Hashable, ...], float]:
        chances = {}
        for chosen in permutations(range(len(scores)), m.k):
            left, chance = list(range(len(scores))), 1.0
            for place in chosen:
                chance *= float(m.round.probabilities([scores[i] for i in left])[left.index(place)])
                left.remove(place)
            chances[tuple(names[i] for i in chosen)] = chance
        return chances

    law_x, law_y = law(list(x)), law(list(y))
    keys = list(law_x)
    pair = finite_law_pair(
        (dict(enumerate(law_x.values())), dict(enumerate(law_y[k] for k in keys)))
    )
    return LawPair(
        pair.p,
        pair.q,
        tuple(map(str, keys)),
        finite_law_pair(({ListKey(k): 0.0 for k in keys}, {})).cell,
    )


class ListKey(list[Hashable]):
    """A list as a dictionary key: the output is a list, and its symbol is a list's."""

    def __hash__(self) -> int:  # type: ignore[override]  # lists have no hash
        return hash(tuple(self))


def _runs(m: InverseSensitivity | Quantile, x: Any, y: Any) -> LawPair | None:
    return _pair_of_runs((m.law(x), m.law(y)), m.grid)


def _weighted_runs(
    m: WeightedQuantile, x: tuple[ArrayLike, ArrayLike], y: tuple[ArrayLike, ArrayLike]
) -> LawPair | None:
    return _pair_of_runs((m.law(*x), m.law(*y)), None)


def _pair_of_runs(
    pair: tuple[Sequence[Run], Sequence[Run]], grid: Fraction | None
) -> LawPair | None:
    """Write runs of equally likely points out, point by point."""
    laws = []
    for runs in pair:
        masses: dict[Hashable, float] = {}
        for first, last, mass in runs:
            points = _points(grid, first, last)
            if len(masses) + len(points) > _POINTS:
                return None
            masses |= dict.fromkeys(points, mass / len(points))
        laws.append(masses)
    return finite_law_pair((laws[0], laws[1]))


def _points(grid: Fraction | None, first: Any, last: Any) -> list[Hashable]:
    if grid is None or isinstance(first, str):
        return [first] if first == last else list(range(int(first), int(last) + 1))
    count = int((Fraction(last) - Fraction(first)) / grid)
    points = [Fraction(first) + i * grid for i in range(min(count, _POINTS) + 1)]
    return [int(p) for p in points] if grid.denominator == 1 else [float(p) for p in points]


def _gibbs(m: Gibbs, x: Losses, y: Losses) -> LawPair:
    middles = [float((a + b) / 2) for a, b in zip(m.points, m.points[1:], strict=False)]
    law_x, law_y = (
        dict(zip(middles, m.probabilities(losses).tolist(), strict=True)) for losses in (x, y)
    )
    return finite_law_pair((law_x, law_y))


def _keys(m: KeySelection, x: int, y: int) -> LawPair | None:
    """The laws for one group: None, or the noisy count from the threshold on. For rules that only
    name groups, whether the group is named.
    """
    if np.ndim(x) or np.ndim(y):
        return None
    if not isinstance(m, NoisyThreshold):
        if not isinstance(m, OptimalSelection):
            return None
        law_x, law_y = (
            {1: m.keep_probability(v), 0: _unnamed_chance(m, v)} for v in map(_as_integer, (x, y))
        )
        return finite_law_pair((law_x, law_y))
    top = max(x, y, m.threshold) + EACH // 4
    laws: list[Mapping[Hashable, float]] = []
    for votes in (_as_integer(x), _as_integer(y)):
        law: dict[Hashable, float] = {None: 1.0, "more": 0.0}
        if votes > 0:
            law = {k: float(m.law.pmf(k - votes)) for k in range(m.threshold, top)}
            law |= {
                None: float(m.law.cdf(m.threshold - 1 - votes)),
                "more": float(m.law.tail(top - votes)),
            }
        laws.append(law)
    return finite_law_pair((laws[0], laws[1]))


def _unnamed_chance(m: OptimalSelection, votes: int) -> float:
    """Compute the chance that a group is not named."""
    return chance(lambda: 1 - m._share(votes)) if 0 < votes < m._sure else float(votes <= 0)


def _histogram(m: Histogram, x: Iterable[object], y: Iterable[object]) -> LawPair | None:
    if m.noise.grid is not None:
        return None
    counts_x, counts_y = m.tally(x).ravel(), m.tally(y).ravel()
    differ = np.flatnonzero(counts_x != counts_y)
    return (
        noise_law_pair(
            m.noise.law, int(counts_x[differ[0]]), int(counts_y[differ[0]]), f"[{differ[0]}]"
        )
        if len(differ) == 1
        else None
    )


def _mean(m: Mean, x: Iterable[object], y: Iterable[object]) -> LawPair | None:
    return (
        noise_law_pair(m.noise.law, m.tally(x)[0], m.tally(y)[0], "[0]")
        if m.relation == "replace"
        else None
    )


def _above_threshold(m: AboveThreshold, x: Sequence[int], y: Sequence[int]) -> LawPair | None:
    """The laws of all answer sequences. Given the noisy threshold the queries are independent, so
    the law sums over the threshold.
    """
    if len(x) > 10:
        return None
    values_x, values_y = ([_as_integer(v) for v in value] for value in (x, y))
    if max(map(abs, (*values_x, *values_y)), default=0) > FARTHEST:
        return None
    return finite_law_pair(
        (above_threshold_law(m, values_x), above_threshold_law(m, values_y)), DOUBT
    )


def _channel(channel: Channel, x: Hashable, y: Hashable) -> LawPair:
    law_x, law_y = (dict(zip(channel.outputs, channel.row(v), strict=True)) for v in (x, y))
    return finite_law_pair((law_x, law_y))


LAWS: dict[type, Callable[[Any, Any, Any], LawPair | None]] = {
    Channel: _channel,
    Additive: _additive,
    AboveThreshold: _above_threshold,
    Direct: direct_law,
    Unary: unary_law,
    Gibbs: _gibbs,
    Histogram: _histogram,
    InverseSensitivity: _runs,
    KeySelection: _keys,
    Mean: _mean,
    Quantile: _runs,
    RandomizedResponse: response_law,
    Selection: _selection,
    TopK: _top_k,
    WeightedQuantile: _weighted_runs,
}
"""Types whose law at two inputs is known."""

assert all(issubclass(kind, Mechanism | Channel) for kind in LAWS)
