"""List the columns of a table with what the owner declared about each. Nothing comes from data."""

from __future__ import annotations

from collections.abc import Container, Mapping
from fractions import Fraction

from ...exact.numbers import text
from ..expr.types import Type
from .learned_limits import NOT_LEARNED, LearnedLimits
from .public_keys import Key

HEADS = ("column", "type", "declared")
_KEYS_SHOWN = 6


def describe_columns(
    types: Mapping[str, Type],
    ranges: Mapping[str, tuple[Fraction, Fraction]],
    domains: Mapping[str, tuple[Key, ...]],
    unit: Container[str] = (),
    learned: LearnedLimits = NOT_LEARNED,
) -> list[tuple[str, str, str]]:
    """Return a row for each column: its name, its type, and its unit, bounds and public keys."""
    learned_bounds = dict(learned.bounds)
    rows = []
    for column, kind in types.items():
        facts = ["unit"] if column in unit else []
        if column in ranges:
            low, high = ranges[column]
            mark = " (learned)" if column in learned_bounds else ""
            facts.append(f"between {text(low)} and {text(high)}{mark}")
        if domains.get(column):
            facts.append(_describe_keys(domains[column]))
        rows.append((column, str(kind), " · ".join(facts)))
    return rows


def _describe_keys(keys: tuple[Key, ...]) -> str:
    first = ", ".join("null" if key is None else str(key) for key in keys[:_KEYS_SHOWN])
    count = "1 public key" if len(keys) == 1 else f"{len(keys)} public keys"
    return f"{count}: {first}{', …' if len(keys) > _KEYS_SHOWN else ''}"
