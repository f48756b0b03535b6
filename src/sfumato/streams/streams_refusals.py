"""The refusals of `streams`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# What a stream is about

NOT_A_TABLE = RefusalText(
    "stream.table",
    "stream({type}, …)",
    "a stream is about one table that `protect` declared, or one of several",
    "sf.stream(visits, 'SELECT COUNT(*) AS n FROM visits', time='day', start='2026-01-01', "
    "epsilon=1)",
)
NOT_A_TIME = RefusalText(
    "stream.time",
    "time={column!r:.60}",
    "the time of a row is a column of dates or timestamps; {column:.60} has {words}",
    "time= the column that says when a row happened, or when it arrived",
)
UNKNOWN_PERIOD = RefusalText(
    "stream.every",
    "every={every!r:.40}",
    "a period is one of {units}",
    "every='day'",
)
HOURS_OF_DATES = RefusalText(
    "stream.every",
    "every='hour'",
    "the column of times has dates, which have no hours",
    "every='day'",
)
NOT_A_MOMENT = RefusalText(
    "stream.date",
    "{argument}={value!r:.60}",
    "{argument} is a date or a moment",
    "{argument}='2026-01-01'",
)
WAIT_OUT_OF_RANGE = RefusalText(
    "stream.wait",
    "wait={wait!r:.40}",
    "wait is a whole number of periods, 0 or more",
    "wait=2",
)
ROWS_NOT_ROW_WISE = RefusalText(
    "stream.rows",
    "{text:.80}",
    "a row of a stream has to stay in its period: joins and sub-queries may move it, later rows "
    "may change it",
    "conditions and new columns of the same row only",
)
ANSWER_SHAPED = RefusalText(
    "stream.select",
    "{text:.80}",
    "a stream publishes plain aggregates by one grouping; HAVING, ORDER BY, LIMIT, CUBE, windows "
    "and computed columns follow from its tables",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
)
AGGREGATE_WITHOUT_SUM = RefusalText(
    "stream.aggregate",
    "{aggregate:.60}",
    "a stream adds up periods: it knows {kinds}",
    "COUNT(*), SUM(spend), AVG(spend) or COUNT(DISTINCT user_id)",
)
PRIVATE_KEYS = RefusalText(
    "stream.keys",
    "GROUP BY {column}",
    "the keys of {column} are not public, and a stream shows the same groups in every period",
    "keys={{{column!r}: ['a', 'b']}} in protect(), or a condition {column} IN ('a', 'b')",
)
# What it protects

PURE_PROMISE = RefusalText(
    "stream.promise",
    "{promise}",
    "the noise of a stream is Gaussian, so its promise has a δ, or is ρ or μ",
    "epsilon=1, delta=1e-6",
)
PROTECTION_MISSING = RefusalText(
    "stream.protects",
    "stream({table}, …)",
    "{table} protects {unit}, who comes again in later periods: say in how many first periods a "
    "{unit} counts, or in how many consecutive ones it is protected",
    "first_periods=30, append_only=True, or any_periods=30",
)
TWO_PROTECTIONS = RefusalText(
    "stream.protects",
    "first_periods={first}, any_periods={any}",
    "one of the two says what is protected",
    "first_periods={first}, append_only=True",
)
PROTECTION_OF_ROWS = RefusalText(
    "stream.protects",
    "first_periods=…, any_periods=…, unit_rows=…, append_only=…",
    "{table} has no unit: each row is protected, and has one period",
    "without them, or unit='user_id' in protect()",
)
ROWS_MAY_GO = RefusalText(
    "stream.append-only",
    "first_periods={first}",
    "if rows are removed or change, the first periods of a {unit} change, and it may count in more "
    "than {first}",
    "first_periods={first}, append_only=True if rows are only ever added; else any_periods={first}",
)
UNIT_ROWS_MISSING = RefusalText(
    "stream.unit-rows",
    "unit_rows=…",
    "how many rows of a {unit} count in one period is not declared",
    "unit_rows=5",
)
UNIT_ROWS_OUT_OF_RANGE = RefusalText(
    "stream.unit-rows",
    "unit_rows={rows!r:.40}",
    "unit_rows is a whole number from 1 to {most:,}",
    "unit_rows=5",
)
UNITS_COUNTED_AGAIN = RefusalText(
    "stream.distinct",
    "{aggregate:.60}",
    "a {unit} that comes in several periods would be counted in each: the total of different "
    "{unit}s counts each in its first period",
    "first_periods=1, append_only=True, or window=1 for the different {unit}s of each period",
)
BUDGET_OF_TABLE = RefusalText(
    "stream.budget",
    "budget={budget}",
    "this stream is paid from the budget of {table}; only any_periods= protects something else",
    "without budget=",
)
# What it has published

NOTHING_RELEASED = RefusalText(
    "stream.empty",
    "{call}",
    "no period is published yet",
    "s.advance(until='2026-02-01'), then {call}",
)
PERIODS_NOT_RELEASED = RefusalText(
    "stream.periods",
    "{call}",
    "the stream has published {released} periods, up to {last}",
    "a range of these",
)
UNKNOWN_STREAM_COLUMN = RefusalText(
    "stream.column",
    "{name!r:.60}",
    "no such column; there are {columns}",
    "{first!r}",
)
FORGOTTEN = RefusalText(
    "stream.window",
    "{call}",
    "the stream serves sums of up to {window} periods; noise adds up in longer ones",
    "window({window})",
)
DAMAGED_MEASUREMENTS = RefusalText(
    "stream.stored",
    "a stored measurement",
    "the ledger holds what no stream has stored under this question",
    "ledger.verify(), and a copy of the ledger that passes it",
)
