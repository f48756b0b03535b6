"""Candidate pairs of neighbouring inputs, and the search for the worst of them.

*Search*    Every pair is tried with a few draws (by arithmetic, where the audit is exact), and the
            one that promises most is audited: on new draws, so the search costs nothing of the
            confidence.
*Kinds*     Of a mechanism, the pairs that it states (`audit_pairs`). Of a function of a dataset,
            empty and small ones, each with one record more, less or another, records among
            extremes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ..guarantees import Guarantee
from ..guarantees.finite.channel import Channel
from ..mechanisms.shared.categories import is_same
from ..mechanisms.shared.mechanism import Mechanism
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
        and callable(runner.of)
        and not isinstance(runner.of, Mechanism | Channel)
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


def _only_errors(runner: Runner, tried: list[Pair]) -> bool:
    inputs = [value for pair in tried for value in pair]
    return all(
        isinstance(output, Error) for value in inputs for output in list(runner.draw(value, 1))
    )


def candidate_pairs(
    what: object, claim: Guarantee, x: Input = None, records: Iterable[Input] | None = None
) -> Iterator[Pair]:
    """Yield candidate pairs of neighbours, those that it states, or datasets."""
    if pairs := _stated_pairs(what):
        yield from (pair for pair in pairs if x is None or is_same(pair[0], x))
        if x is not None and isinstance(what, Mechanism):
            yield from what.neighbours_of(x)
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


def _stated_pairs(what: object) -> list[Pair]:
    if isinstance(what, Channel):
        return [(a, b) for a in what.inputs for b in what.inputs if a != b]
    return what.audit_pairs() if isinstance(what, Mechanism) else []


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
