"""The keywords of a census, written once: names, types, defaults, and a line about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypedDict

from ..exact.numbers import Number
from ..tables.declare.declaration import Key
from ..tables.declare.place_hierarchy import PlaceHierarchy

Marginal = str | tuple[str, ...]
"""A table: an attribute, several attributes, "total" or "detail"."""
Weighted = Iterable[Marginal] | Mapping[Marginal, Number]
PlaceName = Key | tuple[Key, ...]
ByPlace = Mapping[str, Mapping[PlaceName, int]]
"""Numbers by level and place."""


class CensusOptions(TypedDict, total=False):
    """What is counted where, and for which cost."""

    geography: PlaceHierarchy | Sequence[str]
    cells: Iterable[str] | Mapping[str, Iterable[Key]]
    tables: Weighted | Mapping[str, Weighted] | None
    levels: Mapping[str, Number] | None
    rho: Number | None
    epsilon: Number | None
    delta: Number | None
    public: ByPlace | None
    at_least: ByPlace | None
    impossible: Iterable[Mapping[str, object]]


class CensusRelease(CensusOptions, total=False):
    """The keywords of a release, with who pays."""

    share: str | None
    fresh: bool
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusSettings:
    """The values of all keywords of a census; those not stated have their defaults."""

    geography: PlaceHierarchy | Sequence[str]
    cells: Iterable[str] | Mapping[str, Iterable[Key]]
    tables: Weighted | Mapping[str, Weighted] | None = None
    levels: Mapping[str, Number] | None = None
    rho: Number | None = None
    epsilon: Number | None = None
    delta: Number | None = None
    public: ByPlace | None = None
    at_least: ByPlace | None = None
    impossible: Iterable[Mapping[str, object]] = ()
    share: str | None = None
    fresh: bool = False
    timeout: float | None = None


DEFAULTS = {field.name: field.default for field in fields(CensusSettings)} | {
    "geography": None,
    "cells": None,
}

EXPLAINED = {
    "table": "a protected table: one row for each unit, with columns for all levels and attributes",
    "geography": "an sf.hierarchy, or the columns of a declared one, from large places to small",
    "cells": "the attributes that are counted; those without declared keys with their public keys",
    "tables": "the tables measured at every level, with weights: {'total': 2, ('sex', 'age'): 1}",
    "levels": "the weight of each level in the budget: {'county': 2, 'block': 1}",
    "rho": "the cost of everything together, as zCDP",
    "epsilon": "the cost as ε, with delta=, in place of rho=",
    "delta": "the δ of that cost",
    "public": "totals that are public already, by level and place: {'state': {'A': 5_024_279}}",
    "at_least": "least totals that are public, by level and place: {'block': {'A1b': 3}}",
    "impossible": "cells that cannot hold anybody: [{'age': '0-17', 'vote': True}]",
    "share": "the share of the budget that pays",
    "fresh": "whether to pay for a new release, where the same one is stored",
    "timeout": "the seconds that the engine has; the charge stays if it needs more",
}
"""Keyword → what it means, for `help()`."""
