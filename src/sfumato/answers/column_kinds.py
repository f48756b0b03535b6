"""The kinds of columns of an answer: those of the aggregates, and columns computed from others.
`tables.aggregates` has a module for each family of aggregates, with its finishing.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import cast

from ..tables.aggregates import KINDS as AGGREGATE_KINDS
from ..tables.aggregates.column_kind import ColumnKind

COMPUTED = ColumnKind(name="computed", pieces=0, error_of="size", ranks_groups=False)
"""A column computed from other columns: see `formula`."""

KINDS: Mapping[str, ColumnKind] = ChainMap(
    {COMPUTED.name: COMPUTED}, cast("dict[str, ColumnKind]", AGGREGATE_KINDS)
)
"""Every kind of column, by its name."""
