"""The columns of Parquet files that can be read unchanged, with their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STORED = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "FLOAT": "float",
    "DOUBLE": "double",
}
"""DuckDB's name of a type that is read → Arrow's name."""


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """Parquet files, the names of their columns, and the numeric columns that can be read
    unchanged, with Arrow's names of their types.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    columns: Mapping[str, str]
