"""Examples for audits: how to build a mechanism for an ε, and hard pairs of neighbours for it.

*Name*     The mechanism's; a comma marks another setting of the same mechanism.
*Grown*    Datasets of which one has a record more: empty ones, ones that sit in one cell, and
           records far outside the range.
*Changed*  Datasets of one size that differ in one record, at the ends of the range and where a
           median turns.
*Once*     An audit looks for events in both directions, so a pair turned round is the same pair:
           five pairs are five without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...guarantees import Guarantee
from ..shared.mechanism import InputPair, Mechanism

Pairs = Callable[[Any], list[InputPair]]
DELTA = "1e-3"
"""Mechanisms with a δ of their own are audited at a δ that draws can see."""


def own_pairs(mechanism: Mechanism) -> list[InputPair]:
    """List the pairs that the mechanism states for all its settings."""
    return list(mechanism.audit_pairs())


def fixed(*pairs: InputPair) -> Pairs:
    """Return the same pairs for every mechanism."""
    return lambda _: list(pairs)


@dataclass(frozen=True, slots=True)
class AuditExample:
    """One mechanism or oracle to audit, in one setting."""

    name: str
    build: Callable[[float], Mechanism]
    pairs: Pairs = own_pairs
    at_once: bool = True  # one call gives all draws
    most: float = 5.0  # the largest ε that it can be built for
    slow: int = 1  # the survey divides its number of draws by this
    by_law: bool = False  # the survey uses arithmetic, though one call gives all draws
    claim: Callable[[Any], Guarantee] = lambda m: m.promise


GROWN = fixed(
    ([], [0.5]),
    ([0.5, 3.5], [0.5, 0.5, 3.5]),
    ([0.5, 1.5, 2.5], [0.5, 1.5, 2.5, 3.5]),
    ([3.5] * 9, [3.5] * 10),
    ([1.5] * 4, [1.5] * 4 + [-1e9]),
)
CHANGED = fixed(
    ([0] * 5, [0] * 4 + [10]),
    ([10] * 5, [0] + [10] * 4),
    ([0, 0, 10, 10, 5], [0, 0, 10, 10, 0]),
    ([0, 0, 0, 10, 10], [0, 0, 10, 10, 10]),
    ([1, 2, 3, 4, 5], [1, 2, 9, 4, 5]),
)
VECTORS = fixed(
    ([0, 0, 0], [1, 0, 0]),
    ([0, 0, 0], [0, 0, -1]),
    ([0, 0, 0], [0, 1, 0]),
    ([5, 5, 5], [5, 6, 5]),
    ([9, 0, -9], [9, 0, -8]),
)
STREAMS = fixed(
    ([0] * 4, [1, 0, 0, 0]),
    ([0] * 4, [0, 1, 0, 0]),
    ([0] * 4, [0, 0, 0, 1]),
    ([5, 5, 5, 5], [5, 6, 5, 5]),
    ([0, 0, 0, 0], [0, 0, -1, 0]),
)
