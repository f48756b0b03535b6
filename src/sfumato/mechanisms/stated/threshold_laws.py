"""The laws of all answers of `AboveThreshold`, and its examples for audits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..shared.mechanism import InputPair
from .audit_example import AuditExample, fixed
from .stated_laws import FiniteLaws, as_integer

if TYPE_CHECKING:
    from ..above_threshold import AboveThreshold

DOUBT = 1e-10
"""Error of ln of a ratio of two chances of answers, which are sums in doubles."""
FARTHEST = 100_000
"""Values of queries farther away from the threshold have no law here."""
MOST_QUERIES = 10


def threshold_examples(kind: type[AboveThreshold]) -> list[AuditExample]:
    """List queries that move against each other, and queries that all move one way."""
    one_way = fixed(
        ([0], [1]),
        ([0, 0], [0, 1]),
        ([0, 0, 0], [1, 1, 1]),
        ([1, 1, 0], [0, 0, 0]),
        ([0] * 5, [0, 0, 0, 0, 1]),
    )
    return [
        AuditExample(
            "AboveThreshold", lambda e: kind(sensitivity=1, epsilon=e), _query_pairs, at_once=False
        ),
        AuditExample(
            "AboveThreshold, monotone",
            lambda e: kind(sensitivity=1, epsilon=e, monotone=True),
            one_way,
            at_once=False,
        ),
    ]


def _query_pairs(m: AboveThreshold) -> list[InputPair]:
    """The last pair loses nearly all of the promised ε, by rare answers: no far above the
    threshold, then yes far below it.
    """
    far = math.ceil(40 / m.epsilon)
    return [
        ([0, 0, 0], [1, 1, -1]),
        ([0] * 6, [-1] * 5 + [1]),
        ([0, 0, 0, 0], [-1, -1, -1, 1]),
        ([1], [0]),
        ([-1, -1, 1], [0, 0, 0]),
        ([far] * 3 + [-far], [far - 1] * 3 + [1 - far]),
    ]


def threshold_laws(m: AboveThreshold, x: Sequence[int], y: Sequence[int]) -> FiniteLaws | None:
    """State the laws of the answers to all queries, for a threshold of 0."""
    if len(x) > MOST_QUERIES:
        return None
    values_x, values_y = ([as_integer(value) for value in values] for values in (x, y))
    if max(map(abs, (*values_x, *values_y)), default=0) > FARTHEST:
        return None
    return FiniteLaws.between(answer_law(m, values_x), answer_law(m, values_y), DOUBT)


def answer_law(m: AboveThreshold, values: Sequence[int]) -> dict[tuple[bool, ...], float]:
    """Compute P(answers) for a threshold of 0, in doubles. Given the noisy threshold the queries
    are independent. The sum over noisy thresholds goes beyond all values, because rare answers come
    from there; farther out the chance of a threshold falls by e^(−50) while that of its answers
    stays.
    """
    rates = [1 / float(law.scale) for law in (m.threshold_law, m.query_law)]
    far = int(50 / rates[0]) + 50 + max((abs(int(v)) for v in values), default=0)
    levels = np.arange(-far, far + 1)
    weight = np.tanh(rates[0] / 2) * np.exp(-rates[0] * np.abs(levels))
    yes = [_geometric_tail(levels - int(v), rates[1]) for v in values]
    no = [_geometric_tail(int(v) + 1 - levels, rates[1]) for v in values]
    chances: dict[tuple[bool, ...], float] = {}

    def walk(answers: tuple[bool, ...], mass: NDArray[np.float64], left: int) -> None:
        if not left or len(answers) == len(values):
            chances[answers] = float(mass.sum())
            return
        walk((*answers, True), mass * yes[len(answers)], left - 1)
        walk((*answers, False), mass * no[len(answers)], left)

    walk((), weight, m.answers)
    return chances


def _geometric_tail(z: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """P(Z ≥ z) = q^z/(1 + q) for z ≥ 1, q = e^(−rate); the rest by symmetry."""
    small = np.exp(-rate * np.where(z >= 1, z, 1 - z)) / (1 + np.exp(-rate))
    tail: NDArray[np.float64] = np.where(z >= 1, small, 1 - small)
    return tail
