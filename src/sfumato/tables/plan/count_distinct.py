"""Count different values by truncation: at most `max_rows` values of each unit count, and a value
counts once, whichever units have it.

*Steps*         The different (group, value) of each unit; of these at most k = `max_rows`, those
                with the smallest keyed hash; then the different (group, value) of all units,
                counted in each group. Null is no value, as in SQL.
*Sensitivity*   What a unit keeps depends on its own rows alone. Whoever comes or goes brings or
                takes at most k pairs: L1 ≤ k and L2 ≤ k over all groups; under replace at most k go
                and k come: L1 ≤ 2k, L2 ≤ √2·k, and one number alone moves by at most k.
*Low*           What only busy people have may be left out: the count is never above that of all
                values.
*Proof*         docs/proofs/tables.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..expr.relational import group, select
from .bounding import truncate_rows

if TYPE_CHECKING:
    import ibis.expr.types as ir

VALUE = "v0"


def distinct_counts(
    base: ir.Table, limit: int, units: list[str], keys: list[str], secret: str
) -> ir.Table:
    """Count the different values in every group, as the column `votes`, of rows with units, keys
    and a value.
    """
    names = [*units, *keys, VALUE]
    pairs = select(
        base, {name: base[name] for name in names}, [base[VALUE].notnull()], distinct=bool(units)
    )
    truncated = truncate_rows(pairs, limit, units, secret) if units else pairs
    named = select(truncated, {name: truncated[name] for name in [*keys, VALUE]}, distinct=True)
    return group(named, keys, {"votes": named.count()})
