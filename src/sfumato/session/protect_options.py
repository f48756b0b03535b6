"""The keywords of `protect`, written once: names, types, defaults, and a line about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypedDict

from ..exact.numbers import Number
from ..ledger import Ledger
from ..tables.declare.declaration import TABLE_ROWS
from ..tables.declare.learned_limits import LearnedLimits
from ..tables.declare.place_hierarchy import DeclaredKeys

Source = Any  # a path, a frame of any library, an Ibis table: `open_source` examines it
Bounds = tuple[Number, Number]
Limit = int | Mapping[str, int]
"""A limit for all tables, or one by table."""


class DeclareOptions(TypedDict, total=False):
    """The keywords that one table and several tables share."""

    name: str | None
    ledger: str | Path | Ledger | None
    bounds: Mapping[str, Bounds] | None
    keys: DeclaredKeys | None
    types: Mapping[str, str] | None
    relation: str
    bounding: str
    version: str


class TableOptions(DeclareOptions, total=False):
    """The keywords for one table."""

    table: str | None
    max_rows: int | None
    max_groups: int | None
    table_rows: int
    learned: LearnedLimits | None
    each_row_a_person: bool


class DatabaseOptions(DeclareOptions, total=False):
    """The keywords for several tables."""

    links: Mapping[str, str] | None
    public: Mapping[str, Source] | None
    max_rows: Limit | None
    max_groups: Limit | None
    table_rows: Limit
    learned: Mapping[str, LearnedLimits] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectSettings:
    """The values of all keywords of `protect`; those not stated have their defaults."""

    name: str | None = None
    table: str | None = None
    links: Mapping[str, str] | None = None
    public: Mapping[str, Source] | None = None
    ledger: str | Path | Ledger | None = None
    bounds: Mapping[str, Bounds] | None = None
    keys: DeclaredKeys | None = None
    types: Mapping[str, str] | None = None
    max_rows: Limit | None = None
    max_groups: Limit | None = None
    table_rows: Limit = TABLE_ROWS
    relation: str = "add-remove"
    bounding: str = "weights"
    version: str = ""
    learned: LearnedLimits | Mapping[str, LearnedLimits] | None = None
    each_row_a_person: bool = False


DEFAULTS = {field.name: field.default for field in fields(ProtectSettings)}

EXPLAINED = {
    "source": "a file, a frame, a Spark or Ibis table, a PostgreSQL URL; several tables by name",
    "budget": "the total cost of all answers: a number means (ε, 10⁻⁶), or any Guarantee",
    "unit": "the column or columns that name whom a row is about; without it, each row is a person",
    "name": "the name of the table in SQL and in the ledger; without it, that of the file",
    "table": "the table to protect, of a database given by its URL",
    "links": "several tables: columns that refer to others, {'visits.patient_id': 'patients.id'}",
    "public": "several tables: public tables to join, by name",
    "ledger": "a path, a PostgreSQL URL or an open Ledger; without it, it ends with this process",
    "bounds": "the lowest and highest value of columns, {'age': (0, 120)}: values are clamped",
    "keys": "the public groups of columns, {'city': ['Roma', 'Bari']}, or an sf.hierarchy",
    "types": "the types of columns whose source has none, {'age': 'int64'}",
    "max_rows": "how many rows of a unit count; of several tables a number, or one by table",
    "max_groups": "in how many groups a unit counts",
    "table_rows": "an upper bound on the rows of the table",
    "relation": "what one unit may change unseen: 'add-remove' its rows, or 'replace' them",
    "bounding": "how to keep to max_rows: 'weights' scales rows down, 'truncation' drops some",
    "version": "your label of the state of the data: a new one makes new questions",
    "each_row_a_person": "say so where there is no unit: no warning about columns like user_id",
    "learned": "limits that were learned before, of a declaration: declaration.learned",
}
"""Keyword → what it means, for `help()`."""
