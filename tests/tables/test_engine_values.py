"""Guards around values: NaN is null, also where what a file states of its column leaves NaN out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables import engine_values as ev
from sfumato.tables.sources import open_source
from sfumato.testing.exact import through_the_door

ROWS = 1000
HIGH = 600  # of the values 0 … 998, so many are not above


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """One NaN; the statistics that Arrow writes say 0 to 998, as if it were not there."""
    values = np.arange(ROWS, dtype=np.float64)
    values[-1] = np.nan
    pq.write_table(pa.table({"x": values}), tmp_path / "one_nan.parquet")
    stated = pq.read_metadata(tmp_path / "one_nan.parquet").row_group(0).column(0).statistics
    assert (stated.min, stated.max) == (0.0, 998.0)
    return tmp_path / "one_nan.parquet"


def _by_nullif(value: Any) -> Any:
    import ibis

    return value.nullif(ibis.literal(float("nan"), type=value.type()))


def _known(path: Path, guard: Any) -> int:
    source = open_source(path, {}, "t")
    column = guard(source.table["x"])
    found = source.engine.run(source.table.filter(column >= HIGH).count().as_table()).column(0)[0].as_py()
    source.engine.close()
    return int(found)


def test_nan_is_null_whatever_a_file_states(path: Path) -> None:
    assert _known(path, ev.without_nan) == ROWS - 1 - HIGH


def test_a_comparison_with_nan_would_not_do(path: Path) -> None:
    """The twin: DuckDB decides x = NaN by the file's statistics, and the NaN is above every number."""
    assert _known(path, _by_nullif) == ROWS - HIGH


def test_sums_and_sides_leave_nan_out(path: Path) -> None:
    """Bounds that hold all values that are stated: nothing needs to be compared, and still the NaN is not added."""
    table = sf.protect(path, bounds={"x": (0, 1024)}, budget=sf.Pure(10), table_rows=2**20)
    asked = table.where(sf.col("x") >= 0).aggregate(n=sf.count("x"), total=sf.sum("x"), m=sf.median("x"), h=sf.histogram("x", edges=[0, 2000]))
    through = through_the_door(asked.plan(epsilon=1))
    step = next(piece.step for piece in through.pieces if piece.name.startswith("sum"))
    assert through.integers("count x").tolist() == [[ROWS - 1]]
    assert int(next(piece.values for piece in through.pieces if piece.name.startswith("sum"))[0, 0]) * step == sum(range(ROWS - 1))
    assert next(piece.values for piece in through.pieces if piece.name.startswith("clipped")).tolist() == [[0, ROWS - 1, 0]]
    assert next(piece.values for piece in through.pieces if piece.name.startswith("histogram")).tolist() == [[ROWS - 1]]
    table.close()
