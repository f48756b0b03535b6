"""The codes of this package's refusals. docs/reference/refusals.md has a row with an
example for each; tests compare.
"""

from __future__ import annotations

SQL_CODES: tuple[tuple[str, str], ...] = (
    ("sql.text", "no text, or one that is too long or has characters that no question needs"),
    ("sql.syntax", "the text cannot be read as SQL"),
    ("sql.depth", "nested too deeply, or made of too many parts"),
    ("sql.statement", "something else than a SELECT"),
    ("sql.statements", "several statements in one text"),
    ("sql.unsupported", "a construct that is not on the list"),
    ("sql.function", "a function that is not on the list"),
    ("sql.parameter", "a parameter without a value, or a value without a parameter"),
    ("sql.type", "a type that no column has"),
    ("sql.table", "a table that is not there"),
    ("sql.column", "a column that is not there, or is ambiguous"),
    ("sql.names", "two columns of an answer with one name"),
    ("sql.star", "SELECT * of a protected table"),
    ("sql.raw-rows", "a value of a row in the answer"),
    ("sql.unit", "a group for each unit"),
    ("sql.group", "a key that cannot be grouped by"),
    ("sql.aggregate", "an aggregate in a place, or of a kind, that has no safe answer"),
    ("sql.bounds", "a sum, mean or quantile of a column without bounds"),
    (
        "sql.distinct",
        "DISTINCT rows, DISTINCT in a sum, or of the unit and something else together",
    ),
    ("sql.released", "HAVING, ORDER BY or arithmetic on something that is not released"),
    ("sql.limit", "LIMIT or OFFSET that is no whole number, or over rows"),
    ("sql.order", "ORDER BY over rows"),
    ("sql.subquery", "a sub-query in an expression"),
    ("sql.ownership", "a sub-query whose rows belong to nobody"),
    ("sql.join", "a join"),
    ("sql.window", "a window function, or QUALIFY"),
    ("sql.set", "UNION, INTERSECT or EXCEPT"),
    ("sql.sample", "TABLESAMPLE"),
    ("sql.recursive", "WITH RECURSIVE"),
)
"""Every code of this package, and what it is about."""
