"""Candidate pairs of neighbouring inputs, and the search for the worst of them.

*Search*    Every pair is tried with a few draws (by arithmetic, where the audit is exact), and the
            one that promises most is audited: on new draws, so the search costs nothing of the
            confidence.
*Kinds*     Numbers: neighbours at the sensitivity, at zero, on both sides, and at the ends of what
            doubles tell apart. Scores: one moves against all others. Functions of a dataset: empty
            and small ones, each with one record more, less or another, records among extremes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..guarantees import Guarantee
from ..guarantees.finite.channel import Channel
from ..local.oracle import Oracle
from ..mechanisms.discrete_gaussian import DiscreteGaussian
from ..mechanisms.gaussian import Gaussian
from ..mechanisms.key_selection import KeySelection
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.selection import Selection
from ..mechanisms.top_k import TopK
from . import audit_refusals as refusals
from .bounds import breaks, epsilon_bound, is_number
from .canonical_outputs import Error, Input, Pair, read_both_outputs
from .output_events import count_event, learn_event
from .runners import Runner, draw_both, law_pair_of

EXTREMES: tuple[float | None, ...] = (
    0,
    1,
    -1,
    0.5,
    1e9,
    -1e9,
    2.0**53,
    math.inf,
    -math.inf,
    math.nan,
    None,
)
"""Records for datasets, when a function of a dataset is audited."""

NUMBERS: tuple[Pair, ...] = (
    (0, 1),
    (1, 0),
    (-1, 0),
    (1000, 1001),
    (2**53, 2**53 + 1),
    (0.0, 1.0),
    (-1.0, 0.0),
)
"""Inputs for a function of a number: numbers that differ by one."""

_TRIAL = 400  # draws at each input of a pair, while searching
_TRIAL_ALPHA = 1e-2
_ROUNDED = Fraction(1, 2**40)  # a neighbour of a double may be a double only nearly


def find_pair(
    runner: Runner,
    claim: Guarantee,
    delta: float,
    x: Input,
    records: Iterable[Input] | None,
    *,
    samples: int,
    exact: bool,
) -> Pair:
    """Find the pair with the largest expected privacy loss."""
    tried = list(candidate_pairs(runner.of, claim, x, records))
    if (
        records is None
        and x is None
        and not exact
        and _is_function(runner.of)
        and _only_errors(runner, tried)
    ):
        tried = list(NUMBERS)  # no function of a dataset: perhaps of a number
        if _only_errors(runner, tried):
            tried = []
    if not tried:
        text = refusals.NO_PAIR_OF_TYPE if x is None else refusals.NO_NEIGHBOUR_OF_X
        raise text(type=type(runner.of).__name__)
    if len(tried) == 1:
        return tried[0]
    return max(tried, key=lambda pair: _rank_pair(runner, claim, delta, pair, samples, exact=exact))


def _rank_pair(
    runner: Runner, claim: Guarantee, delta: float, pair: Pair, samples: int, *, exact: bool
) -> tuple[float, float]:
    """Rank a pair: first by what a few draws refute of the claim, then by the bound that the law,
    or these draws where the law is not known, lead to expect.
    """
    laws = law_pair_of(runner, pair, exact=exact)
    if exact:
        return 0.0, -1.0 if laws is None else laws.epsilon(delta)[0]
    few = min(_TRIAL, samples)
    outputs_x, outputs_y = read_both_outputs(*draw_both(runner, *pair, few))
    half = few // 2
    event = learn_event(
        outputs_x.part(0, half),
        outputs_y.part(0, half),
        claim,
        delta,
        counting=few - half,
        alpha=_TRIAL_ALPHA,
    )
    counts = count_event(event, outputs_x.part(half, few), outputs_y.part(half, few), _TRIAL_ALPHA)
    proven = epsilon_bound(counts.low, counts.high, delta)
    broken = proven if breaks(claim, counts.low, counts.high) else 0.0
    return broken, proven if laws is None else laws.best_event(
        claim, delta, samples=samples, alpha=_TRIAL_ALPHA
    )[0]


def _is_function(what: object) -> bool:
    return callable(what) and not isinstance(what, tuple(PAIRS))


def _only_errors(runner: Runner, tried: list[Pair]) -> bool:
    inputs = [value for pair in tried for value in pair]
    return all(
        isinstance(output, Error) for value in inputs for output in list(runner.draw(value, 1))
    )


def candidate_pairs(
    what: object, claim: Guarantee, x: Input = None, records: Iterable[Input] | None = None
) -> Iterator[Pair]:
    """Yield candidate pairs of neighbours, by the type of what is audited."""
    for kind, pairs in PAIRS.items():
        if isinstance(what, kind):
            tried = [pair for pair in pairs(what) if x is None or _same(pair[0], x)]
            if x is not None:
                tried += _neighbours_of(what, x)
            yield from (
                pair
                for pair in tried
                if not isinstance(what, Additive) or are_neighbours(what, *pair)
            )  # sums of doubles may move by more
            return
    if is_number(x):
        yield from ((x, x + 1), (x, x - 1))
        return
    extremes = tuple(EXTREMES if records is None else records)
    if x is not None:
        if isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim):
            yield from datasets(extremes, claim, list(x))
        return
    if records is not None or callable(what):
        yield from datasets(extremes, claim)


def datasets(
    records: tuple[Input, ...], claim: Guarantee, x: list[Input] | None = None
) -> Iterator[Pair]:
    """Yield small datasets of these records and their neighbours under the claim's relation
    (add-remove where it names none).
    """
    bases = (
        [x]
        if x is not None
        else [[], [records[0]], [records[0]] * 3, [*records[:2]] * 4, [records[0]] * 10]
    )
    for base in bases:
        for record in records:
            if claim.relation == "replace":
                if base:
                    yield base, [record, *base[1:]]
            else:
                yield base, [*base, record]


def _additive(m: Additive) -> Iterator[Pair]:
    if m.grid is not None:
        move = float(m.sensitivity)
        yield from (
            (0.0, move),
            (-1 / 3, move - 1 / 3),
            (-move, 0.0),
            (1 / 3, 1 / 3 + move),
            (1e9, 1e9 + move),
        )
        return
    move = math.floor(m.sensitivity)
    yield from ((0, move), (-7, move - 7), (-move, 0), (1000, 1000 + move), (2**53, 2**53 + move))


def _selection(m: Selection | TopK) -> Iterator[Pair]:
    step = m.sensitivity if m.grid is None else m.grid * math.floor(m.sensitivity / m.grid)
    k = len(m.candidates) if m.candidates is not None else 4
    zero = [0 * step] * k
    up, down = step, (0 if m.monotone else -step)
    yield zero, [up] + [down] * (k - 1)
    yield zero, [0 * step] + [up] * (k - 1)
    yield zero, [up] + [0 * step] * (k - 1)
    if k > 1:
        yield (
            [step, *[0 * step] * (k - 1)],
            [0 * step if not m.monotone else step, step, *[0 * step] * (k - 2)],
        )
        yield [3 * step, 0 * step, *[0 * step] * (k - 2)], [3 * step + down, up, *[up] * (k - 2)]


def _keys(m: KeySelection) -> Iterator[Pair]:
    vote = int(getattr(m, "vote", 0) or getattr(m, "quanta", 1))
    even = int(getattr(m, "threshold", 0)) or _votes_for_half(m, vote)
    yield from dict.fromkeys(
        (votes, votes + vote)
        for votes in (0, vote, even - vote, even, even + vote, 2 * even)
        if votes >= 0
    )


def _votes_for_half(m: KeySelection, vote: int) -> int:
    """Find the fewest votes, in steps of one voter's, at which a group is named with probability ½
    or more: there draws reveal most.
    """
    low, high = 0, 1
    while m.keep_probability(high * vote) < 0.5:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if m.keep_probability(middle * vote) < 0.5 else (low, middle)
    return high * vote


def _response(m: RandomizedResponse) -> Iterator[Pair]:
    names = m.categories
    yield from ((names[0], name) for name in names[1:6])
    if len(names) > 6:
        yield names[-1], names[0]


def _oracle(m: Oracle) -> Iterator[Pair]:
    names = getattr(m, "categories", None)
    if names:
        yield from ((names[0], name) for name in names[1:4])
        yield names[-1], names[0]
        return
    low, high = getattr(m, "low", 0), getattr(m, "high", 1)
    yield from (
        (float(low), float(high)),
        (float(high), float(low)),
        (float(low), float(low + high) / 2),
        (math.nan, float(high)),
        ("", "a"),
    )


PAIRS: dict[type, Callable[[Any], Iterator[Pair]]] = {
    Additive: _additive,
    Channel: lambda channel: ((a, b) for a in channel.inputs for b in channel.inputs if a != b),
    KeySelection: _keys,
    Oracle: _oracle,
    RandomizedResponse: _response,
    Selection: _selection,
    TopK: _selection,
}
"""Types with known pairs."""


def _neighbours_of(what: object, x: Input) -> Iterator[Pair]:
    if isinstance(what, Additive) and not isinstance(x, bool):
        move = math.floor(what.sensitivity) if what.grid is None else float(what.sensitivity)
        if is_number(x):
            yield from ((x, x + move), (x, x - move))
        elif isinstance(x, list | tuple | np.ndarray) and len(x):
            yield from ((x, [x[0] + step, *x[1:]]) for step in (move, -move))
    names = getattr(what, "categories", None)
    if names and isinstance(what, RandomizedResponse | Oracle):
        yield from ((x, name) for name in names[:6] if not _same(x, name))


def are_neighbours(m: Additive, x: Input, y: Input) -> bool:
    """Whether two inputs differ by the sensitivity at most, in the mechanism's norm. True for
    inputs without a distance, such as NaN, so that the audit tries them.
    """
    try:
        moves = [
            Fraction(b) - Fraction(a) for a, b in zip(_coordinates(x), _coordinates(y), strict=True)
        ]
    except (TypeError, ValueError, OverflowError):
        return True
    most = Fraction(m.sensitivity) * (1 + _ROUNDED)
    return (
        sum(move * move for move in moves) <= most * most
        if isinstance(m, Gaussian | DiscreteGaussian)
        else sum(map(abs, moves)) <= most
    )


def _coordinates(value: Input) -> list[float | Fraction]:
    return np.asarray(value, dtype=object).ravel().tolist()


def _same(a: Input, b: Input) -> bool:
    try:
        return bool(a == b)
    except ValueError:
        return False
