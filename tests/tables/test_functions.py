"""Every function of the table, on special values of every type and every pair of types: never an
error, and no row's value depends on another row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import ibis
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest
import sqlglot
from sqlglot import expressions

from sfumato.errors import Refused
from sfumato.tables.expr.expressions import Expr, FunctionCall, call, col, literal
from sfumato.tables.expr.functions import FUNCTIONS
from sfumato.tables.expr.scalar_function import Argument
from sfumato.tables.expr.types import TIMESTAMP, Type

from .asking import answers, calls, constants
from .oracle import LAZY, STRICT, evaluate
from .special_values import VALUES, array, engine, python, schema, table

PAIRS = [(a, b) for a in VALUES for b in VALUES if next(calls([a, b]), None) is not None]
COARSE = ("decimal(38,20)", "decimal(38,38)")
"""DuckDB turns decimals of so many digits into doubles that are not the nearest: their exact
functions are compared, the others only run.
"""
ENGINES_OWN = re.compile(
    r"[+]?[\d]*[xX_][\da-fA-F_]*|t|f|yes|no|0|1|epoch|1e-400|[+-]?9{40}|\{.*\}|.*[:].*[+-].*"
    r"|\d{4}-\d\d-\d\d[ T].*|\s.*|.*\s"
)
"""Texts that engines read each in their own way."""


def held(column_type: Type, value: Any) -> Any:
    return UUID(value) if column_type.kind == "uuid" and value is not None else value


def rows_of(names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The product of the special values."""
    return list(product(*(VALUES[name] for name in names)))


