"""Public keys as an engine compares them, and the rows that have one of them.

*Few*       Short lists, and whole numbers in a few runs, stand in the statement itself.
*Many*      Long lists are a table of their own, which the rows are joined to.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any
from uuid import UUID

from ..declare.public_keys import Key
from ..engine.arrow_arrays import array
from ..expr.engine_values import constant
from ..expr.expressions import col
from ..expr.nodes import Columns
from ..expr.types import STRING, Type

_FEW_KEYS = 64
_FEW_RUNS = 8


def key(name: str, columns: Columns, schema: Mapping[str, Type]) -> Any:
    """A key as the engine compares it: a uuid as text, a moment in UTC; of floats, NaN is no key,
    and −0 is 0.
    """
    return compared(col(name).build(columns, schema), schema[name])


def compared(value: Any, known: Type) -> Any:
    """A value as it is compared with others of its column."""
    import ibis

    if known.kind == "uuid":
        return value.cast("string")
    return value + ibis.literal(0.0, value.type()) if known.kind == "float" else value


def engine_key(key: Key) -> Any:
    """A public key as the engine has it."""
    if isinstance(key, UUID):
        return str(key)
    return (
        key.astimezone(UTC).replace(tzinfo=None)
        if isinstance(key, datetime) and key.tzinfo is not None
        else key
    )


def engine_keys(domain: tuple[Key, ...], known: Type) -> list[Any]:
    """The public keys of a column as the engine has them."""
    return (
        [engine_key(key) for key in domain] if known.kind in ("uuid", "timestamp") else list(domain)
    )


def written(domain: tuple[Key, ...]) -> bool:
    """Whether keys are listed in the statement itself: there are few, or few runs of them, and no
    text has a NUL, which ends a statement.
    """
    return (
        len(domain) <= _FEW_KEYS and not any(isinstance(key, str) and "\0" in key for key in domain)
    ) or 0 < len(_runs(domain)) <= _FEW_RUNS


def among_keys(value: Any, known: Type, domain: tuple[Key, ...]) -> Any:
    """Whether a value is one of the keys that are listed in the statement."""
    written = STRING if known.kind == "uuid" else known.bare
    named, runs = [key for key in domain if key is not None], _runs(domain)
    if 0 < len(runs) <= _FEW_RUNS:  # quicker than any list
        found = reduce(
            or_, (value.between(*(constant(end, written) for end in run)) for run in runs)
        )
    else:
        found = (
            value.isin([constant(engine_key(key), written) for key in named])
            if named
            else value.isnull()
        )
    return found | value.isnull() if None in domain and named else found


def _runs(domain: tuple[Key, ...]) -> list[tuple[int, int]]:
    """Of integers, the first and the last of every run without a gap; nothing of other keys."""
    numbers = [key for key in domain if isinstance(key, int) and not isinstance(key, bool)]
    if len(numbers) < len(domain) - domain.count(None):
        return []
    numbers.sort()
    after = [i for i, (one, next_) in enumerate(pairwise(numbers), 1) if next_ > one + 1]
    return (
        [(numbers[first], numbers[last - 1]) for first, last in pairwise([0, *after, len(numbers)])]
        if numbers
        else []
    )


def joined(base: Any, name: str, domain: tuple[Key, ...], declared: Type) -> Any:
    """The rows whose key is in a long list: by a join with it. The list is made as ibis.memtable
    does, which would import pandas for it.
    """
    import pyarrow as pa
    from ibis.expr.operations import InMemoryTable
    from ibis.expr.schema import Schema
    from ibis.formats.pyarrow import PyArrowTableProxy
    from ibis.util import gen_name

    known = base[name].type()
    keys = pa.table({name: array(engine_keys(domain, declared), known.to_pyarrow())})
    listed = InMemoryTable(
        gen_name("keys"), Schema({name: known}), PyArrowTableProxy(keys)
    ).to_expr()
    return base.semi_join(listed, base[name].identical_to(listed[name]) if None in domain else name)
