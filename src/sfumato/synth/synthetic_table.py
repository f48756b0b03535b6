"""A synthetic table that may be published: its rows, its cost, how far it is from the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..answers.answer_records import Paid
from ..guarantees import Guarantee
from ..tables.expr.types import Type
from ..tables.plan.row_codes import CodedColumn
from ..templates.summary import Summarized, Summary
from .column_cells import draw_values
from .error_certificate import Certificate
from .scatter import Scatter

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTable(Summarized):
    """Rows of invented people whose counts are near those of the data."""

    columns: tuple[CodedColumn, ...]
    schema: Mapping[str, Type]
    codes: NDArray[np.uint16]  # rows × columns
    errors: Certificate
    cost: Guarantee
    receipt: Paid
    facts: Mapping[str, object]

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _table(self) -> pa.Table:
        import pyarrow as pa

        scatter = Scatter(0)
        return pa.table(
            {
                column.name: draw_values(
                    column,
                    self.schema[column.name],
                    self.codes[:, i].astype(np.int64),
                    scatter,
                )
                for i, column in enumerate(self.columns)
            }
        )

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a data frame."""
        return self._table.to_pandas()

    def to_parquet(self, path: str | Path) -> None:
        """Write the rows to a Parquet file."""
        import pyarrow.parquet as pq

        pq.write_table(self._table, path)

    def to_csv(self, path: str | Path) -> None:
        """Write the rows to a CSV file."""
        import pyarrow.csv as csv

        csv.write_csv(self._table, path)

    def certificate(self) -> Certificate:
        """Return the error of every column and every pair of columns, with intervals."""
        return self.errors

    def card(self) -> dict[str, object]:
        """Return what was released, at which cost, and what to trust, for machines and people."""
        return {
            "synthetic_table": 1,
            **self.facts,
            "rows": len(self),
            "cost": self.cost.to_json(),
            "receipt": [self.receipt.number, self.receipt.digest, self.receipt.when],
            "certificate": [
                {"columns": list(each.columns), "error": each.error, "low": each.low}
                | {"high": each.high}
                for each in self.errors.errors()
            ],
        }

    def plot(self) -> Figure:
        """Draw the error of every pair, and on the diagonal of every column."""
        from ..plots.error_squares import draw_error_squares

        return draw_error_squares([column.name for column in self.columns], self.errors.matrix())

    def _summary(self) -> Summary:
        table = self._table.slice(0, 5)
        rows = [tuple(str(value) for value in row.values()) for row in table.to_pylist()]
        worst = max(self.errors.errors(), key=lambda each: each.error)
        return Summary(
            title=f"synthetic table of {len(self):,} rows · {self.cost.numbers_text}",
            heads=tuple(table.column_names),
            rows=rows,
            hidden=max(0, len(self) - len(rows)),
            notes=[
                f"mean error of pairs {self.errors.mean:.4f}",
                f"largest {worst.error:.4f} ({worst.low:.4f} … {worst.high:.4f}) in "
                + " × ".join(worst.columns),
                f"receipt {self.receipt.number} of {self.receipt.when[:10]}",
            ],
        )
