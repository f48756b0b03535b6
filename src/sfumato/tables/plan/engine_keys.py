"""Write public keys as the engine compares them, and keep the rows that have one of them.

*Few*       The statement itself lists few keys, and integers in a few runs.
*Many*      Long lists become a table, and the engine joins the rows to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING
from uuid import UUID

from ..declare.public_keys import Key
from ..engine.arrow_arrays import array
from ..expr.engine_values import constant
from ..expr.expressions import col
from ..expr.nodes import Columns
from ..expr.types import STRING, Type

if TYPE_CHECKING:
    import ibis.expr.types as ir

_FEW_KEYS = 64
_FEW_RUNS = 8


def engine_key_column(name: str, columns: Columns, schema: Mapping[str, Type]) -> ir.Value:
    """Return a key column as the engine compares it: a uuid as text, a moment in UTC. For floats
    NaN is no key, and −0 is 0.
    """
    return comparable(col(name).build(columns, schema), schema[name])


def comparable(value: ir.Value, column_type: Type) -> ir.Value:
    """Return a value in the form that compares equal exactly for equal keys."""
    import ibis

    if column_type.kind == "uuid":
        return value.cast("string")
    return value + ibis.literal(0.0, value.type()) if column_type.kind == "float" else value


def engine_key(key: Key) -> Key:
    """Return a public key as the engine writes it."""
    if isinstance(key, UUID):
        return str(key)
    return (
        key.astimezone(UTC).replace(tzinfo=None)
        if isinstance(key, datetime) and key.tzinfo is not None
        else key
    )


def engine_keys(domain: tuple[Key, ...], column_type: Type) -> list[Key]:
    """Return the public keys of a column as the engine writes them."""
    return (
        [engine_key(key) for key in domain]
        if column_type.kind in ("uuid", "timestamp")
        else list(domain)
    )


def is_inline(domain: tuple[Key, ...]) -> bool:
    """Tell whether the statement lists the keys itself: there are few, or few runs of them, and no
    text has a NUL, which ends a statement.
    """
    return (
        len(domain) <= _FEW_KEYS and not any(isinstance(key, str) and "\0" in key for key in domain)
    ) or 0 < len(_runs(domain)) <= _FEW_RUNS


def is_public_key(value: ir.Value, column_type: Type, domain: tuple[Key, ...]) -> ir.BooleanValue:
    """Build the condition that a value is one of the keys that the statement lists."""
    constant_type = STRING if column_type.kind == "uuid" else column_type.bare
    named, runs = [key for key in domain if key is not None], _runs(domain)
    if 0 < len(runs) <= _FEW_RUNS:  # quicker than any list
        condition = reduce(
            or_, (value.between(*(constant(end, constant_type) for end in run)) for run in runs)
        )
    else:
        condition = (
            value.isin([constant(engine_key(key), constant_type) for key in named])
            if named
            else value.isnull()
        )
    return condition | value.isnull() if None in domain and named else condition


def _runs(domain: tuple[Key, ...]) -> list[tuple[int, int]]:
    """Return the first and last integer of every run without a gap; [] if keys are not integers."""
    numbers = [key for key in domain if isinstance(key, int) and not isinstance(key, bool)]
    if len(numbers) < len(domain) - domain.count(None):
        return []
    numbers.sort()
    after = [i for i, (number, next_) in enumerate(pairwise(numbers), 1) if next_ > number + 1]
    return (
        [(numbers[first], numbers[last - 1]) for first, last in pairwise([0, *after, len(numbers)])]
        if numbers
        else []
    )


def join_keys(base: ir.Table, name: str, domain: tuple[Key, ...], declared: Type) -> ir.Table:
    """Keep the rows whose key is in a long list, by a join with it."""
    return join_paths(base, [name], [(key,) for key in domain], [declared])


def join_paths(
    base: ir.Table, names: Sequence[str], paths: Sequence[tuple[Key, ...]], types: Sequence[Type]
) -> ir.Table:
    """Keep the rows whose keys together are in a list, by a join with it. Builds the list as
    ibis.memtable does, which would import pandas.
    """
    import pyarrow as pa
    from ibis.expr.operations import InMemoryTable
    from ibis.expr.schema import Schema
    from ibis.formats.pyarrow import PyArrowTableProxy
    from ibis.util import gen_name

    kinds = [base[name].type() for name in names]
    columns = [tuple(path[i] for path in paths) for i in range(len(names))]
    keys = pa.table(
        {
            name: array(engine_keys(column, declared), kind.to_pyarrow())
            for name, column, declared, kind in zip(names, columns, types, kinds, strict=True)
        }
    )
    listed = InMemoryTable(
        gen_name("keys"), Schema(dict(zip(names, kinds, strict=True))), PyArrowTableProxy(keys)
    ).to_expr()
    same = [
        base[name].identical_to(listed[name]) if None in column else base[name] == listed[name]
        for name, column in zip(names, columns, strict=True)
    ]
    return base.semi_join(listed, same)
