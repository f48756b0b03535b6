"""The refusals of synthetic tables. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

NOT_A_PROTECTED_TABLE = RefusalText(
    "synth.table",
    "synthesize({kind:.40})",
    "a synthetic table is made of a protected table of this process",
    "visits = sf.protect('visits.parquet', budget=3)",
)
COLUMNS_UNKNOWN = RefusalText(
    "synth.columns",
    "columns={columns!s:.120}",
    "columns are a list of different columns of the table, without those that name the unit: "
    "{names:.200}",
    "columns=[{first!r:.60}]",
)
COLUMN_WITHOUT_CELLS = RefusalText(
    "synth.cells",
    "column {column!r:.60}",
    "its values are counted in public cells, and it has neither public keys nor bounds",
    "{rewrite:.200}",
)
TOO_MANY_CELLS = RefusalText(
    "synth.cells",
    "column {column!r:.60}: {cells:,} cells",
    "a column has from 2 to {most:,} cells",
    "bins={{{column!r:.60}: 50}}",
)
BINS_UNKNOWN = RefusalText(
    "synth.bins",
    "bins={bins!s:.120}",
    "bins are a number of spans for a column with bounds, or rising edges of the column's type, by "
    "name",
    "bins={{{column!r:.60}: 20}}",
)
TOO_MANY_PAIRS = RefusalText(
    "synth.columns",
    "{columns} columns",
    "a synthetic table has at most {most} columns: every pair of them is measured",
    "columns=[{first!r:.60}, {second!r:.60}]",
)
IMPOSSIBLE_UNKNOWN = RefusalText(
    "synth.impossible",
    "impossible: {cells!s:.80}",
    "a combination names two columns or more, with a public key of each, or None for no value",
    "impossible=[{{{column!r:.40}: None, 'vip': True}}]",
)
ROWS_OUT_OF_RANGE = RefusalText(
    "synth.rows",
    "rows={rows!s:.40}",
    "rows are a whole number from 1 to {most:,}; without it, a noisy count of the data",
    "rows=10_000",
)
DELTA_MISSING = RefusalText(
    "synth.cost",
    "{promise!s:.60}",
    "the tables are measured with Gaussian noise, which needs a δ, a ρ or a μ",
    "epsilon=1, delta=1e-9",
)
PROMISE_BEYOND_BUDGET = RefusalText(
    "synth.cost",
    "{promise!s:.60}",
    "the budget of this table is {budget!s:.60}, which Gaussian noise of this cost does not fit",
    "budget=sf.Approx(3, '1e-6') when the table is protected",
)
SUMS_TOO_LARGE = RefusalText(
    "synth.table",
    "table_rows=2^{bits}",
    "so many rows, with the weights of units, could exceed 62 bits",
    "table_rows=2**40",
)
PAIR_UNKNOWN = RefusalText(
    "synth.pair",
    "columns {columns!s:.80}",
    "the certificate is about one column, or two different ones, among {names:.200}",
    "certificate().of({first!r:.60})",
)
DAMAGED_TABLE = RefusalText(
    "synth.stored",
    "a stored synthetic table",
    "the record is damaged, or of another plan",
    "fresh=True",
)
