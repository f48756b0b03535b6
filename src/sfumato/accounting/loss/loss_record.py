"""Dominating pairs as stored text: a kind and exact numbers, read back as equal pairs. What a pair
may be made of, its constructor alone decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...guarantees.stored_guarantee import only, ratio
from .loss_pairs import GaussianPair, LaplacePair, Pair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ClonePair, RoundedPair, SampledPair


def record_of(pair: Pair) -> dict[str, Any]:
    """Names and texts."""
    return {"kind": pair.kind, **pair.numbers()}


def pair_from(stored: dict[str, Any]) -> Pair:
    """The pair of a record; a ValueError, of which Refused is one, or a KeyError where it is
    none.
    """
    found = READERS[stored["kind"]](stored)
    only(stored, record_of(found), "count")
    return found


def whole_from(written: Any) -> int:
    """A whole number, written as the ratio that it is."""
    number = ratio(written)
    if number.denominator != 1:
        raise ValueError("not a whole number")
    return int(number)


READERS: dict[str, Callable[[dict[str, Any]], Pair]] = {
    "gaussian": lambda r: GaussianPair(ratio(r["mu_squared"])),
    "laplace": lambda r: LaplacePair(
        ratio(r["epsilon"]), whole_from(r["steps"]) if "steps" in r else None
    ),
    "response": lambda r: ResponsePair(
        ratio(r["epsilon"]), ratio(r["delta"]), whole_from(r["categories"])
    ),
    "finite": lambda r: FinitePair(tuple(map(ratio, r["p"])), tuple(map(ratio, r["q"]))),
    "rounded": lambda r: RoundedPair(whole_from(r["steps"]), ratio(r["sigma"])),
    "clone": lambda r: ClonePair(ratio(r["epsilon"]), whole_from(r["n"])),
    "sampled": lambda r: SampledPair(pair_from(r["base"]), ratio(r["rate"]), r["how"]),
}
"""The kinds of pairs, and how each is read."""
