"""SQL: an analyst's language, parsed by us and never passed through.

A text becomes a tree (sqlglot, in DuckDB's dialect), the tree is read node by node against tables
of what is allowed, and what comes out is the query that the fluent form would make. What is not in
the tables is refused, with the place in the text, the reason and a rewrite. No engine sees a word
of the text.
"""

from .read_sql import Asked, condition, explains, read

__all__ = ["Asked", "condition", "explains", "read"]
