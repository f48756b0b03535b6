"""Dominating pairs as stored text: a kind and exact numbers, read back as equal pairs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..guarantees.stored import ratio
from .pairs import GaussianPair, LaplacePair, Pair
from .pairs_finite import FinitePair, ResponsePair
from .pairs_sampled import ClonePair, RoundedPair, SampledPair


def record_of(pair: Pair) -> dict[str, Any]:
    """Names and texts."""
    return {"kind": pair.kind, **pair.numbers()}


def pair_from(stored: dict[str, Any]) -> Pair:
    """The pair of a record; a KeyError or ValueError where it is none."""
    return _READERS[stored["kind"]](stored)


def _whole(written: Any, least: int = 1) -> int:
    number = ratio(written)
    if number.denominator != 1 or number < least:
        raise KeyError(written)
    return int(number)


def _positive(written: Any) -> Fraction:
    number = ratio(written)
    if number <= 0:
        raise KeyError(written)
    return number


def _not_negative(written: Any) -> Fraction:
    number = ratio(written)
    if number < 0:
        raise KeyError(written)
    return number


def _share(written: Any) -> Fraction:
    number = _not_negative(written)
    if number >= 1:
        raise KeyError(written)
    return number


def _finite(stored: dict[str, Any]) -> FinitePair:
    p, q = (tuple(_not_negative(number) for number in stored[name]) for name in "pq")
    if len(p) != len(q) or sum(p) != 1 or sum(q) != 1:
        raise KeyError("p")
    return FinitePair(p, q)


def _sampled(stored: dict[str, Any]) -> SampledPair:
    how, rate = stored["how"], _share(stored["rate"])
    if how not in ("poisson", "fixed") or not rate or stored["base"]["kind"] == "sampled":
        raise KeyError(how)
    return SampledPair(pair_from(stored["base"]), rate, how)


_READERS: dict[str, Callable[[dict[str, Any]], Pair]] = {
    "gaussian": lambda r: GaussianPair(_positive(r["mu_squared"])),
    "laplace": lambda r: LaplacePair(_positive(r["epsilon"]), _whole(r["steps"]) if "steps" in r else None),
    "response": lambda r: ResponsePair(_not_negative(r["epsilon"]), _share(r["delta"]), _whole(r["categories"], 2)),
    "finite": _finite,
    "rounded": lambda r: RoundedPair(_whole(r["steps"]), _positive(r["sigma"])),
    "clone": lambda r: ClonePair(_positive(r["epsilon"]), _whole(r["n"])),
    "sampled": _sampled,
}
