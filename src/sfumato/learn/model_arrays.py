"""Models of arrays: X and y become a protected table of one row for each person, and the columns of
X to predict for become Arrow columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..guarantees import Guarantee
from ..ledger import Ledger
from ..session.protected_table import Table
from ..tables.declare.declaration import declare
from ..tables.engine.sources import open_source
from . import learn_refusals as refusals
from .model_columns import Bounds, Keys, ModelColumns

if TYPE_CHECKING:
    import pyarrow as pa

Stated = TypeVar("Stated")

TARGET, DATASET = "y", "rows"
"""The names of the target and of the table that arrays become."""


def read_frame(X: object, names: Sequence[str] | None = None) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a frame, an Arrow table, a mapping or an array. The columns of an array
    without names are called x0, x1, …, or as `names` say.
    """
    import pyarrow as pa

    if isinstance(X, pa.Table):
        return {name: X.column(name) for name in X.column_names}
    if hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"):
        table = pa.Table.from_pandas(X) if hasattr(X, "iloc") else pa.table(X)
        return {name: table.column(name) for name in map(str, table.column_names)}
    if isinstance(X, Mapping):
        return {str(name): _column(values) for name, values in X.items()}
    values = np.asarray(X)
    if values.ndim != 2:
        raise refusals.COLUMNS_MISSING(
            place=f"an array of {values.ndim} dimensions", columns=", ".join(names or ["x0", "x1"])
        )
    listed = names or [f"x{i}" for i in range(values.shape[1])]
    if len(listed) != values.shape[1]:
        raise refusals.COLUMNS_MISSING(
            place=f"an array of {values.shape[1]} columns", columns=", ".join(listed)
        )
    return {name: _column(values[:, i]) for i, name in enumerate(listed)}


def read_features(X: object, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Return these columns of data to predict for; refuse data without one of them."""
    columns = read_frame(X, names)
    for name in names:
        if name not in columns:
            raise refusals.COLUMNS_MISSING(place=f"no column {name}", columns=", ".join(names))
    return {name: columns[name] for name in names}


def protect_arrays(
    X: object,
    y: object,
    promise: Guarantee,
    bounds: Bounds | None,
    keys: Keys | None,
    ledger: Ledger | None,
) -> ModelColumns:
    """Return the columns of a table of X and y, one row for each person; y may be None."""
    import pyarrow as pa

    columns = read_frame(X)
    features = tuple(columns)
    target = _target_name(columns)
    stated_bounds = _rename(bounds, target) if isinstance(bounds, Mapping) else bounds
    stated_keys = _rename(keys, target)
    if y is not None:
        values = _column(np.asarray(y))
        rows = len(next(iter(columns.values()), values))
        if len(values) != rows:
            raise refusals.ARRAYS_DIFFER()
        columns = {**columns, target: values}
    source = open_source(pa.table(columns), None, DATASET)
    try:
        declared = declare(name=DATASET, schema=source.schema, left_out=source.left_out)
        book = ledger or Ledger.open(
            None,
            budget=promise,
            dataset=DATASET,
            unit="row",
            relation="add-remove",
            schema={column: str(kind) for column, kind in declared.types},
        )
    except BaseException:
        source.engine.close()
        raise
    table = Table(declared, source, book, durable=False)
    return ModelColumns.of(
        table, target, features, stated_bounds, stated_keys, has_target=y is not None
    )


def _target_name(columns: Iterable[str]) -> str:
    name = TARGET
    while name in columns:
        name += "_"
    return name


def _rename(stated: Mapping[str, Stated] | None, target: str) -> dict[str, Stated]:
    """Return what is stated by column; None stands for the target."""
    return {
        target if name is None else name if isinstance(name, str) else f"x{name}": value
        for name, value in (stated or {}).items()
    }


def _column(values: object) -> pa.ChunkedArray:
    """Return values as an Arrow column."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        values = values.tolist()
    try:
        return pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values)])
    except (pa.ArrowException, NotImplementedError, TypeError, ValueError):
        raise refusals.ARRAYS_DIFFER() from None  # what Arrow says may quote a value
