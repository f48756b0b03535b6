"""Choices: the exponential mechanism and its kin, above threshold, and propose-test-release."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from sfumato import ZCDP, Approx, Pure

from .arithmetic import geometric, laws, mixed, shifted
from .case import Case, case
from .replay import Door, Noise, Program

Scores = tuple[int, ...]
_APPROX = Approx(1, "1e-6")


def without_exp(scores: Scores) -> Any:
    """Probabilities in proportion to the scores."""
    total = sum(scores)
    return (
        {i: Fraction(s, total) for i, s in enumerate(scores)}
        if total
        else {i: Fraction(1, len(scores)) for i in range(len(scores))}
    )


def exponential(rate: float) -> Callable[[Scores], Any]:
    def law(scores: Scores) -> Any:
        weights = [math.exp(rate * (s - max(scores))) for s in scores]
        return {i: w / sum(weights) for i, w in enumerate(weights)}

    return law


def permute_and_flip(scores: Scores) -> Any:
    """Of two candidates, at ε = 1: the better one, or with probability e^(−ε·regret/2)/2 the
    other.
    """
    worse, q = scores.index(min(scores)), math.exp(-abs(scores[0] - scores[1]) / 2) / 2
    return {worse: q, 1 - worse: 1 - q}


def first_above(x: Scores, *, values: bool) -> Any:
    """The first of some queries that lies above a noisy 0, with its noisy value or without; noise
    of scale 2 on the threshold, of scale 4 on the queries.
    """
    window, line, query = range(-40, 41), shifted(geometric(2), 0, -40, 40), geometric(4)
    result: dict[Hashable, float] = {"none": 0.0}
    for t in window:
        left = line[t]
        for i, q in enumerate(x):
            noisy = shifted(query, q, -80, 80)
            for v in range(t, 81):
                outcome = (i, v) if values else i
                result[outcome] = result.get(outcome, 0.0) + left * noisy[v]
            left *= query(t - 1 - q)
        result["none"] += left
    return result


def around(*scores: Scores) -> list[tuple[Scores, Scores]]:
    """Scores, and all that every one of which lies at most 1 from them."""
    return [(s, t) for s in scores for t in product(*((v - 1, v, v + 1) for v in s)) if s != t]


def counts(*scores: Scores) -> list[tuple[Scores, Scores]]:
    """Counts, and those with one person more or moved."""
    return [(s, t) for s, t in around(*scores) if min(t) >= 0]


def underflowing(data: list[int], door: Door) -> Any:
    """A quantile among 1 … 4 by weights e^(score/2), in doubles."""
    scores = [-abs(sum(v < c for v in data) - len(data) / 2) for c in (1, 2, 3, 4)]
    weights = [math.exp(s / 2) for s in scores]
    if not sum(weights):
        raise ZeroDivisionError("probabilities do not sum to 1")
    return door.choose(scores, Noise(1, 1, "inf"))


def in_logarithms(data: list[int], door: Door) -> Any:
    scores = [-abs(sum(v < c for v in data) - len(data) / 2) for c in (1, 2, 3, 4)]
    weights = [math.exp((s - max(scores)) / 2) for s in scores]
    assert sum(weights) >= 1
    return door.choose(scores, Noise(1, 1, "inf"))


MANY = [([0] * n, [0] * (n + 1)) for n in (0, 1, 10, 1490, 2980, 10_000)]


# Propose, test, release: the median of numbers up to 100, of which it is proposed that a record
# moves it by 1 at most.


def measured(data: Sequence[int]) -> tuple[int, int]:
    """How many records have to change before the median can move by more than 1, and the median."""
    x, m = sorted(data), len(data) // 2
    at = [*[0] * len(x), *x, *[100] * len(x)]
    moves = (
        max(at[len(x) + m + t] - at[len(x) + m + t - k - 1] for t in range(k + 2))
        for k in range(len(x))
    )
    return next((k for k, move in enumerate(moves) if move > 1), len(x)), x[m]


def proposed(
    threshold: Callable[[float], float], test: float, noise: float
) -> Callable[[Sequence[int]], Any]:
    """Released if D + Z reaches the threshold; Z of scale 1/test, the answer with noise of scale
    1/noise.
    """

    def law(data: Sequence[int]) -> Any:
        distance, median = measured(data)
        passes = geometric(1 / test)(distance - math.ceil(threshold(test)))
        return mixed(
            (passes, shifted(geometric(1 / noise), median, -80, 200)), (1, {"withheld": 1 - passes})
        )

    return law


MEDIANS = [
    ([0] * 21 + [1] * 8 + [100] * 12, [0] * 20 + [1] * 8 + [100] * 13),
    ([0] * 21 + [100] * 20, [0] * 20 + [100] * 21),
]

_QUERIES = [((0,) * n + (1,), (1,) * n + (0,)) for n in (1, 8, 16)]


CASES: dict[str, Case] = {
    "no-exponential": case(
        "the exponential mechanism without exp",
        "with it",
        "E-20",
        laws(without_exp, Pure(1), counts((1, 0), (3, 2, 0), (0, 0, 0))),
        laws(exponential(1 / 2), Pure(1), counts((1, 0), (3, 2, 0), (0, 0, 0))),
    ),
    "score-of-one-candidate": case(
        "score sensitivity of one candidate, not the largest",
        "the largest",
        "E-19",
        laws(exponential(1 / 2), Pure(1), [((0, 0), (0, 5))]),
        laws(exponential(1 / 10), Pure(1), [((0, 0), (0, 5))]),
    ),
    "monotone-by-mistake": case(
        "weights e^(ε·score) for scores that move both ways",
        "e^(ε·score/2)",
        "exponential mechanism",
        laws(exponential(1), Pure(1), around((0, 0), (2, 0, 1))),
        laws(exponential(1 / 2), Pure(1), around((0, 0), (2, 0, 1))),
    ),
    "flip-at-the-price-of-exp": case(
        "permute-and-flip at ρ = ε²/8",
        "the exponential mechanism, of which that is true",
        "B13, opendp#2911",
        laws(permute_and_flip, ZCDP("1/8"), around((0, 0), (1, 0))),
        laws(exponential(1 / 2), ZCDP("1/8"), around((0, 0), (1, 0))),
    ),
    "value-for-free": case(
        "above threshold that also says the noisy value, at the price of a yes",
        "says yes",
        "sparse vector",
        laws(partial(first_above, values=True), Pure(1), _QUERIES),
        laws(partial(first_above, values=False), Pure(1), _QUERIES),
    ),
    "underflow": case(
        "weights that underflow: an error from 2981 rows on",
        "weights relative to the best",
        "A6, smartnoise-sdk#572",
        Program(run=underflowing, pairs=MANY, claim=1),
        Program(run=in_logarithms, pairs=MANY, claim=1),
    ),
    "propose-test-release": case(
        "tests with all of ε against ln(2/δ)/(2ε), and releases with all of it",
        "tests with half against ln(1/(2δ))/(ε/2), releases with the other",
        "E-21",
        laws(proposed(lambda e: math.log(2e6) / (2 * e), 1, 1), _APPROX, MEDIANS),
        laws(proposed(lambda e: math.log(5e5) / e, 0.5, 0.5), _APPROX, MEDIANS),
    ),
}
