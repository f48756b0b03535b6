"""Dominating pairs as stored text: a kind and exact numbers, which read back as an equal pair. The
constructor of a pair checks its numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from ...guarantees.stored_guarantee import StoredFields, check_fields, ratio
from .loss_pairs import DominatingPair, GaussianPair, LaplacePair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ClonePair, RoundedPair, SampledPair


def record_of(pair: DominatingPair) -> dict[str, object]:
    """Return the stored record of a pair."""
    return {"kind": pair.kind, **pair.numbers()}


def pair_from(stored: StoredFields) -> DominatingPair:
    """Read a pair from its record. Raise ValueError (Refused is one) or KeyError for any other
    record.
    """
    pair = READERS[stored["kind"]](stored)
    check_fields(stored, record_of(pair), "count")
    return pair


def integer_from(stored: object) -> int:
    """Read a whole number that is stored as a ratio."""
    number = ratio(stored)
    if number.denominator != 1:
        raise ValueError("not a whole number")
    return int(number)


READERS: dict[str, Callable[[StoredFields], DominatingPair]] = {
    "gaussian": lambda r: GaussianPair(ratio(r["mu_squared"])),
    "laplace": lambda r: LaplacePair(
        ratio(r["epsilon"]), integer_from(r["steps"]) if "steps" in r else None
    ),
    "response": lambda r: ResponsePair(
        ratio(r["epsilon"]), ratio(r["delta"]), integer_from(r["categories"])
    ),
    "finite": lambda r: FinitePair(tuple(map(ratio, r["p"])), tuple(map(ratio, r["q"]))),
    "rounded": lambda r: RoundedPair(integer_from(r["steps"]), ratio(r["sigma"])),
    "clone": lambda r: ClonePair(ratio(r["epsilon"]), integer_from(r["n"])),
    "sampled": lambda r: SampledPair(pair_from(r["base"]), ratio(r["rate"]), r["how"]),
}
"""The kinds of pairs, with a reader for each."""
