"""Names from other libraries: an AttributeError that says what the same is called here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

from ..expr.types import Type
from . import query_refusals as refusals

if TYPE_CHECKING:
    from .stages import Rows

SHOWS_ROWS = frozenset(
    (
        *("head", "tail", "sample", "limit", "slice", "take", "first", "last", "show", "preview"),
        *("collect", "execute", "fetch", "fetchall", "fetchone", "fetchmany", "df", "pl", "arrow"),
        *("to_pandas", "to_polars", "to_arrow", "to_numpy", "to_dict", "to_list", "to_csv"),
        *("iloc", "loc", "iterrows", "itertuples", "values", "unique", "distinct", "glimpse"),
    )
)
"""Methods elsewhere that show rows or exact values."""

_MUTATE = "mutate(twice=2 * sf.col({number!r}))"
_COUNT = "count().release(epsilon=0.1)"
_DISTINCT = "aggregate(n=sf.count_distinct({key!r})).release(epsilon=0.1)"
_AGGREGATE = "aggregate({name}=sf.{name}({number!r})).release(epsilon=0.1)"

EQUIVALENTS = {
    "groupby": "group_by({key!r})",
    "query": "where(sf.col({number!r}) >= 0)",
    "assign": _MUTATE,
    "with_columns": _MUTATE,
    "summarize": "aggregate(n=sf.count())",
    "summarise": "aggregate(n=sf.count())",
    "value_counts": "group_by({key!r}).count().release(epsilon=0.1)",
    "hist": "aggregate(h=sf.histogram({number!r}, [0, 10, 20])).release(epsilon=0.1)",
    "quantile": "aggregate(q=sf.quantile({number!r}, 0.9)).release(epsilon=0.1)",
    "avg": "aggregate(mean=sf.mean({number!r})).release(epsilon=0.1)",
    "dtypes": "schema",
    "info": "describe()",
    **dict.fromkeys(("len", "size", "shape", "nrow", "height"), _COUNT),
    **dict.fromkeys(("nunique", "n_unique"), _DISTINCT),
    **dict.fromkeys(("mean", "sum", "median", "std", "var", "min", "max"), _AGGREGATE),
}
"""Name elsewhere → what to write here, with a number and a key of the table."""


class NamedByOthers:
    """Rows, tables and groups: a missing attribute names its equivalent, where there is one."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            if name in SHOWS_ROWS or name in EQUIVALENTS:
                rows = self.rows if hasattr(type(self), "rows") else self
                _refuse(rows, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _refuse(rows: Rows, name: str) -> NoReturn:
    table = rows.declaration.name
    if name in SHOWS_ROWS:
        raise refusals.ROWS_ARE_NOT_SHOWN(table=table, name=name)
    columns = {
        column: kind for column, kind in rows.schema.items() if column not in rows.declaration.unit
    }
    number = _first_column(columns, lambda kind: kind.numeric)
    key = _first_column(columns, lambda kind: not kind.numeric)
    rewrite = EQUIVALENTS[name].format(name=name, number=number, key=key)
    raise refusals.NAMED_OTHERWISE(table=table, name=name, rewrite=rewrite)


def _first_column(columns: Mapping[str, Type], fits: Callable[[Type], bool]) -> str:
    """Return the first column that fits, or else any: the rewrite is an example."""
    named: Iterable[str] = (column for column, kind in columns.items() if fits(kind))
    return next(iter([*named, *columns, "age"]))
