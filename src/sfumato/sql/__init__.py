"""Read SQL of analysts: parse it, check every node, and build the query of the fluent form.

sqlglot parses a text in DuckDB's dialect. This package reads the tree node by node against tables
of allowed constructs, and builds the same query as `where`, `group_by` and `aggregate` would. It
refuses every other construct with the place in the text, the reason and a rewrite. No engine sees
a word of the text.
"""

from .catalog_statements import described_table, find_table
from .inner_values import find_inner_values
from .read_sql import (
    UnresolvedQuery,
    condition,
    explains,
    find_synthetic,
    read,
    read_synthetic,
    with_working_rewrite,
)
from .select import ParsedQuery

__all__ = [
    "ParsedQuery",
    "UnresolvedQuery",
    "condition",
    "described_table",
    "explains",
    "find_inner_values",
    "find_synthetic",
    "find_table",
    "read",
    "read_synthetic",
    "with_working_rewrite",
]