def spread(count: int, most: int, width: int) -> range:
    """So many places among `count`, which meet all values of both columns."""
    step = max(1, count // most)
    while math.gcd(step, width) > 1:
        step += 1
    return range(0, count, step)


def compute_columns(
    connection: Any, names: Sequence[str], rows: list[tuple[Any, ...]], expressions: Sequence[Expr]
) -> Any:
    row_table = table(
        connection,
        "given_rows",
        {f"c{i}": (name, [row[i] for row in rows]) for i, name in enumerate(names)},
    )
    return answers(connection, row_table, expressions, schema(*names))


def check_column(column: Any, resolved: Argument) -> None:
    """Of the declared type, without NaN, within the years and within the span."""
    expected = TIMESTAMP if resolved.type.zone else resolved.type.bare
    assert (
        resolved.type.kind == "uuid"
        or Type.from_ibis(ibis.expr.datatypes.DataType.from_pyarrow(column.type), "column")
        == expected
    ), resolved
    if resolved.type.kind == "float":
        assert not pc.any(pc.is_nan(column)).as_py(), resolved
    elif resolved.span is not None or resolved.type.kind in ("date", "timestamp"):
        ends = [
            end for end in pc.min_max(column).as_py().values() if end is not None
        ]  # as_py refuses dates that Python cannot hold
        assert resolved.span is None or all(
            resolved.span[0] <= Fraction(end) <= resolved.span[1] for end in ends
        ), resolved


def close(got: Any, expected: Any) -> bool:
    if got is None or expected is None or isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if isinstance(got, float) or isinstance(expected, float):
        return float(got) == float(expected) or math.isclose(
            got, expected, rel_tol=1e-14, abs_tol=5e-324
        )
    if isinstance(got, int | Decimal):
        return Fraction(got) == Fraction(expected)
    return type(got) is type(expected) and got == expected


def comparable(
    expression: FunctionCall, resolved: Argument, names: Sequence[str], row: tuple[Any, ...]
) -> bool:
    """What Python and the engine compute alike: not doubles of very long decimals, odd letters, or
    texts that each engine reads in its own way.
    """
    name = expression.function.name
    if any(kind in COARSE for kind in names) and (
        resolved.type.kind == "float" or (name == "cast" and resolved.type.kind == "string")
    ):
        return False
    if any(kind in COARSE for kind in names) and name in (
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "between",
        "identical",
    ):
        return len(set(names)) == 1  # beside others they are compared as doubles
    if name in ("lower", "upper", "ilike"):
        return "ß" not in str(row[0])
    if name == "cast" and names[0] == "string" and resolved.type.kind != "string":
        return row[0] is None or not ENGINES_OWN.fullmatch(row[0])
    return not (name == "cast" and names[0].startswith("float") and resolved.type.kind == "decimal")


def compare(connection: Any, names: Sequence[str], most: int) -> int:
    """All rows are computed, and `most` of them compared with Python; how many comparisons there
    were.
    """
    rows, types, expressions = rows_of(names), schema(*names), list(calls(names))
    results = compute_columns(connection, names, rows, expressions)
    places = spread(len(rows), most, len(VALUES[names[-1]]))
    compared = 0
    for number, expression in enumerate(expressions):
        assert isinstance(expression, FunctionCall)
        resolved = expression._resolve(types, {})
        column = results.column(number)
        check_column(column, resolved)
        for place, got in zip(places, column.take(list(places)).to_pylist(), strict=True):
            row = rows[place]
            if comparable(expression, resolved, names, row):
                arguments = {
                    f"c{i}": held(types[f"c{i}"], python(name, value))
                    for i, (name, value) in enumerate(zip(names, row, strict=True))
                }
                expected = evaluate(expression, arguments, types)
                alike = close(held(resolved.type, got), expected)
                assert alike, (
                    f"{expression.text:.200} of {row!s:.200}: {got!r:.80}, not {expected!r:.80}"
                )
                compared += 1
    return compared


@pytest.fixture(scope="module")
def connection() -> Any:
    return engine()


def test_there_are_enough_values() -> None:
    for name, values in VALUES.items():
        assert len(values) >= (3 if name == "bool" else 40), name
        assert len(values) == len({repr(value) for value in values}), name
        assert None in values


@pytest.mark.parametrize("name", VALUES)
def test_one_column(name: str, connection: Any) -> None:
    assert compare(connection, [name], 10**9) > 50


@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_two_columns(names: tuple[str, str], connection: Any) -> None:
    compare(connection, names, 40)


@pytest.mark.slow
@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_two_columns_in_full(names: tuple[str, str], connection: Any) -> None:
    compare(connection, names, 10**9)


@pytest.mark.parametrize("name", VALUES)
def test_a_row_alone_has_the_value_it_has_among_others(name: str, connection: Any) -> None:
    """Each row by itself, and all of them in another order, on another number of threads."""
    expressions = list(calls([name]))
    rows = rows_of([name])
    together = compute_columns(connection, [name], rows, expressions).to_pylist()
    backwards = compute_columns(engine(threads=1), [name], rows[::-1], expressions).to_pylist()
    assert repr(backwards[::-1]) == repr(together)
    row_table = table(connection, "given_rows", {"c0": (name, [])})
    sql = ibis.to_sql(
        row_table.select(
            **{f"r{i}": e.build(row_table, schema(name)) for i, e in enumerate(expressions)}
        ),
        dialect="duckdb",
    )
    connection.con.execute(f"PREPARE alone AS {sql}")
    for row, expected in list(zip(rows, together, strict=True))[:: max(1, len(rows) // 8)]:
        table(connection, "one_row", {"c0": (name, [row[0]])})
        connection.con.execute("DELETE FROM given_rows; INSERT INTO given_rows FROM one_row")
        alone = connection.con.execute("EXECUTE alone").to_arrow_table().to_pylist()
        assert repr(
            [
                {
                    key: str(value) if isinstance(value, UUID) else value
                    for key, value in alone[0].items()
                }
            ]
        ) == repr([expected])


@pytest.mark.parametrize("name", VALUES)
def test_constants_are_as_good_as_columns(name: str, connection: Any) -> None:
    """The engine computes constants while it plans, by other code."""
    written = constants(name)
    chosen = written[:: max(1, len(written) // 3)]
    by_function = {
        e.function.name: e
        for e in calls([name])
        if isinstance(e, FunctionCall) and e.function.name != "is_in"
    }
    columns = compute_columns(
        connection,
        [name],
        [(value.hex if isinstance(value, UUID) else value,) for value in chosen],
        list(by_function.values()),
    )
    fixed = [
        call(
            e.function.name,
            *(literal(value) if argument.columns else argument for argument in e.arguments),
        )
        for e in by_function.values()
        for value in chosen
    ]
    constant_values = [
        column.to_pylist()[0]
        for column in compute_columns(connection, [name], [(None,)], fixed).columns
    ]
    column_values = [value for column in columns.columns for value in column.to_pylist()]
    assert [
        expression.text
        for expression, got, want in zip(fixed, constant_values, column_values, strict=True)
        if not close(got, want)
    ] == []


@pytest.mark.parametrize("name", VALUES)
def test_a_column_beside_a_constant(name: str, connection: Any) -> None:
    """Constants make types narrow: what a column is turned into still has to hold it. Sums of sums,
    too.
    """
    column_type = Type.of(name)
    numbers = [0, -1, -129, 2**31, 10**20, Decimal("-99.5"), 1e300]
    operands = (
        numbers if column_type.numeric else constants(name)[:: max(1, len(constants(name)) // 4)]
    )
    binary = [
        function.name
        for function in FUNCTIONS.values()
        if len(function.takes) == 2
        and not function.pairs
        and all(slot.test is None for slot in function.takes)
    ]
    combined = [
        call(function, *pair)
        for value in operands
        for function in binary
        for pair in ((col("c0"), literal(value)), (literal(value), col("c0")))
    ]
    undone = (
        [call(outer, col("c0") + value, value) for value in numbers for outer in ("-", "*")]
        if column_type.numeric
        else []
    )
    accepted = [expression for expression in [*combined, *undone] if fits(expression, schema(name))]
    rows = rows_of([name])
    places = spread(len(rows), 10, 1)
    results = compute_columns(connection, [name], rows, accepted)
    for number, expression in enumerate(accepted):
        result = expression._resolve(schema(name), {})
        check_column(results.column(number), result)
        if result.type.kind not in ("integer", "decimal", "bool") or name in COARSE:
            continue
        for place, got in zip(
            places, results.column(number).take(list(places)).to_pylist(), strict=True
        ):
            expected = evaluate(
                expression, {"c0": held(column_type, python(name, rows[place][0]))}, schema(name)
            )
            assert close(got, expected), (
                f"{expression.text:.200} of {rows[place]!s:.200}: {got!r:.80}, not {expected!r:.80}"
            )


def fits(expression: Expr, types: dict[str, Type]) -> bool:
    with suppress(Refused):
        expression.type(types)
        return True
    return False


@pytest.mark.parametrize("name", ["float64", "float32", "int64", "date", "timestamp", "string"])
def test_what_a_file_states_about_its_values_changes_nothing(
    name: str, connection: Any, tmp_path: Path
) -> None:
    """Parquet states the least and the largest value without NaN, and DuckDB decides comparisons by
    what is stated.
    """
    groups: list[list[Any]] = (
        [
            [math.nan, 1.0, 2.0],
            [-5.0, math.nan, -3.0],
            [math.nan],
            [None, math.nan, 0.5],
            [math.inf, math.nan],
        ]
        if name.startswith("float")
        else [VALUES[name]]
    )
    expressions = list(calls([name]))
    for place, values in enumerate(groups):
        expected = compute_columns(connection, [name], [(value,) for value in values], expressions)
        pyarrow.parquet.write_table(
            pa.table({"c0": array(name, values)}), tmp_path / f"{place}.parquet", row_group_size=50
        )
        results = answers(
            connection,
            connection.read_parquet(tmp_path / f"{place}.parquet"),
            expressions,
            schema(name),
        )
        assert sorted(map(repr, results.to_pylist())) == sorted(map(repr, expected.to_pylist()))


def test_what_the_guards_are_for() -> None:
    """The same functions without them: DuckDB does fail on such values, so the tests above would
    see a guard that is missing.
    """
    connection = duckdb.connect()
    for statement in (
        "SELECT ln(x) FROM (VALUES (0::DOUBLE)) t(x)",
        "SELECT sqrt(x) FROM (VALUES (-1::DOUBLE)) t(x)",
        "SELECT sin(x) FROM (VALUES ('inf'::DOUBLE)) t(x)",
        "SELECT acos(x) FROM (VALUES (2::DOUBLE)) t(x)",
        "SELECT x + x FROM (VALUES (9223372036854775807)) t(x)",
        "SELECT -x FROM (VALUES (-9223372036854775808::BIGINT)) t(x)",
        "SELECT x % -1::BIGINT FROM (VALUES (-9223372036854775808::BIGINT)) t(x)",
        "SELECT x * x FROM (VALUES (99999999999999.9999::DECIMAL(18, 4))) t(x)",
        "SELECT x = y FROM (VALUES (9223372036854775807, 0.1::DECIMAL(38, 37))) t(x, y)",
        "SELECT CAST(floor(x) AS BIGINT) FROM (VALUES (1e300)) t(x)",
        (
            "SELECT TRY_CAST(x AS TIMESTAMPTZ)::TIMESTAMP FROM (VALUES ('294247-01-10 "
            "04:00:54.775806+00')) t(x)"
        ),
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement).fetchall()


def test_the_oracle_knows_every_function() -> None:
    assert set(STRICT) | set(LAZY) == set(FUNCTIONS)


def test_every_function_is_asked_of_some_column() -> None:
    function_names = {
        e.function.name
        for names in [*([name] for name in VALUES), *PAIRS]
        for e in calls(names)
        if isinstance(e, FunctionCall)
    }
    assert function_names == set(FUNCTIONS)


def mentions(value: Any, row_table: Any) -> int:
    """How often the engine's plan mentions a column: NULLIF and BETWEEN each write their argument
    out twice.
    """
    tree = sqlglot.parse_one(
        ibis.to_sql(row_table.select(r=value), dialect="duckdb"), dialect="duckdb"
    )

    def count(node: Any) -> int:
        if isinstance(node, expressions.Column):
            return 1
        twice = isinstance(node, expressions.Nullif | expressions.Between)
        parts = [
            (key, part)
            for key, parts in node.args.items()
            for part in (parts if isinstance(parts, list) else [parts])
            if isinstance(part, expressions.Expression)
        ]
        return sum((2 if twice and key == "this" else 1) * count(part) for key, part in parts)

    return count(tree.expressions[0])


def test_no_argument_is_mentioned_more_often_than_is_said() -> None:
    for names in (
        ["int64"],
        ["float64"],
        ["decimal(18,4)"],
        ["string"],
        ["bool"],
        ["uuid"],
        ["int64", "int64"],
        ["float64", "float64"],
        ["decimal(4,2)", "int64"],
    ):
        row_table = ibis.table(
            {f"c{i}": Type.of(name).to_ibis() for i, name in enumerate(names)}, name="given_rows"
        )
        for expression in calls(names):
            assert isinstance(expression, FunctionCall)
            assert (
                mentions(expression._build(row_table, schema(*names), {}).value, row_table)
                < expression.weight
            ), expression.text


def test_the_page_lists_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "expressions.md").read_text(
        encoding="utf-8"
    )
    listed = dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", page, re.MULTILINE))
    for function in FUNCTIONS.values():
        shown = function.name.replace("|", "\\|")
        assert listed.get(shown, "").endswith(function.rule.replace("|", "\\|")), function.name


def test_a_value_far_away_changes_nothing_nearby(connection: Any) -> None:
    """Two columns: the good row is the same beside a row of extremes, whatever the function."""
    for names in (
        ("int64", "int64"),
        ("float64", "int8"),
        ("string", "string"),
        ("timestamp", "date"),
    ):
        expressions = list(calls(names))
        good = tuple(
            {
                "int64": 6,
                "int8": 4,
                "float64": 2.5,
                "string": "abc",
                "timestamp": datetime(2020, 2, 29, 1),
                "date": date(2019, 1, 1),
            }[name]
            for name in names
        )
        alone = compute_columns(connection, names, [good], expressions).to_pylist()[0]
        rows = rows_of(names)
        for bad in (rows[place] for place in spread(len(rows), 12, len(VALUES[names[1]]))):
            assert (
                compute_columns(connection, names, [bad, good], expressions).to_pylist()[1] == alone
            )
